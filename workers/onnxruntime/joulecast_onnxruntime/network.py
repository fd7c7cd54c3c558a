"""A graph of docs/graph-json.md as one ONNX model."""
from joulecast_measuring.requests import Unsupported
from joulecast_onnxruntime.translation import TABLE, write
from joulecast_onnxruntime.writer import Call, Value, Writer

# Weights from this size on stay outside of the model's text.
LARGE_BYTES = 4096
ALIASES = {"alias", "detach", "contiguous", "to", "dropout", "lift_fresh", "view", "reshape", "_unsafe_view", "flatten", "unflatten",
           "unsqueeze", "squeeze", "view_as"}


class NetworkWriter:
    """Writes call after call. ONNX has no tensors that are written to: a call in place makes a new value, which stands for the old one from
    there on, and is put back into what the old one was a view of."""

    def __init__(self, graph):
        self.graph = graph
        self.writer = Writer()
        self.values = {}  # of references
        self.weights = {}  # input's number by the name of its value
        self.parent = {}  # of a reference to a view: (reference, how a new value goes back into the parent's)
        self.stale = set()

    def read(self, reference):
        if reference in self.stale:
            raise Unsupported("a view is read after what it is a view of was written to")
        if reference not in self.values:
            raise Unsupported("a result is read that its call does not make in ONNX")
        return self.values[reference]

    def write(self):
        for number, item in enumerate(self.graph.inputs):
            name = f"input.{number}"
            if item.kind == "user_input":
                self.values[-1, number] = self.writer.input(name, item.type)
            else:
                self.weights[name] = number
                self.values[-1, number] = Value(name, item.type.dtype, item.type.sizes)
        for number, node in enumerate(self.graph.nodes):
            if node.operation.is_arithmetic_on_sizes:
                continue
            self.writer.current = number
            self.add(number, node)
        return self.outputs()

    def add(self, number, node):
        operation = node.operation
        call = Call(self.writer, operation, [self.read(reference) for reference in node.inputs])
        made = write(call)
        for output, value in enumerate(made):
            self.values[number, output] = value
        if not node.inputs:
            return
        source = node.inputs[0]
        if operation.is_in_place:
            if made[0].sizes != self.values[source].sizes or made[0].dtype != self.values[source].dtype:
                made[0] = self.writer.cast(made[0], self.values[source].dtype)
            self.parent[number, 0] = (source, lambda call, old, new: new)
            self.written((number, 0), made[0])
            return
        back = put_back(call, made)
        if back:
            self.parent[number, 0] = (source, back)
        elif operation.name in ("split", "chunk", "unbind", "expand", "slice", "unflatten", "narrow", "select"):
            for output in range(len(made)):
                self.parent[number, output] = (source, None)

    def written(self, reference, value):
        """The value of a reference is a new one: so are those that it is a view of, and other views of these are out of date."""
        chain = [reference]
        self.values[reference] = value
        while reference in self.parent:
            parent, back = self.parent[reference]
            if back is None:
                raise Unsupported("a call writes into a view that ONNX cannot put back")
            call = Call(self.writer, self.graph.nodes[self.writer.current].operation, [None] * 100)
            value = self.values[parent] = back(call, self.values[parent], value)
            self.stale.discard(parent)
            chain.append(parent)
            reference = parent
        changed = set(chain)
        for view, (parent, _) in self.parent.items():
            if parent in changed and view not in chain or parent in self.stale:
                self.stale.add(view)

    def outputs(self):
        """Each under a name of its own, and made by a node."""
        made = {name for node in self.writer.nodes for name in node.output}
        results = []
        for reference in dict.fromkeys(self.graph.outputs):
            if reference not in self.values:
                continue
            value = self.read(reference)
            if value.name not in made or value in results:
                value = self.writer.emit("Identity", value, sizes=value.sizes)
            results.append(value)
        return results


def put_back(call, made):
    """How a new value of the call's result goes into what the result is a view of; None where it is no such view."""
    name, x = call.name, next((value for value in call.arguments.values() if isinstance(value, Value)), None)
    if x is None or len(made) != 1:
        return None
    if name in ALIASES and made[0].dtype == x.dtype:
        return lambda call, old, new: call.reshaped(new, old.sizes)
    if name in ("transpose", "t", "permute", "swapaxes"):
        order = list(range(x.rank))
        if name == "permute":
            order = [call.dimension(x, d) for d in call.need("dims")]
        elif x.rank:
            a, b = (0, x.rank - 1) if name == "t" else (call.dimension(x, call.need("dim0")), call.dimension(x, call.need("dim1")))
            order[a], order[b] = order[b], order[a]
        back = [order.index(d) for d in range(x.rank)]
        return lambda call, old, new: call.emit("Transpose", new, sizes=old.sizes, perm=back)
    if name in ("slice", "narrow", "select") and call.get("step", 1) == 1:
        dim = call.dimension(x, call.get("dim", 0))
        length, first = x.sizes[dim], call.get("index" if name == "select" else "start") or 0
        first = min(max(first + length if first < 0 else first, 0), length)
        count = 1 if name == "select" else made[0].sizes[dim]

        def into(call, old, new):
            if name == "select":
                new = call.emit("Unsqueeze", new, call.integers([dim]), sizes=(*old.sizes[:dim], 1, *old.sizes[dim + 1:]))
            parts = [call.slice(old, dim, 0, first)] * (first > 0) + [new]
            parts += [call.slice(old, dim, first + count, length)] * (first + count < length)
            return new if len(parts) == 1 else call.emit("Concat", *parts, sizes=old.sizes, axis=dim)
        return into
    return None


def refuse_without_form(graph):
    """Unsupported where operations have no entry in the table; it names them, in order."""
    missing = dict.fromkeys(node.operation.target for node in graph.nodes
                            if not node.operation.is_arithmetic_on_sizes and node.operation.name not in TABLE)
    if missing:
        raise Unsupported("there is no ONNX form of " + ", ".join(missing))
