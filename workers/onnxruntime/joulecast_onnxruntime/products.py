"""Matrix products and attention. See translation.py."""
import math

import numpy

from joulecast_measuring.requests import Unsupported
from joulecast_onnxruntime.arguments import broadcast


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


TABLE = {
    "matmul": matmul, "mm": matmul, "bmm": matmul, "linear": linear, "addmm": addmm, "baddbmm": baddbmm,
    "scaled_dot_product_attention": attention,
}
