"""Normalisation and softmax. See translation.py."""
import math

import numpy

from joulecast_measuring.requests import Unsupported


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


TABLE = {
    "batch_norm": batch_norm, "layer_norm": layer_norm, "rms_norm": rms_norm, "group_norm": group_norm, "softmax": softmax("Softmax"),
    "_softmax": softmax("Softmax"), "log_softmax": softmax("LogSoftmax"), "_log_softmax": softmax("LogSoftmax"),
}
