"""Convolutions and pools. See translation.py."""
import numpy

from joulecast_measuring.requests import Unsupported
from joulecast_onnxruntime.arguments import listed
from joulecast_onnxruntime.products import product


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


TABLE = {
    "conv1d": convolution, "conv2d": convolution, "conv3d": convolution, "convolution": convolution, "conv_transpose1d": convolution,
    "conv_transpose2d": convolution, "conv_transpose3d": convolution, "max_pool1d": pool, "max_pool2d": pool, "max_pool3d": pool,
    "avg_pool1d": pool, "avg_pool2d": pool, "avg_pool3d": pool, "adaptive_avg_pool1d": adaptive_average_pool,
    "adaptive_avg_pool2d": adaptive_average_pool, "adaptive_avg_pool3d": adaptive_average_pool,
}
