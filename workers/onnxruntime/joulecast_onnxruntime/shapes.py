"""Views, copies and what moves elements. See translation.py."""
import math

from joulecast_measuring.requests import Unsupported
from joulecast_onnxruntime.arguments import listed
from joulecast_onnxruntime.writer import Value, promoted


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


SAME = ("alias", "clone", "contiguous", "detach", "lift_fresh_copy", "lift_fresh", "positive")

TABLE = {
    **{name: same for name in SAME},
    "dropout": dropout, "feature_dropout": dropout, "to": to, "_to_copy": to, "type_as": to, "view": view, "reshape": view,
    "_unsafe_view": view, "view_as": view, "reshape_as": view, "flatten": flatten, "unflatten": unflatten, "permute": permute,
    "transpose": transpose, "t": transpose, "swapaxes": transpose, "swapdims": transpose, "expand": expand, "expand_as": expand,
    "repeat": repeat, "unsqueeze": unsqueeze, "squeeze": squeeze, "slice": slice_, "narrow": narrow, "select": select, "split": split,
    "split_with_sizes": split, "chunk": split, "unbind": unbind, "cat": cat, "concat": cat, "stack": stack, "roll": roll, "pad": pad,
    "constant_pad_nd": pad, "tril": triangle(0), "triu": triangle(1), "diff": diff, "pixel_shuffle": pixel_shuffle,
    "upsample_nearest2d": resize("nearest"), "upsample_bilinear2d": resize("linear"), "upsample_bicubic2d": resize("cubic"),
}
