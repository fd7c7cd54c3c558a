#!/usr/bin/env python3
"""Writes tests/graph/data/strides.txt: calls on tensors of all kinds of strides, and the strides of what torch returns on the CPU.

    <python with torch> tools/make_stride_samples.py

Random, but the same on every run. One call a line, as in tests/graph/records.txt: call -> output types.
"""
import json
import pathlib
import random

import torch

from check_records import NAMES, overload, type_text

RANDOM = random.Random(10)
IMAGES = {4: torch.channels_last, 5: torch.channels_last_3d}


def laid_out(sizes, kind, dtype=torch.float32):
    """A tensor of these sizes whose strides are of that kind; dimensions of one element get the strides that joulecast writes."""
    sizes = list(sizes)
    order = list(range(len(sizes)))
    if kind in ("permuted", "both"):
        RANDOM.shuffle(order)
    stored = [sizes[d] for d in order]
    if kind in ("gapped", "both"):
        stored = [size + RANDOM.choice([0, 0, 1, 3]) for size in stored]
    strides = [0] * len(sizes)
    stride = 1
    for place in reversed(range(len(order))):
        strides[order[place]] = stride
        stride *= max(stored[place], 1)
    if kind == "steps" and sizes:
        strides[RANDOM.randrange(len(sizes))] *= 2 * max(sizes)
    if kind == "expanded" and sizes:
        strides[RANDOM.randrange(len(sizes))] = 0
    if kind == "last" and len(sizes) in IMAGES:
        strides = list(torch.empty(sizes, device="meta").contiguous(memory_format=IMAGES[len(sizes)]).stride())
    return canonical(sizes, strides, dtype)


def canonical(sizes, strides, dtype):
    meta = torch.empty_strided(sizes, strides, dtype=dtype, device="meta")
    if meta.is_contiguous():
        strides = torch.empty(sizes, device="meta").stride()
    elif len(sizes) in IMAGES and meta.is_contiguous(memory_format=IMAGES[len(sizes)]):
        strides = torch.empty(sizes, device="meta").contiguous(memory_format=IMAGES[len(sizes)]).stride()
    else:
        strides, extent = list(strides), 1
        for i in reversed(range(len(sizes))):
            if sizes[i] == 1:
                strides[i] = extent
            extent = max(extent, sizes[i] * strides[i])
    span = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides)) if 0 not in sizes else 0
    storage = torch.ones(span, dtype=dtype) if dtype.is_floating_point else torch.zeros(span, dtype=dtype)
    return storage.as_strided(sizes, strides)


KINDS = ("contiguous", "permuted", "gapped", "both", "steps", "expanded", "last")


def tensor(sizes, dtype=torch.float32, kinds=KINDS):
    return laid_out(sizes, RANDOM.choice(kinds), dtype)


def some_sizes(low=1, high=5):
    return [RANDOM.choice([1, 2, 3, 4, 6]) for _ in range(RANDOM.randint(low, high))]


def image(rank=4):
    return [RANDOM.choice([1, 2, 3]), RANDOM.choice([1, 4, 6]), *[RANDOM.choice([1, 5, 8]) for _ in range(rank - 2)]]


def smaller(sizes):
    """Sizes that broadcast to those."""
    kept = [RANDOM.choice([size, size, 1]) for size in sizes]
    return kept[RANDOM.choice([0, 0, min(1, len(kept))]):]


def split(number):
    """Factors of a number, in two."""
    first = RANDOM.choice([d for d in range(1, number + 1) if number % d == 0])
    return [first, number // first]


def new_shape(sizes):
    """Neighbours joined or taken apart."""
    shape = list(sizes)
    for _ in range(RANDOM.randint(1, 2)):
        at = RANDOM.randrange(len(shape)) if shape else 0
        if RANDOM.random() < 0.5 and at + 1 < len(shape):
            shape[at:at + 2] = [shape[at] * shape[at + 1]]
        elif shape:
            shape[at:at + 1] = split(shape[at])
    return shape


def dim_of(sizes):
    return RANDOM.randrange(-len(sizes), len(sizes))


def views():
    sizes = some_sizes()
    x = tensor(sizes)
    d = dim_of(sizes)
    other = dim_of(sizes)
    size = sizes[d]
    order = list(range(len(sizes)))
    RANDOM.shuffle(order)
    start, end = sorted((d % len(sizes), other % len(sizes)))
    grown = [RANDOM.choice([2, 1])] * RANDOM.choice([0, 1]) + [s if s > 1 else RANDOM.choice([1, 3]) for s in sizes]
    return [
        ("view", dict(self=x, size=new_shape(sizes))),
        ("reshape", dict(self=x, shape=new_shape(sizes))),
        ("reshape", dict(self=x, shape=new_shape(sizes))),
        ("reshape", dict(self=x, shape=[-1])),
        ("flatten.using_ints", dict(self=x, start_dim=start, end_dim=end)),
        ("unflatten.int", dict(self=x, dim=d, sizes=split(size))),
        ("squeeze", dict(self=x)), ("squeeze.dim", dict(self=x, dim=d)), ("unsqueeze", dict(self=x, dim=d)),
        ("permute", dict(self=x, dims=order)), ("transpose.int", dict(self=x, dim0=d, dim1=other)),
        ("movedim.int", dict(self=x, source=d, destination=other)),
        ("expand", dict(self=x, size=grown)),
        ("select.int", dict(self=x, dim=d, index=RANDOM.randrange(size))),
        ("slice.Tensor", dict(self=x, dim=d, start=RANDOM.randrange(size), end=size, step=RANDOM.choice([1, 2, 3]))),
        ("narrow", dict(self=x, dim=d, start=0, length=RANDOM.randint(1, size))),
        ("split.Tensor", dict(self=x, split_size=RANDOM.randint(1, size), dim=d)),
        ("chunk", dict(self=x, chunks=RANDOM.randint(1, 3), dim=d)), ("unbind.int", dict(self=x, dim=d)),
        ("unfold", dict(self=x, dimension=d, size=RANDOM.randint(1, size), step=RANDOM.choice([1, 2]))),
    ]


def copies():
    x = tensor(some_sizes())
    y = tensor(image(RANDOM.choice([4, 4, 5])))
    formats = [torch.contiguous_format, torch.preserve_format, IMAGES[y.dim()]]
    pads = [RANDOM.choice([0, 1, 2, -1]) if size > 1 else RANDOM.choice([0, 1]) for size in reversed(y.shape[2:]) for _ in range(2)]
    d = dim_of(y.shape)
    return [
        ("clone", dict(self=x)), ("clone", dict(self=y, memory_format=RANDOM.choice(formats))),
        ("contiguous", dict(self=x)), ("contiguous", dict(self=y, memory_format=RANDOM.choice([formats[0], formats[2]]))),
        ("to.dtype", dict(self=x, dtype=torch.float64)), ("to.dtype", dict(self=x, dtype=torch.float32)),
        ("to.dtype", dict(self=y, dtype=RANDOM.choice([torch.float32, torch.bfloat16]), memory_format=RANDOM.choice(formats))),
        ("_to_copy", dict(self=x, dtype=torch.bfloat16)), ("type_as", dict(self=x, other=torch.zeros(1, dtype=torch.float64))),
        ("empty_like", dict(self=x)), ("zeros_like", dict(self=y, memory_format=RANDOM.choice(formats))),
        ("cat", dict(tensors=[y, tensor(y.shape, kinds=RANDOM.choice([("last",), KINDS]))], dim=d)),
        ("cat", dict(tensors=[x, tensor(x.shape)], dim=dim_of(x.shape))),
        ("stack", dict(tensors=[x, tensor(x.shape)], dim=dim_of(x.shape))),
        ("constant_pad_nd", dict(self=y, pad=pads)), ("pad", dict(self=y, pad=[max(p, 0) for p in pads])),
        ("roll", dict(self=y, shifts=[1], dims=[d])), ("roll", dict(self=y, shifts=[1, 2], dims=[1, 2])), ("flip", dict(self=y, dims=[d])),
        ("repeat", dict(self=x, repeats=[2] * x.dim())),
        ("index_select", dict(self=x, dim=dim_of(x.shape), index=torch.zeros(2, dtype=torch.int64))),
        ("gather", dict(self=x, dim=dim_of(x.shape), index=tensor(x.shape, torch.int64))),
        ("index.Tensor", dict(self=x, indices=[tensor(some_sizes(1, 2), torch.int64)])),
        ("index.Tensor", dict(self=y, indices=[None, tensor(some_sizes(1, 2), torch.int64)])),
        ("index.Tensor", dict(self=y, indices=[tensor([2, 1], torch.int64), None, tensor([3], torch.int64)])),
        ("embedding", dict(weight=tensor([5, 4]), indices=tensor(some_sizes(1, 3), torch.int64))),
        ("reflection_pad2d", dict(self=tensor([2, 3, 5, 6]), padding=[1, 2, 1, 0])),
        ("replication_pad2d", dict(self=tensor([2, 3, 5, 6]), padding=[1, 2, 1, 0])),
        ("reflection_pad1d", dict(self=tensor([2, 3, 6]), padding=[1, 2])), ("tril", dict(self=y)),
        ("bernoulli", dict(self=x)), ("scatter.value", dict(self=x, dim=0, index=tensor(x.shape, torch.int64), value=1.0)),
        ("scatter_add", dict(self=x, dim=0, index=tensor(x.shape, torch.int64), src=x)),
        ("index_add", dict(self=x, dim=0, index=torch.zeros(x.shape[0], dtype=torch.int64), source=x)),
    ]


def elementwise():
    sizes = RANDOM.choice([some_sizes(), image()])
    x, y, z = tensor(sizes), tensor(smaller(sizes)), tensor(smaller(sizes))
    mask = tensor(smaller(sizes), torch.bool)
    same = tensor(sizes)
    return [
        ("relu", dict(self=x)), ("gelu", dict(self=x)), ("hardtanh", dict(self=x)), ("sqrt", dict(self=tensor(sizes, torch.int64))),
        ("isnan", dict(self=x)), ("add.Tensor", dict(self=x, other=y)), ("add.Tensor", dict(self=y, other=x)),
        ("mul.Tensor", dict(self=x, other=same)), ("mul.Tensor", dict(self=y, other=z)), ("mul.Scalar", dict(self=x, other=2.0)),
        ("div.Tensor", dict(self=x, other=tensor([]))), ("eq.Tensor", dict(self=x, other=y)), ("lt.Scalar", dict(self=x, other=0.5)),
        ("maximum", dict(self=same, other=x)), ("pow.Tensor_Scalar", dict(self=x, exponent=2)), ("rsub.Scalar", dict(self=x, other=1.0)),
        ("addcmul", dict(self=x, tensor1=y, tensor2=z)), ("lerp.Tensor", dict(self=x, end=same, weight=y)),
        ("where.self", dict(condition=mask, self=x, other=y)), ("masked_fill.Scalar", dict(self=x, mask=mask, value=0.0)),
        ("add_.Tensor", dict(self=laid_out(sizes, RANDOM.choice(["permuted", "gapped", "last"])), other=y)),
        ("dropout", dict(input=x, p=0.5, train=RANDOM.choice([True, False]))), ("glu", dict(self=tensor([*sizes, 4]), dim=-1)),
        ("mse_loss", dict(self=x, target=same, reduction=0)), ("bitwise_not", dict(self=mask)), ("clamp", dict(self=x, min=0.0)),
        ("binary_cross_entropy_with_logits", dict(self=x, target=same, reduction=0)), ("logical_not", dict(self=x)),
        ("threshold", dict(self=x, threshold=0.0, value=1.0)), ("atan2", dict(self=x, other=y)), ("silu", dict(self=x)),
    ]


def kernels():
    n, c = RANDOM.choice([1, 2]), RANDOM.choice([2, 4, 6])
    h, w = RANDOM.choice([(7, 7), (9, 8), (5, 1)])
    x = tensor([n, c, h, w])
    k = RANDOM.choice([1, 3] if w > 1 else [1])
    weight = tensor([8, c, k, k], kinds=("contiguous", "contiguous", "last", "permuted"))
    volume = tensor([n, c, 4, 5, 6])
    row = tensor([n, c, 9])
    statistics = torch.ones(c)
    pool = dict(kernel_size=[1, 1] if w == 1 else [2, 2])
    return [
        ("conv2d", dict(input=x, weight=weight)), ("conv2d", dict(input=x, weight=weight, bias=torch.ones(8), padding=[k // 2, k // 2])),
        ("conv2d", dict(input=x, weight=tensor([c, 1, k, k], kinds=("contiguous", "last")), groups=c)),
        ("conv2d", dict(input=tensor([c, h, w]), weight=weight)),
        ("conv1d", dict(input=row, weight=tensor([8, c, 3], kinds=("contiguous", "permuted")))),
        ("conv3d", dict(input=volume, weight=tensor([8, c, 1, 1, 1], kinds=("contiguous", "last")))),
        ("conv_transpose2d.input", dict(input=x, weight=tensor([c, 5, 2, 2], kinds=("contiguous", "last")), stride=[2, 2])),
        ("conv_transpose1d", dict(input=row, weight=tensor([c, 5, 2], kinds=("contiguous",)))),
        ("batch_norm", dict(input=x, weight=statistics, bias=statistics, running_mean=statistics, running_var=statistics, training=False,
                            momentum=0.1, eps=1e-5, cudnn_enabled=True)),
        ("batch_norm", dict(input=x, weight=None, bias=None, running_mean=None, running_var=None, training=True,
                            momentum=0.1, eps=1e-5, cudnn_enabled=True)),
        ("group_norm", dict(input=x, num_groups=2)), ("layer_norm", dict(input=x, normalized_shape=[w])),
        ("instance_norm", dict(input=tensor([n, c, 7, 7]), weight=None, bias=None, running_mean=None, running_var=None, use_input_stats=True,
                               momentum=0.1, eps=1e-5, cudnn_enabled=True)),
        ("rms_norm", dict(input=x, normalized_shape=[w])),
        ("max_pool2d", dict(self=x, **pool)), ("avg_pool2d", dict(self=x, **pool)), ("max_pool2d_with_indices", dict(self=x, **pool)),
        ("max_pool1d", dict(self=row, kernel_size=[2])), ("avg_pool1d", dict(self=row, kernel_size=[2])),
        ("max_pool2d", dict(self=tensor([c, h, w]), **pool)),
        ("max_pool3d", dict(self=volume, kernel_size=[2, 2, 2])), ("avg_pool3d", dict(self=volume, kernel_size=[2, 2, 2])),
        ("adaptive_avg_pool2d", dict(self=x, output_size=RANDOM.choice([[1, 1], [2, 3]]))),
        ("adaptive_max_pool2d", dict(self=x, output_size=[2, 3])), ("adaptive_avg_pool1d", dict(self=row, output_size=[2])),
        ("adaptive_avg_pool3d", dict(self=volume, output_size=[2, 2, 2])),
        ("softmax.int", dict(self=x, dim=dim_of(x.shape))), ("log_softmax.int", dict(self=x, dim=1)), ("cumsum", dict(self=x, dim=1)),
        ("mean.dim", dict(self=x, dim=[RANDOM.randrange(4)], keepdim=RANDOM.choice([True, False]))), ("sum.dim_IntList", dict(self=x, dim=[1])),
        ("amax", dict(self=x, dim=[-1])), ("max.dim", dict(self=x, dim=1)), ("argmax", dict(self=x, dim=1)), ("var.correction", dict(self=x, dim=[2])),
        ("std.correction", dict(self=x, dim=[1], keepdim=True)), ("logsumexp", dict(self=x, dim=[1])), ("cumprod", dict(self=x, dim=2)),
        ("linalg_vector_norm", dict(self=x, dim=[1], keepdim=True)), ("prod.dim_int", dict(self=x, dim=1)), ("any.dim", dict(self=x, dim=1)),
        ("sort", dict(self=x, dim=1)), ("topk", dict(self=x, k=1, dim=1)), ("diff", dict(self=x, dim=2)),
        ("linear", dict(input=tensor([n, 5, 6]), weight=tensor([4, 6]), bias=torch.ones(4))), ("mm", dict(self=tensor([3, 4]), mat2=tensor([4, 5]))),
        ("matmul", dict(self=x, other=tensor([w, 3]))), ("matmul", dict(self=tensor([3, h]), other=x)), ("matmul", dict(self=x, other=tensor([w]))),
        ("bmm", dict(self=tensor([2, 3, 4]), mat2=tensor([2, 4, 5]))), ("addmm", dict(self=tensor([5]), mat1=tensor([3, 4]), mat2=tensor([4, 5]))),
        ("baddbmm", dict(self=tensor([2, 3, 5]), batch1=tensor([2, 3, 4]), batch2=tensor([2, 4, 5]))),
        ("scaled_dot_product_attention", dict(query=tensor([2, 3, 9, 4]), key=tensor([2, 3, 7, 4]), value=tensor([2, 3, 7, 4]))),
        ("scaled_dot_product_attention", dict(query=tensor([2, 3, 9, 4], kinds=("permuted", "both")), key=tensor([2, 3, 7, 4], kinds=("contiguous",)),
                                              value=tensor([2, 3, 7, 4], kinds=("contiguous",)), attn_mask=tensor([9, 7]))),
        ("scaled_dot_product_attention", dict(query=tensor([3, 9, 4]), key=tensor([3, 7, 4]), value=tensor([3, 7, 4]))),
    ]


def value_text(value):
    if isinstance(value, torch.Tensor):
        return type_text(value)
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(value_text(item) for item in value) + "]"
    if isinstance(value, torch.dtype):
        return NAMES[value]
    if isinstance(value, torch.memory_format):
        return json.dumps(str(value).removeprefix("torch."))
    return "none" if value is None else json.dumps(value)


def main():
    lines = {}
    for make, rounds in ((views, 14), (copies, 14), (elementwise, 12), (kernels, 12)):
        for _ in range(rounds):
            for name, arguments in make():
                call = f"aten::{name}({', '.join(f'{key}={value_text(value)}' for key, value in arguments.items())})"
                try:
                    outputs = overload("aten::" + name)(**arguments)
                except (RuntimeError, IndexError):
                    # What torch refuses, above all views that strides do not allow.
                    lines[call] = "refused" if name == "view" else None
                    continue
                outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
                lines[call] = " ".join(type_text(output) for output in outputs)
    path = pathlib.Path(__file__).parent.parent / "tests/graph/data/strides.txt"
    header = f"# What torch {torch.__version__.split('+')[0]} returns on the CPU. Written by tools/make_stride_samples.py.\n"
    path.write_text(header + "".join(f"{call} -> {outputs}\n" for call, outputs in lines.items() if outputs is not None))
    print(len(lines), "calls,", sum(outputs is None for outputs in lines.values()), "refused and left out")


if __name__ == "__main__":
    main()
