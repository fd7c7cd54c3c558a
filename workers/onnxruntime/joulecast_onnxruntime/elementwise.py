"""Element by element. See translation.py."""
import math

from joulecast_measuring.requests import Unsupported
from joulecast_onnxruntime.arguments import broadcast
from joulecast_onnxruntime.writer import Value, promoted


def unary(kind, floating=False, **attributes):
    def entry(call):
        x = call.first
        if floating and not x.is_floating:
            x = call.cast(x, "f32")
        return call.emit(kind, x, sizes=x.sizes, **attributes)
    return entry


def binary(kind, result=None):
    def entry(call):
        a, b = call.need("self"), call.need("other")
        dtype = promoted(a, b)
        alpha = call.get("alpha", 1)
        if call.name == "rsub":
            a, b = b, a
        left, right = call.operand(a, dtype), call.operand(b, dtype)
        sizes = broadcast(left.sizes, right.sizes)
        if alpha != 1:
            if call.name == "rsub":
                right = call.emit("Mul", right, call.scalar(alpha, dtype), sizes=right.sizes)
            else:
                right = call.emit("Mul", right, call.scalar(alpha, dtype), sizes=right.sizes)
        return call.emit(kind, left, right, dtype=result or dtype, sizes=sizes)
    return entry


def div(call):
    a, b, rounding = call.need("self"), call.need("other"), call.get("rounding_mode")
    if call.name == "floor_divide":
        rounding = "floor"
    dtype = promoted(a, b)
    if rounding is None and dtype not in ("f16", "bf16", "f32", "f64"):
        dtype = "f32"
    is_floating = dtype.startswith(("f", "b"))
    if rounding == "floor" and not is_floating:
        # ONNX divides integers towards zero.
        dtype = "f64"
    left, right = call.operand(a, dtype), call.operand(b, dtype)
    quotient = call.emit("Div", left, right, sizes=broadcast(left.sizes, right.sizes))
    if rounding is None or not is_floating and rounding == "trunc":
        return quotient
    if rounding == "trunc":
        return call.emit("Mul", call.emit("Floor", call.emit("Abs", quotient, sizes=quotient.sizes), sizes=quotient.sizes),
                         call.emit("Sign", quotient, sizes=quotient.sizes), sizes=quotient.sizes)
    floor = call.emit("Floor", quotient, sizes=quotient.sizes)
    return floor if is_floating else call.cast(floor, promoted(a, b))


def power(call):
    base, exponent = call.get("self"), call.get("exponent")
    dtype = promoted(base, exponent)
    left = call.operand(base, dtype)
    right = exponent if isinstance(exponent, Value) else call.scalar(exponent, dtype if isinstance(exponent, float) else "i64")
    return call.emit("Pow", left, right, sizes=broadcast(left.sizes, right.sizes))


def remainder(call):
    a, b = call.need("self"), call.need("other")
    dtype = promoted(a, b)
    left, right = call.operand(a, dtype), call.operand(b, dtype)
    sizes = broadcast(left.sizes, right.sizes)
    if not left.is_floating:
        return call.emit("Mod", left, right, sizes=sizes)
    # The sign of the divisor, which ONNX's fmod has not.
    floor = call.emit("Floor", call.emit("Div", left, right, sizes=sizes), sizes=sizes)
    return call.emit("Sub", left, call.emit("Mul", floor, right, sizes=sizes), sizes=sizes)


def comparison(kind):
    def entry(call):
        if call.name == "ne":
            equal = binary("Equal", "bool")(call)
            return call.emit("Not", equal, sizes=equal.sizes)
        return binary(kind, "bool")(call)
    return entry


def bitwise(logical, of_bits):
    def entry(call):
        a, b = call.need("self"), call.need("other")
        dtype = promoted(a, b)
        if call.name.startswith("logical"):
            dtype = "bool"
        left, right = call.operand(a, dtype), call.operand(b, dtype)
        return call.emit(logical if dtype == "bool" else of_bits, left, right, sizes=broadcast(left.sizes, right.sizes))
    return entry


def clamp(call):
    x = call.first
    low, high = (call.get(name) for name in ("min_val", "max_val")) if call.name == "hardtanh" else (call.get("min"), call.get("max"))
    if call.name == "hardtanh":
        low, high = (-1.0 if low is None else low), (1.0 if high is None else high)
    if call.name == "relu6":
        low, high = 0.0, 6.0
    ends = [None if end is None else call.operand(end, x.dtype) for end in (low, high)]
    if all(end is None or not end.sizes for end in ends):
        return call.emit("Clip", x, *ends, sizes=x.sizes)
    for kind, end in zip(("Max", "Min"), ends):
        x = x if end is None else call.emit(kind, x, end, sizes=broadcast(x.sizes, end.sizes))
    return x


def silu(call):
    x = call.first
    return call.emit("Mul", x, call.emit("Sigmoid", x, sizes=x.sizes), sizes=x.sizes)


def rsqrt(call):
    x = call.cast(call.first, promoted(call.first, 1.0))
    return call.emit("Reciprocal", call.emit("Sqrt", x, sizes=x.sizes), sizes=x.sizes)


def gelu(call):
    x = call.first
    return call.emit("Gelu", x, sizes=x.sizes, approximate=call.get("approximate", "none"))


def hardsigmoid(call):
    return call.emit("HardSigmoid", call.first, sizes=call.first.sizes, alpha=1.0 / 6.0, beta=0.5)


def leaky_relu(call):
    return call.emit("LeakyRelu", call.first, sizes=call.first.sizes, alpha=float(call.get("negative_slope", 0.01)))


def elu(call):
    if call.get("scale", 1) != 1 or call.get("input_scale", 1) != 1:
        raise Unsupported("ONNX's Elu has no scale")
    return call.emit("Elu", call.first, sizes=call.first.sizes, alpha=float(call.get("alpha", 1.0)))


def softplus(call):
    if call.get("beta", 1) != 1:
        raise Unsupported("ONNX's Softplus has no beta")
    return call.emit("Softplus", call.first, sizes=call.first.sizes)


def prelu(call):
    x, weight = call.need("self"), call.need("weight")
    if x.rank > 2 and math.prod(weight.sizes) > 1:
        weight = call.reshaped(weight, (weight.sizes[0],) + (1,) * (x.rank - 2))
    return call.emit("PRelu", x, weight, sizes=x.sizes)


def log1p(call):
    x = call.first
    return call.emit("Log", call.emit("Add", x, call.scalar(1, x.dtype), sizes=x.sizes), sizes=x.sizes)


def where(call):
    a, b = call.need("self"), call.need("other")
    dtype = promoted(a, b)
    condition, left, right = call.cast(call.need("condition"), "bool"), call.operand(a, dtype), call.operand(b, dtype)
    return call.emit("Where", condition, left, right, dtype=dtype, sizes=broadcast(condition.sizes, left.sizes, right.sizes))


def masked_fill(call):
    x, mask = call.need("self"), call.need("mask")
    return call.emit("Where", mask, call.operand(call.need("value"), x.dtype), x, dtype=x.dtype, sizes=broadcast(x.sizes, mask.sizes))


UNARY = {"relu": "Relu", "abs": "Abs", "neg": "Neg", "sign": "Sign", "ceil": "Ceil", "floor": "Floor", "round": "Round",
         "hardswish": "HardSwish", "mish": "Mish", "logical_not": "Not", "bitwise_not": "Not"}
FLOATING = {"sigmoid": "Sigmoid", "tanh": "Tanh", "exp": "Exp", "log": "Log", "sqrt": "Sqrt", "sin": "Sin", "cos": "Cos", "erf": "Erf",
            "reciprocal": "Reciprocal"}
BINARY = {"add": "Add", "sub": "Sub", "rsub": "Sub", "mul": "Mul", "maximum": "Max", "minimum": "Min"}
COMPARISONS = {"eq": "Equal", "ne": "Equal", "lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual"}

TABLE = {
    **{name: unary(kind) for name, kind in UNARY.items()},
    **{name: unary(kind, floating=True) for name, kind in FLOATING.items()},
    **{name: binary(kind) for name, kind in BINARY.items()},
    **{name: comparison(kind) for name, kind in COMPARISONS.items()},
    "div": div, "floor_divide": div, "pow": power, "remainder": remainder, "__and__": bitwise("And", "BitwiseAnd"),
    "__or__": bitwise("Or", "BitwiseOr"), "__xor__": bitwise("Xor", "BitwiseXor"), "bitwise_and": bitwise("And", "BitwiseAnd"),
    "bitwise_or": bitwise("Or", "BitwiseOr"), "bitwise_xor": bitwise("Xor", "BitwiseXor"), "logical_and": bitwise("And", ""),
    "logical_or": bitwise("Or", ""), "logical_xor": bitwise("Xor", ""), "clamp": clamp, "clamp_min": clamp, "clamp_max": clamp,
    "hardtanh": clamp, "relu6": clamp, "silu": silu, "rsqrt": rsqrt, "gelu": gelu, "hardsigmoid": hardsigmoid, "leaky_relu": leaky_relu,
    "elu": elu, "softplus": softplus, "prelu": prelu, "log1p": log1p, "where": where, "masked_fill": masked_fill,
}
