"""Reductions. See translation.py."""
import math

from joulecast_measuring.requests import Unsupported
from joulecast_onnxruntime.arguments import listed
from joulecast_onnxruntime.elementwise import binary


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


TABLE = {
    "max": extremum("Max"), "min": extremum("Min"), "mean": reduction("ReduceMean"), "sum": reduction("ReduceSum"),
    "amax": reduction("ReduceMax"), "amin": reduction("ReduceMin"), "prod": reduction("ReduceProd"), "linalg_vector_norm": vector_norm,
    "argmax": argument_of("ArgMax"), "argmin": argument_of("ArgMin"), "cumsum": cumsum,
}
