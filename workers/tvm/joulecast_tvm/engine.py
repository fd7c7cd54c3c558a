"""TVM as an engine of joulecast_measuring.serve."""
import tvm
from tvm import relax

from joulecast_measuring.contents import input_contents
from joulecast_measuring.serve import Trial, told_kernels
from joulecast_onnxruntime.copies import CopiedOperation
from joulecast_onnxruntime.network import NetworkWriter, refuse_without_form
from joulecast_tvm.compiling import Compiled, Tuner, grouped
from joulecast_tvm.importing import module_of
from joulecast_tvm.kernels import kernels
from joulecast_tvm.places import Here

# Copies of an operation in one function: a call into TVM's machine takes some microseconds, which a network pays once.
MOST_COPIES = 64


class Lowered:
    """A written model with its kernels; `weights` are the arrays of those inputs that are constants, by name."""

    def __init__(self, writer, outputs, weights, place):
        model = writer.model(outputs)
        names = [item.name for item in model.graph.input]
        module = module_of(model, {node.name: call for node, call in zip(writer.nodes, writer.call_of_node)})
        parameters = dict(zip(names, module["main"].params, strict=True))
        constants = {parameters[name]: tvm.runtime.tensor(array) for name, array in weights.items()}
        self.inputs = [name for name in names if name not in weights]
        self.place, self.target = place, place.target()
        before, self.module = grouped(relax.transform.BindParams("main", constants)(module), self.target)
        self.kernels = kernels(before, self.module)

    def compiled(self, tuner=None):
        return Compiled(self.module, self.target, self.place, tuner)


class Loaded:
    """A lowered model, compiled."""

    def __init__(self, writer, outputs, weights, place, tuner):
        lowered = Lowered(writer, outputs, weights, place)
        self.place = place
        self.kernels, self.inputs = lowered.kernels, lowered.inputs
        self.made = lowered.compiled(tuner) if self.kernels else None
        self.message = "; ".join(filter(None, [place.message, self.made.message if self.made else ""]))

    def peak_memory_bytes(self):
        return self.made.bytes

    def tensors(self, inputs):
        return [self.place.tensor(inputs[name]) for name in self.inputs]

    def results(self, inputs):
        return [array_of(result) for result in flat(self.place.results(self.made.run, self.tensors(inputs)))]

    def calls(self, sets, multiple):
        return self.place.calls(self.made.run, multiple, [self.tensors(inputs) for inputs in sets])


def flat(results):
    return list(results) if not hasattr(results, "numpy") else [results]


def array_of(result):
    return result.numpy()


class Tvm:
    worker, host = "joulecast-tvm", "cpp"
    dtypes = ["f32", "f64", "f16"]
    measures_graphs = True
    most_threads = 1

    def __init__(self, trials=0, place=None):
        self.place = place or Here()
        self.board = self.place.board
        self.tuner = Tuner(trials) if trials else None
        # Kernels of other schedules are those of another engine.
        self.name = f"tvm-tuned-{trials}" if trials else "tvm"
        self.framework = f"{self.name} {tvm.__version__}"

    def operation(self, operation, request):
        load = lambda writer, outputs, weights: Loaded(writer, outputs, weights, self.place, self.tuner)
        return CopiedOperation("TVM", operation, request, load, MOST_COPIES).trial()

    def network(self, graph, request):
        refuse_without_form(graph)
        network, filling = NetworkWriter(graph), input_contents(graph)
        outputs, writer = network.write(), network.writer
        fill = lambda number: request.maker.make(graph.inputs[number].type, filling[number])
        numbers = {item.name: int(item.name.removeprefix("input.")) for item in writer.inputs}
        for name, number in network.weights.items():
            writer.input(name, graph.inputs[number].type)
        weights = {name: fill(number) for name, number in network.weights.items()}
        made = Loaded(writer, outputs, weights, self.place, self.tuner)
        inputs = {name: fill(number) for name, number in numbers.items()}
        return Trial(whole=made.calls([inputs], 1), resident_bytes=float(sum(item.type.bytes for item in graph.inputs)),
                     peak_memory_bytes=made.peak_memory_bytes, message=made.message, more=told_kernels(made.kernels))
