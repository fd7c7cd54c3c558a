"""TVM as an engine of joulecast_measuring.serve."""
import math
import time

import numpy
import tvm
from tvm import relax

from joulecast_measuring.contents import contents, input_contents
from joulecast_measuring.requests import Unsupported
from joulecast_measuring.serve import MOST_SETS, Trial
from joulecast_onnxruntime.network import NetworkWriter, refuse_without_form
from joulecast_onnxruntime.translation import WEIGHTS, write
from joulecast_onnxruntime.writer import Call, Writer
from joulecast_tvm.compiling import Compiled, Tuner, grouped, target
from joulecast_tvm.importing import module_of
from joulecast_tvm.kernels import fused_share, kernels

# Copies of an operation in one function: a call into TVM's machine takes some microseconds, which a network pays once.
MOST_COPIES = 64
# Elsewhere a run of all copies need not last longer: the other sets of inputs go to further runs.
LONGEST_RUN_S = 0.02
MOST_HOT_COPIES = 16
NO_STRIDES = "measured contiguous: the ONNX that TVM reads has no strides"
RUNS_NOTHING = "TVM runs nothing for it: it is a view, or computed once when a model is compiled"


class Calls:
    """A compiled function over sets of tensors in turn; one run of it makes `multiple` calls."""

    def __init__(self, run, multiple, sets):
        self.call, self.multiple, self.sets, self.next = run, multiple, sets, 0

    def run(self, calls):
        for _ in range(calls // self.multiple):
            self.call(*self.sets[self.next])
            self.next = (self.next + 1) % len(self.sets)


class Lowered:
    """A written model with its kernels; `weights` are the arrays of those inputs that are constants, by name."""

    def __init__(self, writer, outputs, weights):
        model = writer.model(outputs)
        names = [item.name for item in model.graph.input]
        module = module_of(model, {node.name: call for node, call in zip(writer.nodes, writer.call_of_node)})
        parameters = dict(zip(names, module["main"].params, strict=True))
        constants = {parameters[name]: tvm.runtime.tensor(array) for name, array in weights.items()}
        self.inputs = [name for name in names if name not in weights]
        self.target = target()
        before, self.module = grouped(relax.transform.BindParams("main", constants)(module), self.target)
        self.kernels = kernels(before, self.module)

    def compiled(self, tuner=None):
        return Compiled(self.module, self.target, tuner)


class OperationTrial:
    """One operation: weights are constants, as in a network; the rest are inputs."""

    def __init__(self, operation, request, tuner=None):
        self.operation, self.request, self.tuner = operation, request, tuner
        self.message = NO_STRIDES if any(type_.strides for _, type_ in operation.tensors()) else ""
        weights = WEIGHTS.get(operation.name, ())
        self.items = [(argument in weights, type_, content)
                      for (argument, type_), content in zip(operation.tensors(), contents(operation))]
        self.weight_bytes = sum(type_.bytes for is_weight, type_, _ in self.items if is_weight)
        self.input_bytes = sum(type_.bytes for is_weight, type_, _ in self.items if not is_weight)

    def function(self, copies):
        """(the compiled function of so many copies, which inputs it has: their types and contents, its kernels)."""
        writer, outputs, weights, inputs = Writer(), [], {}, []
        for copy in range(copies):
            values = []
            for number, (is_weight, type_, content) in enumerate(self.items):
                name = f"input{copy}_{number}"
                values.append(writer.input(name, type_))
                if is_weight:
                    weights[name] = self.request.maker.make(type_, content)
                else:
                    inputs.append((type_, content))
            writer.current = copy
            outputs += [value for value in write(Call(writer, self.operation, values)) if value.name in writer.bytes]
        if not outputs or not inputs:
            raise Unsupported(RUNS_NOTHING)
        lowered = Lowered(writer, outputs, weights)
        if not lowered.kernels:
            raise Unsupported(RUNS_NOTHING)
        return lowered.compiled(self.tuner), inputs

    def sets(self, inputs, count):
        return [[tvm.runtime.tensor(self.request.maker.make(*item)) for item in inputs] for _ in range(count)]

    def calls(self, copies, sets):
        made, inputs = self.function(copies)
        return Calls(made.run, copies, self.sets(inputs, sets))

    def trial(self):
        made, inputs = self.function(1)
        self.message = "; ".join(filter(None, [self.message, made.message]))
        one = self.sets(inputs, 1)
        results = made.run(*one[0])
        if not all(numpy.isfinite(array).all() for array in map(array_of, flat(results)) if array.dtype.kind == "f"):
            self.message = "; ".join(filter(None, [self.message, "the output holds infinities or NaN"]))
        start = time.perf_counter()
        made.run(*one[0])
        rough_s = time.perf_counter() - start
        request, set_bytes = self.request, self.weight_bytes + self.input_bytes
        rotation = request.rotation(set_bytes)
        copies = min(rotation, MOST_COPIES, max(1, math.ceil(LONGEST_RUN_S / rough_s)))
        left = (rotation * set_bytes - copies * self.weight_bytes) / (copies * max(1, self.input_bytes))
        sets = min(max(1, math.ceil(left)), MOST_SETS // copies)
        hot_copies = int(min(max(request.cache_bytes / 4 // max(1, set_bytes), 1), MOST_HOT_COPIES, copies))
        return Trial(whole=None, make_whole=lambda: self.calls(copies, sets),
                     make_exact=lambda: Calls(made.run, 1, self.sets(inputs, rotation)),
                     make_hot=(lambda: self.calls(hot_copies, 1)) if set_bytes < request.cache_bytes else None,
                     rotation=copies * sets, working_set_bytes=float(copies * (self.weight_bytes + sets * self.input_bytes)),
                     peak_memory_bytes=lambda: made.bytes, message=self.message)


def flat(results):
    return list(results) if not hasattr(results, "numpy") else [results]


def array_of(result):
    return result.numpy()


class Tvm:
    worker, host = "joulecast-tvm", "cpp"
    dtypes = ["f32", "f64", "f16"]
    measures_graphs = True
    most_threads = 1

    def __init__(self, trials=0):
        self.tuner = Tuner(trials) if trials else None
        # Kernels of other schedules are those of another engine.
        self.name = f"tvm-tuned-{trials}" if trials else "tvm"
        self.framework = f"{self.name} {tvm.__version__}"

    def operation(self, operation, request):
        return OperationTrial(operation, request, self.tuner).trial()

    def network(self, graph, request):
        refuse_without_form(graph)
        network, filling = NetworkWriter(graph), input_contents(graph)
        outputs, writer = network.write(), network.writer
        fill = lambda number: request.maker.make(graph.inputs[number].type, filling[number])
        numbers = {item.name: int(item.name.removeprefix("input.")) for item in writer.inputs}
        for name, number in network.weights.items():
            writer.input(name, graph.inputs[number].type)
        lowered = Lowered(writer, outputs, {name: fill(number) for name, number in network.weights.items()})
        made = lowered.compiled(self.tuner)
        inputs = [tvm.runtime.tensor(fill(numbers[name])) for name in lowered.inputs]
        return Trial(whole=Calls(made.run, 1, [inputs]), resident_bytes=float(sum(item.type.bytes for item in graph.inputs)),
                     peak_memory_bytes=lambda: made.bytes, message=made.message,
                     more={"kernels": lowered.kernels, "fused_share": fused_share(lowered.kernels)})
