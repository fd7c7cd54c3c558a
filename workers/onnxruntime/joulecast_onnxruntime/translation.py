"""ATen operations as ONNX nodes: one entry each in the TABLE of its family's file, by the operation's name without overload.

An entry takes a Call and returns the value that the call makes, or a list of them. To add an operation, write its function and its line; the
test of this folder compares every entry with torch. What ONNX cannot say raises Unsupported with the reason.
"""
from joulecast_measuring.requests import Unsupported
from joulecast_onnxruntime import convolutions, elementwise, lookups, normalizations, products, reductions, shapes

TABLE = {
    name: entry
    for family in (elementwise, products, convolutions, normalizations, reductions, shapes, lookups)
    for name, entry in family.TABLE.items()
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
