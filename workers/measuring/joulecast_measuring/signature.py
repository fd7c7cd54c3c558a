"""Operations in their text form (docs/worker-protocol.md): `aten::conv2d(input=f32[8,3,224,224], weight=f32[64,3,7,7]~, stride=[2,2])`."""
import dataclasses
import json
import math
import re

# Bytes of an element.
DTYPES = {"u8": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "f16": 2, "f32": 4, "f64": 8, "c64": 8, "c128": 16, "bool": 1, "bf16": 2,
          "f8e4m3fn": 1, "f8e5m2": 1}
LONGEST = 1 << 20
MOST_ITEMS = 4096


class FormatError(Exception):
    """Text that is not as the protocol says; the message tells where."""


class Dtype(str):
    """A dtype as an argument, told apart from a string."""


@dataclasses.dataclass(frozen=True)
class TensorType:
    dtype: str
    sizes: tuple
    strides: tuple = None  # None: contiguous
    requires_grad: bool = False

    @property
    def elements(self):
        return math.prod(self.sizes)

    @property
    def bytes(self):
        return self.elements * DTYPES[self.dtype]

    @property
    def is_floating(self):
        return self.dtype.startswith(("f", "bf", "c"))


OF_IMAGES = {"conv2d", "_convolution", "convolution", "batch_norm", "max_pool2d", "avg_pool2d", "adaptive_avg_pool2d", "adaptive_max_pool2d",
             "upsample_nearest2d", "upsample_bilinear2d"}


@dataclasses.dataclass(frozen=True)
class Operation:
    target: str
    arguments: dict

    @property
    def name(self):
        """`aten::add_.Tensor` is `add`, and writes to its first argument."""
        base = self.target.partition("::")[2].partition(".")[0]
        return base[:-1] if self.is_in_place else base

    @property
    def is_in_place(self):
        base = self.target.partition("::")[2].partition(".")[0]
        return base.endswith("_") and not base.endswith("__")

    @property
    def is_of_images(self):
        """Its first tensor is images where it has as many dimensions: batch, channels, height, width. Engines lay them out with channels last
        within a network; alone, such an operation would change its input's layout, and its result's back."""
        return self.name in OF_IMAGES

    @property
    def is_arithmetic_on_sizes(self):
        """Does not run on a device: sizes, checks that torch.export added."""
        namespace, _, name = self.target.partition("::")
        return "operator" in namespace or name.startswith(("sym_", "_assert", "_check"))

    def filled(self, tensors, dtype=Dtype):
        """The arguments with these in place of the types of tensors(), in order, and dtypes as `dtype` makes them of their names."""
        rest = iter(tensors)

        def given(value):
            if isinstance(value, TensorType):
                return next(rest)
            if isinstance(value, Dtype):
                return dtype(value)
            return [given(item) for item in value] if isinstance(value, list) else value
        return {name: given(value) for name, value in self.arguments.items()}

    def tensors(self):
        """(argument name, type) of all tensors in order, lists taken apart, holes left out: the order of a node's inputs."""
        found = []
        for name, value in self.arguments.items():
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, TensorType):
                    found.append((name, item))
        return found


_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_NUMBER = re.compile(r"-?(?:inf|nan|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)")
_INTEGER = re.compile(r"-?\d+")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


class _Reader:
    def __init__(self, text):
        self.text = text
        self.at = 0

    def fault(self, what):
        raise FormatError(f"{what} at position {self.at} of {self.text[:200]!r}")

    def take(self, mark):
        if self.text.startswith(mark, self.at):
            self.at += len(mark)
            return True
        return False

    def need(self, mark):
        if not self.take(mark):
            self.fault(f"{mark!r} is missing")

    def match(self, pattern, what):
        found = pattern.match(self.text, self.at)
        if not found:
            self.fault(f"{what} is missing")
        self.at = found.end()
        return found.group()

    def items(self, end, one):
        """Up to the closing mark, separated by commas."""
        values = []
        while not self.take(end):
            if values:
                self.need(",")
                self.take(" ")
            values.append(one())
            if len(values) > MOST_ITEMS:
                self.fault(f"more than {MOST_ITEMS} items")
        return values

    def integer(self):
        return int(self.match(_INTEGER, "an integer"))

    def tensor(self, dtype):
        sizes = tuple(self.items("]", self.integer))
        strides = None
        if self.take("{cl}"):
            strides = channels_last_strides(sizes)
            if strides is None:
                self.fault("channels-last is for four or five sizes")
        elif self.take("{"):
            strides = tuple(self.items("}", self.integer))
            if len(strides) != len(sizes) or min(strides, default=0) < 0:
                self.fault("strides do not fit the sizes")
        if min(sizes, default=0) < 0:
            self.fault("a size is negative")
        return TensorType(dtype, sizes, strides, self.take("~"))

    def value(self):
        if self.take("["):
            return self.items("]", self.value)
        if self.text.startswith('"', self.at):
            return json.loads(self.match(_STRING, "a string"))
        number = _NUMBER.match(self.text, self.at)
        if number and not _WORD.match(self.text, number.end()):
            self.at = number.end()
            text = number.group()
            return int(text) if _INTEGER.fullmatch(text) else float(text)
        word = self.match(_WORD, "a value")
        if word in DTYPES:
            return self.tensor(word) if self.take("[") else Dtype(word)
        if word in ("none", "true", "false"):
            return {"none": None, "true": True, "false": False}[word]
        self.fault(f"{word!r} is no value")

    def argument(self):
        name = self.match(_WORD, "the name of an argument")
        self.need("=")
        return name, self.value()


def channels_last_strides(sizes):
    if len(sizes) not in (4, 5):
        return None
    strides, step = [0] * len(sizes), 1
    for dimension in (1, *range(len(sizes) - 1, 1, -1), 0):
        strides[dimension] = step
        step *= max(sizes[dimension], 1)
    return tuple(strides)


def parse_type(text):
    reader = _Reader(text)
    value = reader.value()
    if not isinstance(value, TensorType) or reader.at != len(text):
        raise FormatError(f"{text[:200]!r} is no type of a tensor")
    return value


def parse_operation(text):
    if len(text) > LONGEST:
        raise FormatError("an operation of more than 1 MB")
    reader = _Reader(text)
    target = reader.match(re.compile(r"[A-Za-z_0-9]+::[A-Za-z_0-9]+(?:\.[A-Za-z_0-9]+)?"), "the name of an operation")
    reader.need("(")
    pairs = reader.items(")", reader.argument)
    if reader.at != len(text):
        reader.fault("more text")
    if len(dict(pairs)) != len(pairs):
        reader.fault("an argument stands twice")
    return Operation(target, dict(pairs))
