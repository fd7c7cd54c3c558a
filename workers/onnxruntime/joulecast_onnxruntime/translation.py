"""ATen operations as ONNX nodes: one entry each in TABLE, by the operation's name without overload.

An entry takes a Call and returns the value that the call makes, or a list of them. To add an operation, write its function and its line; the
test of this folder compares every entry with torch. What ONNX cannot say raises Unsupported with the reason.
"""
import math

import numpy

from joulecast_measuring.requests import Unsupported
from joulecast_onnxruntime.writer import Value, promoted

INT_MAX = 2**63 - 1


def broadcast(*shapes):
    return tuple(numpy.broadcast_shapes(*shapes))


def listed(value, count):
    """An argument of so many integers, which may be given as one."""
    values = list(value) if isinstance(value, list) else [value]
    return values * count if len(values) == 1 else values


# --- element by element --------------------------------------------------------------------------------------------------------------------

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


# --- products --------------------------------------------------------------------------------------------------------------------------------

def matmul_sizes(a, b):
    if a.rank == 1 or b.rank == 1:
        left = a.sizes[:-1] if a.rank > 1 else ()
        return broadcast(left[:-1], b.sizes[:-2]) + left[-1:] + b.sizes[-1:] if b.rank > 1 else left
    return broadcast(a.sizes[:-2], b.sizes[:-2]) + (a.sizes[-2], b.sizes[-1])


def product(call, a, b):
    if a.sizes[-1] != b.sizes[-2 if b.rank > 1 else 0]:
        raise Unsupported(f"shapes {list(a.sizes)} and {list(b.sizes)} cannot be multiplied")
    return call.emit("MatMul", a, b, sizes=matmul_sizes(a, b))


def matmul(call):
    return product(call, call.need("self"), call.need("mat2") if "mat2" in call.arguments else call.need("other"))


def linear(call):
    x, weight, bias = call.need("input"), call.need("weight"), call.get("bias")
    if x.sizes[-1] != weight.sizes[-1]:
        raise Unsupported(f"shapes {list(x.sizes)} and {list(weight.sizes)} cannot be multiplied")
    if x.rank == 2:
        return call.emit("Gemm", x, weight, *filter(None, [bias]), sizes=(x.sizes[0], weight.sizes[0]), transB=1)
    y = product(call, x, call.emit("Transpose", weight, sizes=weight.sizes[::-1], perm=[1, 0]))
    return y if bias is None else call.emit("Add", y, bias, sizes=y.sizes)


def addmm(call):
    bias, a, b = call.need("self"), call.need("mat1"), call.need("mat2")
    return call.emit("Gemm", a, b, bias, sizes=(a.sizes[0], b.sizes[1]), alpha=float(call.get("alpha", 1)), beta=float(call.get("beta", 1)))


def baddbmm(call):
    bias, y = call.need("self"), product(call, call.need("batch1"), call.need("batch2"))
    for factor, name in ((call.get("alpha", 1), "y"), (call.get("beta", 1), "bias")):
        if factor != 1:
            scaled = y if name == "y" else bias
            scaled = call.emit("Mul", scaled, call.scalar(factor, y.dtype), sizes=scaled.sizes)
            y, bias = (scaled, bias) if name == "y" else (y, scaled)
    return call.emit("Add", y, bias, sizes=broadcast(y.sizes, bias.sizes))


def attention(call):
    query, key, value = call.need("query"), call.need("key"), call.need("value")
    if call.get("dropout_p", 0.0):
        raise Unsupported("attention with dropout is for training")
    if call.get("enable_gqa"):
        key, value = (repeated(call, x, query.sizes[-3] // x.sizes[-3]) for x in (key, value))
    scale = call.get("scale")
    scale = query.sizes[-1] ** -0.5 if scale is None else scale
    order = list(range(key.rank - 2)) + [key.rank - 1, key.rank - 2]
    turned = call.emit("Transpose", key, sizes=tuple(key.sizes[d] for d in order), perm=order)
    scores = product(call, query, turned)
    scores = call.emit("Mul", scores, call.scalar(scale, query.dtype), sizes=scores.sizes)
    mask = call.get("attn_mask")
    if call.get("is_causal"):
        allowed = numpy.tril(numpy.ones(scores.sizes[-2:], dtype=bool))
        mask = call.constant(numpy.where(allowed, 0.0, -numpy.inf), query.dtype)
    elif mask is not None and mask.dtype == "bool":
        mask = call.emit("Where", mask, call.scalar(0.0, query.dtype), call.scalar(-math.inf, query.dtype), dtype=query.dtype,
                         sizes=mask.sizes)
    if mask is not None:
        scores = call.emit("Add", scores, call.cast(mask, query.dtype), sizes=broadcast(scores.sizes, mask.sizes))
    return product(call, call.emit("Softmax", scores, sizes=scores.sizes, axis=-1), value)


def repeated(call, x, times):
    """Each head so many times, as grouped queries read it."""
    if times == 1:
        return x
    *batch, heads, length, depth = x.sizes
    wide = call.reshaped(x, (*batch, heads, 1, length, depth))
    wide = call.emit("Expand", wide, call.integers((*batch, heads, times, length, depth)), sizes=(*batch, heads, times, length, depth))
    return call.reshaped(wide, (*batch, heads * times, length, depth))


# --- convolutions and pools ------------------------------------------------------------------------------------------------------------------

def convolution(call):
    x, weight, bias = call.need("input"), call.need("weight"), call.get("bias")
    count = weight.rank - 2
    transposed = call.name.startswith("conv_transpose") or bool(call.get("transposed"))
    stride, dilation = listed(call.get("stride", 1), count), listed(call.get("dilation", 1), count)
    padding, groups = call.get("padding", 0), call.get("groups", 1)
    if padding in ("valid", "same"):
        total = [d * (k - 1) * (padding == "same") for d, k in zip(dilation, weight.sizes[2:])]
        before, after = [t // 2 for t in total], [t - t // 2 for t in total]
    else:
        before = after = listed(padding, count)
    attributes = {"strides": stride, "dilations": dilation, "group": groups, "pads": before + after, "kernel_shape": list(weight.sizes[2:])}
    batch = x.sizes[:-count - 1] or None
    if batch is None:
        x = call.reshaped(x, (1, *x.sizes))
    if x.sizes[1] != (weight.sizes[0] if transposed else weight.sizes[1] * groups):
        raise Unsupported(f"weights of shape {list(weight.sizes)} with {groups} groups do not fit an input of {x.sizes[1]} channels")
    if transposed:
        extra = listed(call.get("output_padding", 0), count)
        sizes = [(n - 1) * s - 2 * p + d * (k - 1) + e + 1
                 for n, s, p, d, k, e in zip(x.sizes[2:], stride, before, dilation, weight.sizes[2:], extra)]
        channels, attributes["output_padding"] = weight.sizes[1] * groups, extra
    else:
        sizes = [(n + b + a - d * (k - 1) - 1) // s + 1
                 for n, s, b, a, d, k in zip(x.sizes[2:], stride, before, after, dilation, weight.sizes[2:])]
        channels = weight.sizes[0]
    y = call.emit("ConvTranspose" if transposed else "Conv", x, weight, *filter(None, [bias]), sizes=(x.sizes[0], channels, *sizes),
                  **attributes)
    return y if batch else call.reshaped(y, y.sizes[1:])


def pooled_size(size, kernel, stride, padding, dilation, ceil):
    span = size + 2 * padding - dilation * (kernel - 1) - 1
    windows = (-(-span // stride) if ceil else span // stride) + 1
    # The last window has to begin in the input or in the padding before it.
    return windows - 1 if ceil and (windows - 1) * stride >= size + padding else windows


def pool(call):
    x = call.need("self")
    count = int(call.name[-2])
    kernel = listed(call.need("kernel_size"), count)
    stride = listed(call.get("stride") or kernel, count)
    padding, dilation, ceil = listed(call.get("padding", 0), count), listed(call.get("dilation", 1), count), bool(call.get("ceil_mode"))
    if call.get("divisor_override") is not None:
        raise Unsupported("ONNX's AveragePool has no divisor of one's own")
    sizes = tuple(pooled_size(*each, ceil) for each in zip(x.sizes[-count:], kernel, stride, padding, dilation))
    # What ceil_mode adds is padding at the end: ONNX Runtime's own rounding up counts windows that torch leaves out.
    after = [max(p, (n - 1) * s + d * (k - 1) + 1 - size - p)
             for p, n, s, d, k, size in zip(padding, sizes, stride, dilation, kernel, x.sizes[-count:])]
    is_average = call.name.startswith("avg")
    if is_average and ceil and after != padding:
        raise Unsupported("ONNX's AveragePool counts the padding of ceil_mode")
    attributes = {"kernel_shape": kernel, "strides": stride, "pads": padding + after}
    if is_average:
        attributes["count_include_pad"] = int(call.get("count_include_pad", True))
    else:
        attributes["dilations"] = dilation
    flat = x if x.rank == count + 2 else call.reshaped(x, (1, *x.sizes))
    y = call.emit("AveragePool" if is_average else "MaxPool", flat, sizes=(*flat.sizes[:2], *sizes), **attributes)
    return y if x.rank == count + 2 else call.reshaped(y, (*x.sizes[:-count], *sizes))


def adaptive_average_pool(call):
    x = call.need("self")
    count = int(call.name[-2])
    given = listed(call.need("output_size"), count)
    sizes = [have if want is None else want for want, have in zip(given, x.sizes[-count:])]
    shape = (*x.sizes[:-count], *sizes)
    if list(x.sizes[-count:]) == sizes:
        return x
    if all(size == 1 for size in sizes) and x.rank == count + 2:
        return call.emit("GlobalAveragePool", x, sizes=shape)
    if all(have % want == 0 for have, want in zip(x.sizes[-count:], sizes)) and x.rank == count + 2:
        kernel = [have // want for have, want in zip(x.sizes[-count:], sizes)]
        return call.emit("AveragePool", x, sizes=shape, kernel_shape=kernel, strides=kernel)
    if count != 2:
        raise Unsupported("ONNX has no adaptive pool, and these sizes do not divide")
    # Windows of different lengths: a product with their weights from either side.
    tall, wide = (averaging(have, want) for have, want in zip(x.sizes[-2:], sizes))
    y = product(call, call.constant(tall, x.dtype), x)
    return product(call, y, call.constant(wide.T, x.dtype))


def averaging(have, want):
    weights = numpy.zeros((want, have))
    for row in range(want):
        first, last = row * have // want, -(-(row + 1) * have // want)
        weights[row, first:last] = 1.0 / (last - first)
    return weights


# --- normalisation ---------------------------------------------------------------------------------------------------------------------------

def batch_norm(call):
    x = call.need("input")
    if call.get("training"):
        raise Unsupported("batch norm with the batch's statistics is for training")
    channels = (x.sizes[1],)
    weight, bias = (given if given is not None else call.constant(numpy.full(channels, filler), x.dtype)
                    for given, filler in ((call.get("weight"), 1.0), (call.get("bias"), 0.0)))
    return call.emit("BatchNormalization", x, weight, bias, call.need("running_mean"), call.need("running_var"), sizes=x.sizes,
                     epsilon=float(call.get("eps", 1e-5)))


def layer_norm(call):
    x, shape = call.need("input"), tuple(call.need("normalized_shape"))
    weight, bias = call.get("weight"), call.get("bias")
    weight = weight if weight is not None else call.constant(numpy.ones(shape), x.dtype)
    return call.emit("LayerNormalization", x, weight, *filter(None, [bias]), sizes=x.sizes, axis=-len(shape),
                     epsilon=float(call.get("eps", 1e-5)))


def rms_norm(call):
    x, count, weight = call.need("input"), len(call.need("normalized_shape")), call.get("weight")
    epsilon = call.get("eps")
    epsilon = float(numpy.finfo("float32").eps) if epsilon is None else epsilon
    square = call.emit("Pow", x, call.scalar(2.0, x.dtype), sizes=x.sizes)
    kept = x.sizes[:-count] + (1,) * count
    mean = call.emit("ReduceMean", square, call.integers(range(-count, 0)), sizes=kept, keepdims=1)
    root = call.emit("Sqrt", call.emit("Add", mean, call.scalar(epsilon, x.dtype), sizes=kept), sizes=kept)
    y = call.emit("Div", x, root, sizes=x.sizes)
    return y if weight is None else call.emit("Mul", y, weight, sizes=x.sizes)


def group_norm(call):
    x, groups = call.need("input"), call.need("num_groups")
    ones, zeros = call.constant(numpy.ones(groups), x.dtype), call.constant(numpy.zeros(groups), x.dtype)
    y = call.emit("InstanceNormalization", call.reshaped(x, (x.sizes[0], groups, math.prod(x.sizes[1:]) // groups)), ones, zeros,
                  sizes=(x.sizes[0], groups, math.prod(x.sizes[1:]) // groups), epsilon=float(call.get("eps", 1e-5)))
    y = call.reshaped(y, x.sizes)
    for kind, given in (("Mul", call.get("weight")), ("Add", call.get("bias"))):
        if given is not None:
            y = call.emit(kind, y, call.reshaped(given, (given.sizes[0],) + (1,) * (x.rank - 2)), sizes=x.sizes)
    return y


def softmax(kind):
    def entry(call):
        x = call.first
        dtype = call.get("dtype")
        x = call.cast(x, str(dtype)) if dtype else x
        return call.emit(kind, x, sizes=x.sizes, axis=call.need("dim"))
    return entry


# --- reductions ------------------------------------------------------------------------------------------------------------------------------

def reduction(kind):
    def entry(call):
        x, dims, keep = call.first, call.get("dim"), bool(call.get("keepdim", False))
        if call.get("dtype"):
            x = call.cast(x, str(call.get("dtype")))
        if kind == "ReduceSum" and x.dtype == "bool":
            x = call.cast(x, "i64")
        dims = range(x.rank) if dims is None or dims == [] else [call.dimension(x, d) for d in listed(dims, 1)]
        return reduced(call, kind, x, list(dims), keep)
    return entry


def reduced(call, kind, x, dims, keep):
    sizes = tuple(1 if d in dims else size for d, size in enumerate(x.sizes) if keep or d not in dims)
    return call.emit(kind, x, call.integers(dims), sizes=sizes, keepdims=int(keep))


def vector_norm(call):
    x, order = call.need("self"), call.get("ord", 2)
    kind = {1: "ReduceL1", 2: "ReduceL2"}.get(order)
    if kind is None:
        raise Unsupported(f"ONNX has no norm of the order {order}")
    dims = call.get("dim")
    dims = list(range(x.rank)) if dims is None else [call.dimension(x, d) for d in dims]
    return reduced(call, kind, x, dims, bool(call.get("keepdim", False)))


def argument_of(kind):
    def entry(call):
        x, dim, keep = call.need("self"), call.get("dim"), bool(call.get("keepdim", False))
        if dim is None:
            x, dim = call.reshaped(x, (math.prod(x.sizes),)), 0
        dim = call.dimension(x, dim)
        sizes = tuple(1 if d == dim else size for d, size in enumerate(x.sizes) if keep or d != dim)
        return call.emit(kind, x, dtype="i64", sizes=sizes, axis=dim, keepdims=int(keep))
    return entry


def extremum(kind):
    """maximum(a, b), max(a, b) and min(a, b); the greatest of a dimension with its place is not among them."""
    def entry(call):
        if "other" in call.arguments:
            return binary(kind)(call)
        if "dim" in call.arguments:
            raise Unsupported(f"{call.operation.target} returns places too")
        return reduced(call, f"Reduce{kind}", call.first, list(range(call.first.rank)), False)
    return entry


def cumsum(call):
    x = call.need("self")
    x = call.cast(x, str(call.get("dtype")) if call.get("dtype") else x.dtype if x.is_floating else "i64")
    return call.emit("CumSum", x, call.constant(call.need("dim"), "i64"), sizes=x.sizes)


# --- shapes ----------------------------------------------------------------------------------------------------------------------------------

def same(call):
    return call.first


def dropout(call):
    if call.get("train"):
        raise Unsupported("dropout in training draws random numbers")
    return call.first


def to(call):
    x, dtype = call.first, call.get("dtype")
    if dtype is None and isinstance(call.get("other"), Value):
        dtype = call.get("other").dtype
    return x if dtype is None else call.cast(x, str(dtype))


def known_shape(call, x, sizes):
    rest = math.prod(x.sizes) // max(1, math.prod(size for size in sizes if size != -1))
    sizes = tuple(rest if size == -1 else size for size in sizes)
    if math.prod(sizes) != math.prod(x.sizes):
        raise Unsupported(f"shape {list(sizes)} is invalid for an input of {math.prod(x.sizes)} elements")
    return sizes


def view(call):
    x = call.first
    other = call.get("other")
    sizes = other.sizes if isinstance(other, Value) else call.get("size", call.get("shape"))
    return call.reshaped(x, known_shape(call, x, sizes))


def flatten(call):
    x = call.first
    if not x.rank:
        return call.reshaped(x, (1,))
    start, end = call.dimension(x, call.get("start_dim", 0)), call.dimension(x, call.get("end_dim", -1))
    return call.reshaped(x, (*x.sizes[:start], math.prod(x.sizes[start:end + 1]), *x.sizes[end + 1:]))


def unflatten(call):
    x = call.first
    dim = call.dimension(x, call.need("dim"))
    sizes = call.need("sizes")
    rest = x.sizes[dim] // max(1, math.prod(size for size in sizes if size != -1))
    return call.reshaped(x, (*x.sizes[:dim], *(rest if size == -1 else size for size in sizes), *x.sizes[dim + 1:]))


def turned(call, x, order):
    if list(order) == sorted(order):
        return x
    return call.emit("Transpose", x, sizes=tuple(x.sizes[d] for d in order), perm=list(order))


def permute(call):
    return turned(call, call.first, [call.dimension(call.first, d) for d in call.need("dims")])


def transpose(call):
    x = call.first
    order = list(range(x.rank))
    a, b = (0, x.rank - 1) if call.name == "t" else (call.dimension(x, call.get(name)) for name in
                                                    (("dim0", "dim1") if "dim0" in call.arguments else ("axis0", "axis1")))
    if order:
        order[a], order[b] = order[b], order[a]
    return turned(call, x, order)


def expand(call):
    x = call.first
    other = call.get("other")
    sizes = list(other.sizes if isinstance(other, Value) else call.need("size"))
    lead = len(sizes) - x.rank
    sizes = tuple(x.sizes[d - lead] if size == -1 else size for d, size in enumerate(sizes))
    if sizes == tuple(x.sizes):
        return x
    return call.emit("Expand", x, call.integers(sizes), sizes=sizes)


def repeat(call):
    x, times = call.first, call.need("repeats")
    x = call.reshaped(x, (1,) * (len(times) - x.rank) + tuple(x.sizes))
    return call.emit("Tile", x, call.integers(times), sizes=tuple(size * count for size, count in zip(x.sizes, times)))


def unsqueeze(call):
    x, dim = call.first, call.need("dim")
    dim = dim + x.rank + 1 if dim < 0 else dim
    return call.emit("Unsqueeze", x, call.integers([dim]), sizes=(*x.sizes[:dim], 1, *x.sizes[dim:]))


def squeeze(call):
    x = call.first
    given = call.get("dim")
    dims = range(x.rank) if given is None else [call.dimension(x, d) for d in listed(given, 1)]
    dims = [d for d in dims if x.sizes[d] == 1]
    if not dims:
        return x
    return call.emit("Squeeze", x, call.integers(dims), sizes=tuple(size for d, size in enumerate(x.sizes) if d not in dims))


def slice_(call):
    x = call.first
    dim = call.dimension(x, call.get("dim", 0))
    length = x.sizes[dim]

    def place(number, default):
        number = default if number is None else number
        return min(max(number + length if number < 0 else number, 0), length)
    start, end = place(call.get("start"), 0), place(call.get("end"), length)
    return call.slice(x, dim, start, max(start, end), call.get("step", 1))


def narrow(call):
    x = call.first
    dim = call.dimension(x, call.need("dim"))
    start = call.need("start")
    start = start + x.sizes[dim] if start < 0 else start
    return call.slice(x, dim, start, start + call.need("length"))


def select(call):
    x = call.first
    dim, index = call.dimension(x, call.need("dim")), call.need("index")
    index = index + x.sizes[dim] if index < 0 else index
    return call.emit("Gather", x, call.constant(index, "i64"), sizes=(*x.sizes[:dim], *x.sizes[dim + 1:]), axis=dim)


def split(call):
    x = call.first
    dim = call.dimension(x, call.get("dim", 0))
    length = x.sizes[dim]
    if call.name == "chunk":
        size = -(-length // call.need("chunks"))
        parts = [min(size, length - at) for at in range(0, length, size)]
    elif isinstance(given := call.get("split_sizes", call.get("split_size")), list):
        parts = given
    else:
        parts = [min(given, length - at) for at in range(0, length, given)]
    if len(parts) == 1:
        return [x]
    return call.emit("Split", x, call.integers(parts), outputs=len(parts), axis=dim,
                     sizes=[(*x.sizes[:dim], part, *x.sizes[dim + 1:]) for part in parts])


def unbind(call):
    x = call.first
    dim = call.dimension(x, call.get("dim", 0))
    sizes = (*x.sizes[:dim], *x.sizes[dim + 1:])
    if x.sizes[dim] == 1:
        return [call.reshaped(x, sizes)]
    one = (*x.sizes[:dim], 1, *x.sizes[dim + 1:])
    made = call.emit("Split", x, call.integers([1] * x.sizes[dim]), outputs=x.sizes[dim], axis=dim, sizes=[one] * x.sizes[dim])
    return [call.emit("Squeeze", value, call.integers([dim]), sizes=sizes) for value in made]


def cat(call):
    parts = [part for part in call.need("tensors") if part.sizes != (0,)]
    dtype = promoted(*parts)
    parts = [call.cast(part, dtype) for part in parts]
    dim = call.dimension(parts[0], call.get("dim", 0))
    if len(parts) == 1:
        return parts[0]
    sizes = list(parts[0].sizes)
    sizes[dim] = sum(part.sizes[dim] for part in parts)
    return call.emit("Concat", *parts, sizes=tuple(sizes), axis=dim)


def stack(call):
    parts = call.need("tensors")
    dim = call.get("dim", 0)
    dim = dim + parts[0].rank + 1 if dim < 0 else dim
    sizes = parts[0].sizes
    wide = [call.emit("Unsqueeze", part, call.integers([dim]), sizes=(*sizes[:dim], 1, *sizes[dim:])) for part in parts]
    return call.emit("Concat", *wide, sizes=(*sizes[:dim], len(parts), *sizes[dim:]), axis=dim)


def roll(call):
    x = call.first
    shifts, dims = call.need("shifts"), call.get("dims") or []
    if not dims:
        raise Unsupported("roll over the flattened tensor")
    for shift, dim in zip(shifts, dims):
        dim = call.dimension(x, dim)
        at = -shift % x.sizes[dim]
        if at:
            ends = (call.slice(x, dim, at, x.sizes[dim]), call.slice(x, dim, 0, at))
            x = call.emit("Concat", *ends, sizes=x.sizes, axis=dim)
    return x


def pad(call):
    x, ends, mode = call.first, call.need("pad"), call.get("mode", "constant")
    before, after = [0] * x.rank, [0] * x.rank
    for number in range(len(ends) // 2):
        before[x.rank - 1 - number], after[x.rank - 1 - number] = ends[2 * number], ends[2 * number + 1]
    if not any(before + after):
        return x
    names = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    sizes = tuple(size + b + a for size, b, a in zip(x.sizes, before, after))
    fill = [call.scalar(call.get("value") or 0.0, x.dtype)] if mode == "constant" else []
    return call.emit("Pad", x, call.integers(before + after), *fill, sizes=sizes, mode=names[mode])


def triangle(upper):
    def entry(call):
        return call.emit("Trilu", call.first, call.constant(call.get("diagonal", 0), "i64"), sizes=call.first.sizes, upper=upper)
    return entry


def diff(call):
    x, count = call.need("self"), call.get("n", 1)
    dim = call.dimension(x, call.get("dim", -1))
    parts = [part for part in (call.get("prepend"), x, call.get("append")) if part is not None]
    if count != 1 or x.dtype == "bool":
        raise Unsupported("a difference of higher order, or of truth values")
    if len(parts) > 1:
        sizes = list(x.sizes)
        sizes[dim] = sum(part.sizes[dim] for part in parts)
        x = call.emit("Concat", *parts, sizes=tuple(sizes), axis=dim)
    length = x.sizes[dim]
    later, earlier = call.slice(x, dim, 1, length), call.slice(x, dim, 0, length - 1)
    return call.emit("Sub", later, earlier, sizes=later.sizes)


def pixel_shuffle(call):
    x, factor = call.first, call.need("upscale_factor")
    *batch, channels, height, width = x.sizes
    return call.emit("DepthToSpace", x, sizes=(*batch, channels // factor**2, height * factor, width * factor), blocksize=factor, mode="CRD")


def resize(mode):
    def entry(call):
        x = call.need("self") if "self" in call.arguments else call.need("input")
        sizes, factors = call.get("output_size"), call.get("scale_factors")
        if sizes is None:
            sizes = [math.floor(size * factor) for size, factor in zip(x.sizes[2:], factors)]
        shape = (*x.sizes[:2], *sizes)
        if mode == "nearest":
            how = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        else:
            how = {"mode": mode, "coordinate_transformation_mode": "align_corners" if call.get("align_corners") else "half_pixel"}
            how |= {"cubic_coeff_a": -0.75} if mode == "cubic" else {}
        return call.emit("Resize", x, None, None, call.integers(shape), sizes=shape, **how)
    return entry


# --- looking up ------------------------------------------------------------------------------------------------------------------------------

def embedding(call):
    weight, indices = call.need("weight"), call.need("indices")
    return call.emit("Gather", weight, indices, sizes=(*indices.sizes, *weight.sizes[1:]))


def index_select(call):
    x, index = call.need("self"), call.need("index")
    dim = call.dimension(x, call.need("dim"))
    return call.emit("Gather", x, index, sizes=(*x.sizes[:dim], *index.sizes, *x.sizes[dim + 1:]), axis=dim)


def gather(call):
    index = call.need("index")
    return call.emit("GatherElements", call.need("self"), index, sizes=index.sizes, axis=call.need("dim"))


def index(call):
    x, indices = call.need("self"), call.need("indices")
    places = [place for place, item in enumerate(indices) if item is not None]
    if any(indices[place].dtype in ("bool", "u8") for place in places):
        raise Unsupported("a mask as index makes a result of unknown size")
    if len(places) == 1:
        place = places[0]
        return call.emit("Gather", x, indices[place], sizes=(*x.sizes[:place], *indices[place].sizes, *x.sizes[place + 1:]), axis=place)
    if places != list(range(len(places))):
        raise Unsupported("indices of dimensions other than the first ones")
    sizes = broadcast(*(indices[place].sizes for place in places))
    columns = []
    for place in places:
        item = indices[place]
        if item.sizes != sizes:
            item = call.emit("Expand", item, call.integers(sizes), sizes=sizes)
        columns.append(call.emit("Unsqueeze", item, call.integers([len(sizes)]), sizes=(*sizes, 1)))
    together = call.emit("Concat", *columns, sizes=(*sizes, len(places)), axis=len(sizes))
    return call.emit("GatherND", x, together, sizes=(*sizes, *x.sizes[len(places):]))


# --- made of nothing -------------------------------------------------------------------------------------------------------------------------

def filled(number):
    """A tensor of one number: ones, zeros, full, and those like another."""
    def entry(call):
        first = next((value for value in call.arguments.values() if isinstance(value, Value)), None)
        sizes = call.get("size")
        sizes = first.sizes if sizes is None else tuple(sizes)
        value = call.need("fill_value") if number is None else number
        if isinstance(value, Value):
            return call.emit("Expand", value, call.integers(sizes), sizes=sizes)
        dtype = str(call.get("dtype") or (first.dtype if first else promoted(value) if number is None else "f32"))
        return call.constant(numpy.full(sizes, value), dtype)
    return entry


def fill(call):
    x, value = call.need("self"), call.get("value", 0)
    if not isinstance(value, Value):
        return call.constant(numpy.full(x.sizes, value), x.dtype)
    return call.emit("Expand", call.cast(value, x.dtype), call.integers(x.sizes), sizes=x.sizes)


def copy(call):
    x, source = call.need("self"), call.cast(call.need("src"), call.need("self").dtype)
    return source if source.sizes == x.sizes else call.emit("Expand", source, call.integers(x.sizes), sizes=x.sizes)


def arange(call):
    start, end, step = call.get("start", 0), call.need("end"), call.get("step", 1)
    dtype = str(call.get("dtype") or ("i64" if all(isinstance(number, int) for number in (start, end, step)) else "f32"))
    return call.constant(numpy.arange(start, end, step), dtype)


UNARY = {"relu": "Relu", "abs": "Abs", "neg": "Neg", "sign": "Sign", "ceil": "Ceil", "floor": "Floor", "round": "Round",
         "hardswish": "HardSwish", "mish": "Mish", "logical_not": "Not", "bitwise_not": "Not"}
FLOATING = {"sigmoid": "Sigmoid", "tanh": "Tanh", "exp": "Exp", "log": "Log", "sqrt": "Sqrt", "sin": "Sin", "cos": "Cos", "erf": "Erf",
            "reciprocal": "Reciprocal"}
BINARY = {"add": "Add", "sub": "Sub", "rsub": "Sub", "mul": "Mul", "maximum": "Max", "minimum": "Min"}
COMPARISONS = {"eq": "Equal", "ne": "Equal", "lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual"}
SAME = ("alias", "clone", "contiguous", "detach", "lift_fresh_copy", "lift_fresh", "positive")

TABLE = {
    **{name: unary(kind) for name, kind in UNARY.items()},
    **{name: unary(kind, floating=True) for name, kind in FLOATING.items()},
    **{name: binary(kind) for name, kind in BINARY.items()},
    **{name: comparison(kind) for name, kind in COMPARISONS.items()},
    **{name: same for name in SAME},
    "div": div, "floor_divide": div, "pow": power, "remainder": remainder, "max": extremum("Max"), "min": extremum("Min"),
    "__and__": bitwise("And", "BitwiseAnd"), "__or__": bitwise("Or", "BitwiseOr"), "__xor__": bitwise("Xor", "BitwiseXor"),
    "bitwise_and": bitwise("And", "BitwiseAnd"), "bitwise_or": bitwise("Or", "BitwiseOr"), "bitwise_xor": bitwise("Xor", "BitwiseXor"),
    "logical_and": bitwise("And", ""), "logical_or": bitwise("Or", ""), "logical_xor": bitwise("Xor", ""),
    "clamp": clamp, "clamp_min": clamp, "clamp_max": clamp, "hardtanh": clamp, "relu6": clamp,
    "silu": silu, "rsqrt": rsqrt, "gelu": gelu, "hardsigmoid": hardsigmoid, "leaky_relu": leaky_relu, "elu": elu, "softplus": softplus,
    "prelu": prelu, "log1p": log1p, "where": where, "masked_fill": masked_fill,
    "matmul": matmul, "mm": matmul, "bmm": matmul, "linear": linear, "addmm": addmm, "baddbmm": baddbmm,
    "scaled_dot_product_attention": attention,
    "conv1d": convolution, "conv2d": convolution, "conv3d": convolution, "convolution": convolution,
    "conv_transpose1d": convolution, "conv_transpose2d": convolution, "conv_transpose3d": convolution,
    "max_pool1d": pool, "max_pool2d": pool, "max_pool3d": pool, "avg_pool1d": pool, "avg_pool2d": pool, "avg_pool3d": pool,
    "adaptive_avg_pool1d": adaptive_average_pool, "adaptive_avg_pool2d": adaptive_average_pool,
    "adaptive_avg_pool3d": adaptive_average_pool,
    "batch_norm": batch_norm, "layer_norm": layer_norm, "rms_norm": rms_norm, "group_norm": group_norm,
    "softmax": softmax("Softmax"), "_softmax": softmax("Softmax"), "log_softmax": softmax("LogSoftmax"),
    "_log_softmax": softmax("LogSoftmax"),
    "mean": reduction("ReduceMean"), "sum": reduction("ReduceSum"), "amax": reduction("ReduceMax"), "amin": reduction("ReduceMin"),
    "prod": reduction("ReduceProd"), "linalg_vector_norm": vector_norm, "argmax": argument_of("ArgMax"), "argmin": argument_of("ArgMin"),
    "cumsum": cumsum,
    "dropout": dropout, "feature_dropout": dropout, "to": to, "_to_copy": to, "type_as": to,
    "view": view, "reshape": view, "_unsafe_view": view, "view_as": view, "reshape_as": view, "flatten": flatten, "unflatten": unflatten,
    "permute": permute, "transpose": transpose, "t": transpose, "swapaxes": transpose, "swapdims": transpose,
    "expand": expand, "expand_as": expand, "repeat": repeat, "unsqueeze": unsqueeze, "squeeze": squeeze,
    "slice": slice_, "narrow": narrow, "select": select, "split": split, "split_with_sizes": split, "chunk": split, "unbind": unbind,
    "cat": cat, "concat": cat, "stack": stack, "roll": roll, "pad": pad, "constant_pad_nd": pad,
    "tril": triangle(0), "triu": triangle(1), "diff": diff, "pixel_shuffle": pixel_shuffle,
    "upsample_nearest2d": resize("nearest"), "upsample_bilinear2d": resize("linear"), "upsample_bicubic2d": resize("cubic"),
    "embedding": embedding, "index_select": index_select, "gather": gather, "index": index,
    "ones": filled(1), "zeros": filled(0), "full": filled(None), "ones_like": filled(1), "zeros_like": filled(0), "full_like": filled(None),
    "new_ones": filled(1), "new_zeros": filled(0), "new_full": filled(None), "fill": fill, "zero": fill, "copy": copy, "arange": arange,
}

# Arguments that hold weights in a network: constants of the model, so that ONNX Runtime folds and packs them ahead as it does there.
WEIGHTS = {
    "linear": ("weight", "bias"), "addmm": ("self", "mat2"), "batch_norm": ("weight", "bias", "running_mean", "running_var"),
    "layer_norm": ("weight", "bias"), "rms_norm": ("weight",), "group_norm": ("weight", "bias"), "embedding": ("weight",),
    "prelu": ("weight",),
    **{name: ("weight", "bias") for name in TABLE if name.startswith("conv")},
}


def write(call):
    """The list of values that the call makes. Raises Unsupported."""
    namespace = call.operation.target.partition("::")[0]
    entry = TABLE.get(call.name) if namespace == "aten" else None
    if entry is None:
        raise Unsupported(f"there is no ONNX form of {call.operation.target}")
    try:
        made = entry(call)
    except (ValueError, IndexError, TypeError, KeyError, ZeroDivisionError) as error:
        # numpy says so of shapes that do not go together, and arguments of other kinds end here too.
        raise Unsupported(f"{call.operation.target}: {error}") from None
    return list(made) if isinstance(made, (list, tuple)) else [made]


__all__ = ["TABLE", "WEIGHTS", "write"]
