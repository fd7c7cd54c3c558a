"""Writes ONNX models call by call: what the entries of translation.py are given."""
import dataclasses
import math

import numpy
from onnx import TensorProto, helper, numpy_helper

from joulecast_measuring.contents import numpy_dtype
from joulecast_measuring.requests import Unsupported
from joulecast_measuring.signature import DTYPES

OPSET = 20
IR_VERSION = 10
ONNX = {"u8": TensorProto.UINT8, "i8": TensorProto.INT8, "i16": TensorProto.INT16, "i32": TensorProto.INT32, "i64": TensorProto.INT64,
        "f16": TensorProto.FLOAT16, "f32": TensorProto.FLOAT, "f64": TensorProto.DOUBLE, "bool": TensorProto.BOOL,
        "bf16": TensorProto.BFLOAT16}
LEVELS = {"bool": 0, "u8": 1, "i8": 1, "i16": 1.2, "i32": 1.4, "i64": 1.6, "f16": 2, "bf16": 2, "f32": 2.4, "f64": 2.6}


@dataclasses.dataclass(frozen=True)
class Value:
    """A tensor in the model."""
    name: str
    dtype: str
    sizes: tuple

    @property
    def rank(self):
        return len(self.sizes)

    @property
    def is_floating(self):
        return LEVELS[self.dtype] >= 2


def onnx_dtype(dtype):
    if dtype not in ONNX:
        raise Unsupported(f"ONNX has no {dtype}")
    return ONNX[dtype]


def promoted(*operands):
    """The dtype of arithmetic on tensors and numbers, by torch's rules: numbers and tensors without dimensions count less than tensors,
    unless they are of a higher kind."""
    best = None
    for operand in operands:
        if isinstance(operand, Value):
            weight, dtype = (2 if operand.sizes else 1), operand.dtype
        else:
            weight, dtype = 0, "bool" if isinstance(operand, bool) else "i64" if isinstance(operand, int) else "f32"
        rank = (int(LEVELS[dtype]), weight, LEVELS[dtype])
        best = max(best, (rank, dtype)) if best else (rank, dtype)
    return best[1]


class Writer:
    """Collects nodes and constants; `current` is the call that is being written, by which its nodes are named."""

    def __init__(self):
        self.nodes, self.initializers, self.inputs = [], [], []
        self.call_of_node = []  # for each node: the number of the call that it belongs to
        self.bytes = {}  # of the values that nodes make, by name
        self.current = 0
        self.made = 0

    def name(self, hint):
        self.made += 1
        return f"{self.current}/{hint}.{self.made}"

    def input(self, name, type_):
        self.inputs.append(helper.make_tensor_value_info(name, onnx_dtype(type_.dtype), type_.sizes))
        return Value(name, type_.dtype, type_.sizes)

    def weight(self, name, array, dtype):
        self.initializers.append(numpy_helper.from_array(array, name))
        return Value(name, dtype, array.shape)

    def constant(self, data, dtype):
        return self.weight(self.name("constant"), numpy.asarray(data, dtype=numpy_dtype(dtype)), dtype)

    def integers(self, values):
        return self.constant(list(values), "i64")

    def emit(self, kind, *inputs, dtype=None, sizes=None, outputs=1, **attributes):
        """The value that a new node makes, or a list of them, then with `sizes` of each. Its dtype is that of the first input unless said."""
        names = [self.name(kind) for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, [value.name if value is not None else "" for value in inputs], names,
                                           name=f"{self.current}/{kind}.{self.made}", **attributes))
        self.call_of_node.append(self.current)
        shapes = [sizes] if outputs == 1 else sizes
        made = [Value(name, dtype or inputs[0].dtype, tuple(shape)) for name, shape in zip(names, shapes)]
        self.bytes |= {value.name: math.prod(value.sizes) * DTYPES[value.dtype] for value in made}
        return made[0] if outputs == 1 else made

    def cast(self, value, dtype):
        """The value itself where it is of that dtype."""
        if value.dtype == dtype:
            return value
        return self.emit("Cast", value, dtype=dtype, sizes=value.sizes, to=onnx_dtype(dtype))

    def model(self, outputs):
        shaped = [helper.make_tensor_value_info(value.name, onnx_dtype(value.dtype), value.sizes) for value in outputs]
        graph = helper.make_graph(self.nodes, "joulecast", self.inputs, shaped, self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)


class Call:
    """One ATen call: its arguments by name, tensors as values, and the means to write nodes."""

    def __init__(self, writer, operation, values):
        self.writer, self.operation, self.name = writer, operation, operation.name
        self.arguments = operation.filled(values)
        self.emit, self.cast, self.constant, self.integers = writer.emit, writer.cast, writer.constant, writer.integers

    def get(self, name, default=None):
        return self.arguments.get(name, default)

    def need(self, name):
        if name not in self.arguments:
            raise Unsupported(f"{self.operation.target} lacks its argument {name}")
        return self.arguments[name]

    @property
    def first(self):
        """The first argument that is a tensor."""
        for value in self.arguments.values():
            if isinstance(value, Value):
                return value
        raise Unsupported(f"{self.operation.target} has no tensor")

    def scalar(self, number, dtype):
        return self.constant(number, dtype)

    def operand(self, operand, dtype):
        """A tensor or number as a value of that dtype."""
        return self.cast(operand, dtype) if isinstance(operand, Value) else self.scalar(operand, dtype)

    def dimension(self, value, number):
        return number + value.rank if number < 0 else number

    def reshaped(self, value, sizes):
        if tuple(value.sizes) == tuple(sizes):
            return value
        return self.emit("Reshape", value, self.integers(sizes), sizes=tuple(sizes))

    def slice(self, value, dimension, start, end, step=1):
        sizes = list(value.sizes)
        sizes[dimension] = max(0, math.ceil((end - start) / step))
        if sizes[dimension] == value.sizes[dimension] and step == 1:
            return value
        ends = [self.integers([number]) for number in (start, end, dimension, step)]
        return self.emit("Slice", value, *ends, sizes=tuple(sizes))

