"""What is looked up in a tensor, and tensors made of nothing. See translation.py."""
import numpy

from joulecast_measuring.requests import Unsupported
from joulecast_onnxruntime.arguments import broadcast
from joulecast_onnxruntime.writer import Value, promoted


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


TABLE = {
    "embedding": embedding, "index_select": index_select, "gather": gather, "index": index, "ones": filled(1), "zeros": filled(0),
    "full": filled(None), "ones_like": filled(1), "zeros_like": filled(0), "full_like": filled(None), "new_ones": filled(1),
    "new_zeros": filled(0), "new_full": filled(None), "fill": fill, "zero": fill, "copy": copy, "arange": arange,
}
