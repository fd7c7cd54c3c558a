#!/usr/bin/env python3
"""A worker for an engine of your own, here numpy: copy it, and put your engine where numpy is called.

    joulecast worker-check "python3 examples/worker/numpy_worker.py"
    joulecast profile resnet18.graph.json --db mine.db --worker "python3 examples/worker/numpy_worker.py"

The protocol's loop, the timing and the contents of tensors are the package joulecast_measuring's, which lies in workers/measuring of
joulecast's source and in share/joulecast/workers of an installation. docs/worker-protocol.md says what a worker promises.
"""
import os
import pathlib
import sys

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"  # read when numpy is imported
sys.path.append(os.environ.get("JOULECAST_WORKERS") or str(pathlib.Path(__file__).resolve().parents[2] / "workers" / "measuring"))
from joulecast_measuring.contents import contents, input_contents
from joulecast_measuring.requests import Unsupported
from joulecast_measuring.serve import Trial, main
from joulecast_measuring.signature import TensorType

# What the engine runs: by the operation's name without overload, a function of the arguments by their names in the signature.
RUNS = {
    "relu": lambda numpy, a: numpy.maximum(a["self"], 0),
    "add": lambda numpy, a: a["self"] + a.get("alpha", 1) * a["other"],
    "mul": lambda numpy, a: a["self"] * a["other"],
    "matmul": lambda numpy, a: a["self"] @ a["other"],
    "linear": lambda numpy, a: a["input"] @ a["weight"].T + a.get("bias", numpy.float32(0)),
    "softmax": lambda numpy, a: (lambda e: e / e.sum(a["dim"], keepdims=True))(numpy.exp(a["self"] - a["self"].max(a["dim"], keepdims=True))),
}


class Operations:
    """Calls one after the other, each over the next set of tensors; `run` and `multiple` are what the recipe asks for."""
    multiple = 1

    def __init__(self, call, sets):
        self.call, self.sets, self.next = call, sets, 0

    def run(self, calls):
        for _ in range(calls):
            self.call(self.sets[self.next])
            self.next = (self.next + 1) % len(self.sets)


class Numpy:
    name, worker, host = "numpy", "joulecast-numpy", "python"
    dtypes = ["f32", "f64"]
    measures_graphs = True
    most_threads = 1

    def __init__(self):
        import numpy  # where the engine is not installed, main() says how to get it
        self.numpy, self.framework = numpy, f"numpy {numpy.__version__}"

    def call_of(self, operation):
        """A function of the list of the operation's tensors. Raises Unsupported for what the engine cannot run."""
        run = RUNS.get(operation.name)
        if run is None or not operation.target.startswith("aten::") or operation.is_in_place:
            raise Unsupported(f"joulecast-numpy does not run {operation.target}")
        places = iter(range(len(operation.tensors())))
        template = {name: next(places) if isinstance(value, TensorType) else value for name, value in operation.arguments.items()}
        tensors = {name for name, value in operation.arguments.items() if isinstance(value, TensorType)}
        return lambda given: run(self.numpy, {name: given[value] if name in tensors else value for name, value in template.items()})

    def operation(self, operation, request):
        call, filling = self.call_of(operation), list(zip(operation.tensors(), contents(operation)))
        size = sum(type_.bytes for (_, type_), _ in filling)
        rotation = request.rotation(size)
        sets = [[request.maker.make(type_, content) for (_, type_), content in filling] for _ in range(rotation)]
        result = call(sets[0])  # raises for shapes that do not fit: the outcome is `unsupported`
        return Trial(whole=Operations(call, sets), make_hot=(lambda: Operations(call, sets[:1])) if size < request.cache_bytes else None,
                     rotation=rotation, working_set_bytes=float(rotation * size), peak_memory_bytes=lambda: result.nbytes)

    def network(self, graph, request):
        calls = [(self.call_of(node.operation), node.inputs) for node in graph.nodes]
        inputs = [request.maker.make(item.type, content) for item, content in zip(graph.inputs, input_contents(graph))]

        def forward(_):
            values = {(-1, number): array for number, array in enumerate(inputs)}
            for number, (call, references) in enumerate(calls):
                values[number, 0] = call([values[reference] for reference in references])
        forward(None)
        made = sum(type_.bytes for node in graph.nodes for type_ in node.outputs)  # all results stay until the end
        return Trial(whole=Operations(forward, [None]), resident_bytes=float(sum(array.nbytes for array in inputs)),
                     peak_memory_bytes=lambda: made)


if __name__ == "__main__":
    main("joulecast-numpy", Numpy, "Install it with: pip install numpy")
