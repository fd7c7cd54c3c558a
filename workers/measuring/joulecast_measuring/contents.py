"""What stands in the tensors: normal numbers, never zeros; indices within the tables that they look up; positive variances."""
import dataclasses

from joulecast_measuring.requests import Unsupported

NUMPY = {"u8": "uint8", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "f16": "float16", "f32": "float32", "f64": "float64",
         "bool": "bool"}
# Numbers drawn once for each size of tensor; longer tensors go through them again from another place.
POOL = (1 << 20) + 7
POSITIVE = {"running_var", "var", "variance", "rstd", "invstd", "std"}
POSITIVE_SELF = {"sqrt", "rsqrt", "log", "log2", "log10", "log1p", "pow"}
DIVIDES = {"div", "floor_divide", "remainder", "fmod"}
# Their results hold the integers of their first tensor: what binds the result binds the input.
PASSES_ON = {"slice", "expand", "unsqueeze", "squeeze", "view", "reshape", "flatten", "select", "permute", "to", "clone", "detach",
             "contiguous", "_to_copy", "alias", "narrow", "transpose", "t", "expand_as", "unflatten", "_unsafe_view", "lift_fresh_copy"}


def numpy_dtype(dtype):
    if dtype not in NUMPY:
        raise Unsupported(f"numpy has no {dtype}")
    import numpy  # here and below: a worker has to be able to say that it is missing
    return numpy.dtype(NUMPY[dtype])


@dataclasses.dataclass
class Content:
    scale: float = 1.0
    offset: float = 0.0
    is_positive: bool = False
    low: int = 0
    high: int = 2  # of integers; exclusive
    is_bound: bool = False

    def demand(self, other):
        """The stricter of two demands on one tensor."""
        self.is_positive |= other.is_positive
        if other.is_bound:
            self.high = min(self.high, other.high) if self.is_bound else other.high
            self.is_bound = True
        self.low = max(self.low, other.low)
        self.high = max(self.high, self.low + 1)


def _size(type_, dimension):
    return type_.sizes[dimension] if type_ is not None and -len(type_.sizes) <= dimension < len(type_.sizes) else 0


def table_length(operation, argument, position):
    """How long the table is that an integer argument looks up; 0: none."""
    given, name = operation.arguments, operation.name
    if argument == "indices" and name == "embedding":
        return _size(given["weight"], 0)
    if argument == "indices" and name.startswith("index"):
        return _size(given.get("self"), position)
    if argument == "index" and name in ("gather", "index_select", "scatter", "scatter_add"):
        return _size(given.get("self"), given.get("dim", 0))
    return 0


def places(operation, argument, type_):
    """Where a type may stand among its argument's items, holes counted."""
    value = operation.arguments[argument]
    return [place for place, item in enumerate(value) if item == type_] if isinstance(value, list) else [0]


def contents(operation):
    """One for each of the operation's tensors."""
    found = []
    smallest = min((size for _, type_ in operation.tensors() if type_.is_floating for size in type_.sizes), default=2)
    for argument, type_ in operation.tensors():
        content = Content()
        if type_.is_floating:
            content.is_positive = argument in POSITIVE or argument == "self" and operation.name in POSITIVE_SELF
        elif type_.dtype != "bool":
            lengths = [table_length(operation, argument, place) for place in places(operation, argument, type_)]
            length = min(lengths)
            content.high, content.is_bound = length or max(2, smallest), length > 0
            if argument == "other" and operation.name in DIVIDES:
                content.low, content.high = 1, max(2, content.high)
        found.append(content)
    return found


def input_contents(graph):
    """One for each of the graph's inputs: weights scaled by their fan-in, and what the calls that read them demand."""
    found = []
    for item in graph.inputs:
        content = Content()
        if item.kind in ("parameter", "buffer") and item.type.is_floating:
            if len(item.type.sizes) < 2:
                # Gains of normalisation layers near one, biases near zero.
                content.scale, content.offset = 0.1, 0.0 if "bias" in item.name or not item.type.sizes else 1.0
            else:
                content.scale = (item.type.elements / max(item.type.sizes[0], 1)) ** -0.5
        found.append(content)
    demanded = [Content() for _ in graph.nodes]
    # Backwards, so that a demand on a view reaches what it is a view of.
    for index in range(len(graph.nodes) - 1, -1, -1):
        operation = graph.nodes[index].operation
        wanted = contents(operation)
        for place, ((node, output), content) in enumerate(zip(graph.nodes[index].inputs, wanted)):
            target = found[output] if node < 0 else demanded[node]
            target.demand(content)
            if node < 0 and operation.tensors()[place][0] in ("running_mean", "bias"):
                target.offset = 0.0
            if place == 0 and operation.name in PASSES_ON:
                target.demand(demanded[index])
    return found


class Maker:
    """Makes contiguous arrays; the same seed makes the same ones."""

    def __init__(self, seed):
        import numpy
        self.numpy = numpy
        self.generator = numpy.random.default_rng(seed)
        self.pools = {}

    def normals(self, dtype, count):
        if count <= POOL // 16:
            return self.generator.standard_normal(count, dtype="float32").astype(dtype)
        if dtype not in self.pools:
            self.pools[dtype] = self.generator.standard_normal(POOL, dtype="float32").astype(dtype)
        return self.numpy.resize(self.numpy.roll(self.pools[dtype], int(self.generator.integers(POOL))), count)

    def make(self, type_, content):
        dtype = numpy_dtype(type_.dtype)
        if type_.is_floating:
            values = self.normals(dtype, type_.elements)
            if content.is_positive:
                values = self.numpy.abs(values) + dtype.type(0.5)
            elif (content.scale, content.offset) != (1.0, 0.0):
                values = values * dtype.type(content.scale) + dtype.type(content.offset)
        elif type_.dtype == "bool":
            values = self.generator.integers(0, 2, type_.elements).astype(bool)
        else:
            most = min(content.high, int(self.numpy.iinfo(dtype).max))
            values = self.generator.integers(min(content.low, most - 1), most, type_.elements, dtype=dtype)
        return self.numpy.ascontiguousarray(values).reshape(type_.sizes)
