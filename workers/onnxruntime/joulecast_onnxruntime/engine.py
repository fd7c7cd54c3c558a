"""ONNX Runtime as an engine of joulecast_measuring.serve."""
import math

import numpy
import onnxruntime
from onnx import TensorProto

from joulecast_measuring.contents import contents, input_contents, numpy_dtype
from joulecast_measuring.requests import Unsupported
from joulecast_measuring.serve import MOST_SETS, Trial
from joulecast_onnxruntime import sessions
from joulecast_onnxruntime.kernels import kernels, results_of, told
from joulecast_onnxruntime.network import LARGE_BYTES, NetworkWriter, refuse_without_form
from joulecast_onnxruntime.original import Original
from joulecast_onnxruntime.translation import WEIGHTS, write
from joulecast_onnxruntime.writer import Call, Writer, onnx_dtype

# Copies of an operation in one model: the cost of starting a run is shared by them, as a network's calls share it.
MOST_COPIES = 256
# Where weights are most of a set, they rotate by copies alone.
MOST_COPIES_OF_WEIGHTS = 1024
# Elsewhere a run of all copies need not last longer: the other sets of inputs are bound to further runs.
LONGEST_RUN_S = 0.02
MOST_HOT_COPIES = 16
NO_STRIDES = "measured contiguous: ONNX Runtime has no strides"
RUNS_NOTHING = "ONNX Runtime runs nothing for it: it is a view, or computed once when a model is loaded"


class OnnxRuntime:
    name, worker, host = "onnxruntime", "joulecast-onnxruntime", "cpp"
    framework = f"onnxruntime {onnxruntime.__version__}"
    dtypes = ["f32", "f64", "f16"]
    measures_graphs = True
    most_threads = None

    def operation(self, operation, request):
        return OperationTrial(operation, request).trial()

    def network(self, graph, request):
        return network_trial(graph, request)


class OperationTrial:
    """One operation as ONNX Runtime runs it in the middle of a network: optimised alone, then copied so often that its tensors do not stay
    in the cache."""

    def __init__(self, operation, request):
        self.request = request
        self.message = NO_STRIDES if any(type_.strides for _, type_ in operation.tensors()) else ""
        writer, weights = Writer(), WEIGHTS.get(operation.name, ())
        self.filling, values = {}, []
        for number, ((argument, type_), content) in enumerate(zip(operation.tensors(), contents(operation))):
            if argument in weights:
                values.append(writer.weight(f"weight.{number}", request.maker.make(type_, content), type_.dtype))
            else:
                self.filling[f"input.{number}"] = (type_, content)
                values.append(writer.input(f"input.{number}", type_))
        made = [value for value in write(Call(writer, operation, values)) if value.name in writer.bytes]
        if not made or not self.filling:
            raise Unsupported(RUNS_NOTHING)
        _, self.model = sessions.optimised(writer.model(made), sessions.options(request, sessions.ALL))
        if not self.model.graph.node:
            raise Unsupported(RUNS_NOTHING)
        self.settle_layout()

    def settle_layout(self):
        """Shapes of all values, by one checked run; then the layout as in the middle of a network."""
        first = {name: self.request.maker.make(*filling) for name, filling in self.filling.items()}
        values, self.rough_s = sessions.values_of(self.model, first, sessions.options(self.request, sessions.NONE))
        results = [values[item.name] for item in self.model.graph.output]
        if any(array.dtype.kind == "f" and not numpy.isfinite(array).all() for array in results):
            self.message = "; ".join(filter(None, [self.message, "the output holds infinities or NaN"]))
        self.model = sessions.without_layout_changes(self.model, values)
        known = {**first, **values}
        self.inputs = {item.name: known[item.name] for item in self.model.graph.input}
        self.outputs = {item.name: known[item.name] for item in self.model.graph.output}
        self.sizes = {name: array.nbytes for name, array in values.items()}
        self.weight_bytes = sum(sessions.byte_count(item) for item in self.model.graph.initializer)
        self.input_bytes = sum(array.nbytes for array in self.inputs.values())

    def calls(self, copies, bindings):
        made = sessions.session(sessions.copies(self.model, copies), sessions.options(self.request, sessions.NONE))
        # Results go where the last ones went, as an allocator hands out memory.
        results = {f"{name}@{copy}": array for name, array in self.outputs.items() for copy in range(copies)}
        bound = []
        for _ in range(bindings):
            inputs = {f"{name}@{copy}": self.fresh(name, array) for name, array in self.inputs.items() for copy in range(copies)}
            bound.append(sessions.binding(made, inputs, results))
        return sessions.Calls(made, copies, bound)

    def fresh(self, name, array):
        """Other contents of an input. Floating numbers are those of the first set from another place on: blocked layouts hold."""
        if name in self.filling:
            return self.request.maker.make(*self.filling[name])
        return numpy.roll(array, int(self.request.maker.generator.integers(array.size)))

    def trial(self):
        request, set_bytes = self.request, self.weight_bytes + self.input_bytes
        rotation = request.rotation(set_bytes)
        if self.weight_bytes > self.input_bytes:
            copies = min(rotation, MOST_COPIES_OF_WEIGHTS)
        else:
            copies = min(rotation, MOST_COPIES, math.ceil(LONGEST_RUN_S / self.rough_s))
        # Each copy's weights are one set for all bindings, so that it takes more of these to go over as many bytes.
        left = (rotation * set_bytes - copies * self.weight_bytes) / (copies * max(1, self.input_bytes))
        bindings = min(max(1, math.ceil(left)), MOST_SETS // copies)
        hot_copies = int(min(max(request.cache_bytes / 4 // max(1, set_bytes), 1), MOST_HOT_COPIES))
        return Trial(whole=None, make_whole=lambda: self.calls(copies, bindings), make_exact=lambda: self.calls(1, rotation),
                     make_hot=(lambda: self.calls(hot_copies, 1)) if set_bytes < request.cache_bytes else None,
                     rotation=copies * bindings, working_set_bytes=float(copies * (self.weight_bytes + bindings * self.input_bytes)),
                     peak_memory_bytes=lambda: sessions.peak_bytes(self.model.graph, self.sizes, self.outputs), message=self.message)


def written(network, outputs, fill):
    """(the model of a network, its large weights by name); `fill` makes the array of an input's number."""
    writer, arrays = network.writer, {}
    read = {name for node in writer.nodes for name in node.input}
    for name, number in network.weights.items():
        if name not in read:  # as the weights of heads that only train
            continue
        type_, array = network.graph.inputs[number].type, fill(number)
        if array.nbytes < LARGE_BYTES:
            writer.weight(name, array, type_.dtype)
        else:
            arrays[name] = array
            writer.initializers.append(named_weight(name, type_))
    return writer.model(outputs), arrays


def network_trial(graph, request):
    refuse_without_form(graph)
    network, filling = NetworkWriter(graph), input_contents(graph)
    outputs, writer = network.write(), network.writer

    def fill(number):
        return request.maker.make(graph.inputs[number].type, filling[number])
    model, arrays = written(network, outputs, fill)
    made, optimised = sessions.optimised(model, sessions.options(request, sessions.ALL), arrays)
    wanted = {item.name for item in made.get_inputs()}
    inputs = {f"input.{number}": fill(number) for number in range(len(graph.inputs)) if f"input.{number}" in wanted}
    results = {value.name: numpy.empty(value.sizes, numpy_dtype(value.dtype)) for value in outputs}
    found = kernels(Original.of(writer), optimised.graph)
    sizes = value_bytes(optimised.graph, writer)
    return Trial(whole=sessions.Calls(made, 1, [sessions.binding(made, inputs, results)]),
                 resident_bytes=float(sum(item.type.bytes for item in graph.inputs)),
                 peak_memory_bytes=lambda: sessions.peak_bytes(optimised.graph, sizes, results),
                 more=told(found))


def value_bytes(optimised, writer):
    """Of all values of the optimised graph. What ONNX Runtime made itself is as large as the result that it becomes, or what it is made of."""
    found, original = dict(writer.bytes), Original.of(writer)
    for node in optimised.node:
        size = max([writer.bytes[name] for name in results_of(node, original)] or [found.get(name, 0) for name in node.input], default=0)
        for name in node.output:
            found.setdefault(name, size)
    return found


def named_weight(name, type_):
    """A weight that is handed over as an array: the text of a model holds 2 GB at most."""
    tensor = TensorProto(name=name, data_type=onnx_dtype(type_.dtype), dims=type_.sizes, data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="given")
    tensor.external_data.add(key="offset", value="0")
    tensor.external_data.add(key="length", value=str(type_.bytes))
    return tensor
