#!/usr/bin/env python3
"""Which ATen targets do networks contain that joulecast has no record of?

    list_missing_records.py --records build/tests/graph/graph_print_records [--only WORD...] [--gradients]

Exports modules of torch.nn and small forms of the networks of torchvision and transformers (in eval and train form, as
they are and decomposed to core ATen, and with --gradients the joint graph of forward and backward), counts the targets
and prints those without a record, the most frequent first, with an example, and the share of nodes that have one. What
cannot be exported is named. Needs torch; torchvision and transformers where present.
"""
import argparse
import collections
import functools
import json
import logging
import subprocess
import sys
import warnings

import torch
from torch import nn
from torch.nn import functional as F

R = torch.randn
DTYPES = {torch.uint8: "u8", torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64", torch.float16: "f16", torch.float32: "f32",
          torch.float64: "f64", torch.complex64: "c64", torch.complex128: "c128", torch.bool: "bool", torch.bfloat16: "bf16"}


class Call(nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def layers():
    x1, x2, x3 = R(2, 4, 16), R(2, 4, 16, 16), R(2, 4, 8, 8, 8)
    yield "Conv1d", nn.Conv1d(4, 8, 3, padding="same"), (x1,)
    yield "Conv3d", nn.Conv3d(4, 8, 3, padding_mode="circular", padding=1), (x3,)
    for n, x in ((1, x1), (2, x2), (3, x3)):
        for name in ("ConvTranspose", "MaxPool", "AvgPool", "LPPool", "BatchNorm", "InstanceNorm", "AdaptiveAvgPool", "AdaptiveMaxPool",
                     "ReflectionPad", "ReplicationPad", "ConstantPad", "ZeroPad", "CircularPad", "Dropout"):
            arguments = {"ConvTranspose": (4, 8, 3, 2), "MaxPool": (2,), "AvgPool": (2,), "LPPool": (2, 2), "BatchNorm": (4,),
                         "InstanceNorm": (4, 1e-5, 0.1, True, True), "AdaptiveAvgPool": (3,), "AdaptiveMaxPool": (3,),
                         "ConstantPad": (1, 0.5), "Dropout": (0.5,)}.get(name, (1,))
            if hasattr(nn, f"{name}{n}d"):
                yield f"{name}{n}d", getattr(nn, f"{name}{n}d")(*arguments), (x,)
        yield f"MaxUnpool{n}d", Call(lambda x, n=n: getattr(F, f"max_unpool{n}d")(*getattr(F, f"max_pool{n}d")(x, 2, return_indices=True), 2)), (x,)
        yield f"AdaptiveMaxPool{n}d_indices", getattr(nn, f"AdaptiveMaxPool{n}d")(2, return_indices=True), (x,)
    yield "FractionalMaxPool2d", nn.FractionalMaxPool2d(3, output_size=5), (x2,)
    yield "FractionalMaxPool3d", nn.FractionalMaxPool3d(3, output_size=3), (x3,)
    for name in ("ELU", "Hardshrink", "Hardsigmoid", "Hardtanh", "Hardswish", "LeakyReLU", "LogSigmoid", "PReLU", "ReLU", "ReLU6", "RReLU", "SELU",
                 "CELU", "GELU", "Sigmoid", "SiLU", "Mish", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "GLU", "Softmin",
                 "Softmax", "LogSoftmax", "Softmax2d"):
        module = getattr(nn, name)
        options = {"dim": -1} if name in ("Softmin", "Softmax", "LogSoftmax") else {}
        yield name, module(**options), (x2,)
        if name in ("ELU", "Hardsigmoid", "Hardtanh", "Hardswish", "LeakyReLU", "ReLU", "ReLU6", "RReLU", "SELU", "CELU", "SiLU", "Mish"):
            yield name + "_inplace", nn.Sequential(nn.Conv2d(4, 4, 1), module(inplace=True)), (x2,)
    yield "Threshold", nn.Threshold(0.1, 0.0), (x2,)
    for name in ("AlphaDropout", "FeatureAlphaDropout", "Dropout", "Dropout2d"):
        yield name, getattr(nn, name)(0.3), (x2,)
        yield name + "_inplace", nn.Sequential(nn.Conv2d(4, 4, 1), getattr(nn, name)(0.3, True)), (x2,)
    yield "GroupNorm", nn.GroupNorm(2, 4), (x2,)
    yield "LayerNorm", nn.LayerNorm(16), (x2,)
    yield "RMSNorm", nn.RMSNorm(16), (x2,)
    yield "LocalResponseNorm", nn.LocalResponseNorm(3), (x2,)
    yield "CrossMapNorm", nn.CosineSimilarity(), (x2, R(2, 4, 16, 16))
    yield "PairwiseDistance", nn.PairwiseDistance(), (R(4, 8), R(4, 8))
    yield "normalize", Call(lambda x: F.normalize(x)), (x2,)
    yield "weight_norm", nn.utils.parametrizations.weight_norm(nn.Linear(16, 4)), (x2,)
    yield "spectral_norm", nn.utils.parametrizations.spectral_norm(nn.Linear(16, 4)), (x2,)
    for kind in ("RNN", "LSTM", "GRU"):
        for options in ({}, {"num_layers": 2, "bidirectional": True}, {"num_layers": 3, "dropout": 0.2, "batch_first": True}, {"bias": False}):
            yield f"{kind}{options}", getattr(nn, kind)(4, 8, **options), (R(5, 2, 4),)
    yield "RNN_relu", nn.RNN(4, 8, nonlinearity="relu"), (R(5, 2, 4),)
    yield "LSTM_proj", nn.LSTM(4, 8, proj_size=3), (R(5, 2, 4),)
    for kind in ("RNNCell", "LSTMCell", "GRUCell"):
        yield kind, getattr(nn, kind)(4, 8), (R(2, 4),)
    yield "MultiheadAttention", nn.MultiheadAttention(16, 4, batch_first=True), (R(2, 5, 16),) * 3
    yield "MultiheadAttention_weights", Call(nn.MultiheadAttention(16, 4, add_bias_kv=True)), (R(5, 2, 16),) * 3
    yield "Transformer", nn.Transformer(16, 2, 1, 1, 32), (R(5, 2, 16), R(6, 2, 16))
    yield "TransformerEncoder", nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2), (R(2, 5, 16),)
    yield "Bilinear", nn.Bilinear(4, 5, 6), (R(2, 4), R(2, 5))
    for mode, xs in (("nearest", (x1, x2, x3)), ("nearest-exact", (x1, x2, x3)), ("linear", (x1,)), ("bilinear", (x2,)), ("bicubic", (x2,)), ("trilinear", (x3,)), ("area", (x1, x2, x3))):
        for x in xs:
            yield f"Upsample_{mode}{x.dim()}", Call(lambda x, m=mode: F.interpolate(x, scale_factor=2.0, mode=m)), (x,)
            yield f"Upsample_size_{mode}{x.dim()}", Call(lambda x, m=mode: F.interpolate(x, size=[20] * (x.dim() - 2), mode=m)), (x,)
    yield "antialias", Call(lambda x: (F.interpolate(x, (8, 9), mode="bilinear", antialias=True), F.interpolate(x, (8, 9), mode="bicubic", antialias=True))), (x2,)
    yield "Shuffles", Call(lambda x: (F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 2), F.channel_shuffle(x, 2))), (x2,)
    yield "Fold", nn.Sequential(nn.Unfold(3, padding=1), nn.Fold((16, 16), 3, padding=1)), (x2,)
    yield "Embedding", nn.Embedding(10, 4, padding_idx=0, max_norm=1.0), (torch.randint(10, (2, 3)),)
    for mode in ("sum", "mean", "max"):
        yield "EmbeddingBag_" + mode, nn.EmbeddingBag(10, 4, mode=mode), (torch.randint(10, (2, 3)),)
    yield "EmbeddingBag_offsets", nn.EmbeddingBag(10, 4), (torch.randint(10, (6,)), torch.tensor([0, 2, 4]))
    yield "grid", Call(lambda x, t: F.grid_sample(x, F.affine_grid(t, x.shape, align_corners=False), align_corners=False)), (x2, R(2, 2, 3))
    yield "grid3d", Call(lambda x, t: F.grid_sample(x, F.affine_grid(t, x.shape, align_corners=False), align_corners=False)), (x3, R(2, 3, 4))
    for mode in ("constant", "reflect", "replicate", "circular"):
        for x in (x1, x2, x3):
            yield f"pad_{mode}{x.dim()}", Call(lambda x, m=mode: F.pad(x, [1, 2] * (x.dim() - 2), mode=m)), (x,)


def losses():
    a, b, c = R(4, 5).sigmoid(), R(4, 5).sigmoid(), torch.randint(5, (4,))
    for reduction in ("mean", "sum", "none"):
        for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "binary_cross_entropy", "binary_cross_entropy_with_logits",
                     "soft_margin_loss", "multilabel_soft_margin_loss", "poisson_nll_loss", "hinge_embedding_loss"):
            yield f"{name}_{reduction}", Call(lambda a, b, n=name, r=reduction: getattr(F, n)(a, b, reduction=r)), (a, b)
        for name in ("cross_entropy", "nll_loss", "multi_margin_loss"):
            yield f"{name}_{reduction}", Call(lambda a, c, n=name, r=reduction: getattr(F, n)(a, c, reduction=r)), (a, c)
        yield "nll_loss2d_" + reduction, Call(lambda a, c, r=reduction: F.nll_loss(a, c, reduction=r)), (R(2, 5, 3, 3), torch.randint(5, (2, 3, 3)))
        yield "cross_entropy2d_" + reduction, Call(lambda a, c, r=reduction: F.cross_entropy(a, c, reduction=r)), (R(2, 5, 3, 3), torch.randint(5, (2, 3, 3)))
        yield "triplet_" + reduction, Call(lambda a, b, c, r=reduction: F.triplet_margin_loss(a, b, c, reduction=r)), (a, b, R(4, 5))
        yield "cosine_" + reduction, Call(lambda a, b, c, r=reduction: F.cosine_embedding_loss(a, b, c, reduction=r)), (a, b, torch.ones(4))
        yield "margin_" + reduction, Call(lambda a, b, c, r=reduction: F.margin_ranking_loss(a, b, c, reduction=r)), (a, b, torch.ones(4, 5))
        yield "gaussian_" + reduction, Call(lambda a, b, c, r=reduction: F.gaussian_nll_loss(a, b, c, reduction=r)), (a, b, torch.ones(4, 5))
        yield "ctc_" + reduction, Call(lambda x, t, n, m, r=reduction: F.ctc_loss(x.log_softmax(2), t, n, m, reduction=r)), (
            R(10, 2, 5), torch.randint(1, 5, (2, 3)), torch.tensor([10, 10]), torch.tensor([3, 2]))
    yield "smoothing", Call(lambda a, c: F.cross_entropy(a, c, label_smoothing=0.1, weight=torch.ones(5))), (a, c)
    yield "soft targets", Call(lambda a, b: F.cross_entropy(a, b)), (a, b)
    yield "multilabel_margin", Call(F.multilabel_margin_loss), (a, torch.randint(5, (4, 5)))


def functions():
    x, y, p = R(4, 6), R(4, 6), R(4, 6).sigmoid() + 0.5
    i, m = torch.randint(4, (4, 6)), R(4, 6) > 0
    one = ("abs acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfc erfinv exp exp2 expm1 fix floor frac i0 lgamma log log10 log1p "
           "log2 logit neg positive rad2deg deg2rad reciprocal round rsqrt sgn sigmoid sign signbit sin sinc sinh softmax_ sqrt square tan tanh trunc "
           "isfinite isinf isnan isneginf isposinf isreal nan_to_num logical_not angle conj real flatten ravel relu clone detach numel_ "
           "nonzero argwhere count_nonzero std var mean sum prod amax amin max min median nanmedian nansum nanmean argmax argmin "
           "all any logcumsumexp_ cummax_ fliplr flipud rot90 diff tril triu trace_ unique_ bernoulli msort aminmax "
           "rand_like randn_like zeros_like ones_like empty_like t adjoint squeeze norm std_mean var_mean corrcoef cov "
           "renorm_ diag diagonal diag_embed diagflat tril_ triu_ mH mT H_ isclose_ erf_ nonzero_static_").split()
    for name in one:
        if not name.endswith("_") and (hasattr(torch, name) or hasattr(torch.Tensor, name)):
            f = getattr(torch, name, None) or getattr(torch.Tensor, name)
            if not callable(f):
                f = lambda t, n=name: getattr(t, n)
            yield name, Call(lambda t, f=f: f(t)), (p * 0.5,)
    for name in ("abs_ acos_ asin_ atan_ ceil_ cos_ cosh_ digamma_ erf_ erfc_ exp_ exp2_ expm1_ floor_ frac_ lgamma_ log_ log10_ log1p_ log2_ logit_ neg_ "
                 "reciprocal_ round_ rsqrt_ sigmoid_ sign_ sin_ sinh_ sqrt_ square_ tan_ tanh_ trunc_ relu_ zero_ normal_ uniform_ random_ exponential_ "
                 "bernoulli_ tril_ triu_ nan_to_num_ logical_not_ t_ squeeze_ log_normal_ cauchy_ geometric_").split():
        yield name, Call(lambda t, n=name: getattr(t * 0.5, n)(*([0.5] if n == "geometric_" else []))), (p,)
    for name in ("add sub mul div atan2 pow maximum minimum fmax fmin fmod remainder floor_divide hypot logaddexp logaddexp2 copysign eq ne lt le gt ge "
                 "xlogy nextafter heaviside logical_and logical_or logical_xor true_divide dist outer_ isclose rsub multiply divide subtract "
                 "float_power greater less not_equal cross_ polar complex cosine_similarity cdist bitwise_and_ vdot_ kron").split():
        if not name.endswith("_") and (hasattr(torch, name) or hasattr(F, name)):
            f = getattr(torch, name, None) or getattr(F, name)
            yield name, Call(f), (x, y)
    for name in "add sub mul div pow fmod remainder floor_divide eq ne lt le gt ge logical_and xlogy float_power copysign rsub".split():
        yield name + "_scalar", Call(lambda t, n=name: getattr(torch, n)(t, 2.0 if n != "logical_and" else t)), (x,)
    for name in "add_ sub_ mul_ div_ pow_ fmod_ remainder_ floor_divide_ eq_ lt_ atan2_ clamp_min_ clamp_max_ copysign_ hypot_".split():
        yield name, Call(lambda t, s, n=name: getattr(t * 1, n)(s)), (x, y)
        if name not in ("atan2_", "hypot_"):
            yield name + "s", Call(lambda t, n=name: getattr(t * 1, n)(2.0)), (x,)
    yield "div modes", Call(lambda a, b: (torch.div(a, b, rounding_mode="floor"), torch.div(a, 2, rounding_mode="trunc"))), (x, y)
    yield "bits", Call(lambda a, b: (a & b, a | b, a ^ b, ~a, a << 1, a >> 1, a << b, a & 3, a | 3, a ^ 3, 2 ** a, 7 // (a + 1), -a, a.bitwise_and(b), a // 2, a % 3)), (i, i)
    yield "bools", Call(lambda a, b: (a & b, a | b, a ^ b, ~a, a.any(), a.all(-1), a.any(0, True), a.sum(), a.float().mean())), (m, m)
    yield "reduced", Call(lambda a: (a.sum(-1), a.mean((0, 1)), a.max(-1), a.min(0), a.amax(-1), a.prod(0), a.std(-1), a.var(0), a.norm(dim=-1), a.norm(p=1),
                                     torch.linalg.norm(a, dim=-1), torch.linalg.vector_norm(a), torch.logsumexp(a, 0), a.argmax(-1), a.cumsum(0), a.cumprod(0),
                                     torch.linalg.matrix_norm(a), a.median(-1), a.mode(-1), a.kthvalue(2), torch.quantile(a, 0.5), torch.nanquantile(a, 0.5, 0), torch.cummax(a, 0), torch.cummin(a, 0),
                                     torch.logcumsumexp(a, 0), a.std(), a.var(unbiased=False), torch.var_mean(a, -1), torch.std_mean(a, 0), torch.trapezoid(a), torch.aminmax(a, dim=0), torch.std_mean(a, -1, correction=0))), (x,)
    yield "sorted", Call(lambda a: (a.sort(-1), a.sort(stable=True), a.argsort(), a.argsort(stable=True), a.topk(2), torch.msort(a), torch.searchsorted(a.sort().values, a), torch.bucketize(a, a[0].sort().values))), (x,)
    yield "gather", Call(lambda a, j: (a.gather(0, j), torch.take_along_dim(a, j, 0), a.scatter(0, j, a), a.scatter(0, j, 1.0), a.scatter_add(0, j, a), a.scatter_reduce(0, j, a, "amax"),
                                       a.scatter(0, j, a, reduce="add"), a.index_select(0, j[0]), a.index_add(0, j[0], R(6, 6)), a.index_copy(0, torch.arange(4), a), a.index_fill(0, j[0], 1.0),
                                       a.take(j), a[j[0]], a[:, j[:, 0]], a[j[0], j[1]], torch.embedding(a, j), a.index_reduce(0, j[0], R(6, 6), "mean"), a.index_put((j[0],), R(6, 6)), a.put(j, a))), (x, i)
    yield "gather in place", Call(lambda a, j: ((a * 1).scatter_(0, j, a), (a * 1).scatter_(0, j, 1.0), (a * 1).scatter_add_(0, j, a), (a * 1).scatter_reduce_(0, j, a, "sum"), (a * 1).index_add_(0, j[0], R(6, 6)),
                                                (a * 1).index_copy_(0, torch.arange(4), a), (a * 1).index_fill_(0, j[0], 1.0), (a * 1).index_put_((j[0],), R(6, 6)), (a * 1).masked_scatter_(a > 0, a), (a * 1).masked_fill_(a > 0, 0.0))), (x, i)
    yield "masked", Call(lambda a, k: (a.masked_fill(k, 0.0), a.masked_scatter(k, a), torch.where(k, a, 0.0), torch.where(k, 1.0, 0.0), a.masked_fill(k, torch.tensor(1.0)), torch.where(k, 1, a))), (x, m)
    yield "masked_select", Call(lambda a, k: a.masked_select(k)), (x, m)
    yield "mask index", Call(lambda a, k: a[k]), (x, m)
    yield "where", Call(lambda k: torch.where(k)), (m,)

    def mask_put(a, k):
        a = a * 1
        a[k] = 0.0
        a[0] = 1.0
        a[:, 1:3] = 2.0
        a[..., 0] += 3
        return a
    yield "mask put", Call(mask_put), (x, m)
    yield "one_hot", Call(lambda j: F.one_hot(j, 6)), (i,)
    yield "creation", Call(lambda a: (torch.zeros(3), torch.ones(3, 4), torch.full((2,), 1.5), torch.arange(5), torch.arange(1, 5, 2), torch.linspace(0, 1, 5), torch.logspace(0, 1, 5), torch.eye(4), torch.eye(3, 4),
                                      torch.rand(3), torch.randn(3), torch.randint(5, (3,)), torch.randint(1, 5, (3,)), torch.randperm(5), torch.normal(0.0, 1.0, (3,)), torch.empty(3), torch.tensor([1, 2]), torch.tensor(1.0),
                                      a.new_zeros(3), a.new_ones(3), a.new_full((2,), 1.0), a.new_empty(2), torch.rand_like(a), torch.randint_like(a, 5), torch.full_like(a, 2.0), torch.tril_indices(3, 3), torch.triu_indices(3, 3),
                                      torch.bernoulli(a.sigmoid()), torch.bernoulli(a, 0.5), torch.hann_window(8), torch.hamming_window(8), torch.bartlett_window(8), torch.blackman_window(8), torch.empty_strided((2, 3), (3, 1)), a.new_tensor([1.0]), torch.zeros_like(a), torch.normal(a, a.abs()), torch.scalar_tensor(2.0))), (x,)
    yield "multinomial", Call(lambda a: torch.multinomial(a, 2)), (p,)
    yield "gumbel", Call(lambda a: F.gumbel_softmax(a, hard=True)), (x,)
    yield "shapes", Call(lambda a: (a.view(6, 4), a.reshape(-1), a.permute(1, 0), a.transpose(0, 1), a.T, a.unsqueeze(0), a.expand(2, 4, 6), a.flatten(), a.unflatten(0, (2, 2)), a.movedim(0, 1), torch.moveaxis(a, 0, 1),
                                    a.swapaxes(0, 1), a.narrow(0, 0, 2), a.chunk(2), a.split(2), a.split([1, 3]), a.unbind(), torch.tensor_split(a, 2), torch.tensor_split(a, (1, 2), 1), torch.hsplit(a, 2), torch.vsplit(a, 2), a.repeat(2, 1), a.tile(2),
                                    a.repeat_interleave(2, 0), a.roll(1, 0), a.flip(0), torch.rot90(a), a.unfold(0, 2, 1), a.as_strided((2, 2), (1, 2)), a.diagonal(), torch.diag(a), torch.diag_embed(a), a.squeeze(), torch.atleast_2d(a), torch.atleast_3d(a), torch.atleast_1d(a),
                                    torch.broadcast_to(a, (2, 4, 6)), a.view_as(a), a.reshape_as(a), a.expand_as(a), a.contiguous(), a.clone(), a.to(torch.float16), a.half(), a.double(), a.int(), a.bool(), a.type_as(a), a.mT, torch.select(a, 0, 1), a[::2], a[None],
                                    torch.movedim(a, (0, 1), (1, 0)), torch.dsplit(a[None], 2), a.sum_to_size(4, 1), a.view(torch.int32), a.squeeze((0, 1)), a.to("cpu"), a.to("cpu", torch.float64), torch.ravel(a), torch.unsqueeze_copy(a, 0))), (x,)
    yield "joins", Call(lambda a, b: (torch.cat([a, b]), torch.stack([a, b]), torch.hstack([a, b]), torch.vstack([a, b]), torch.dstack([a, b]), torch.column_stack([a, b]), torch.concatenate([a, b]), torch.meshgrid(a[0], b[0], indexing="ij"),
                                      torch.cartesian_prod(a[0], b[0]), torch.block_diag(a, b), torch.broadcast_tensors(a, b), torch.combinations(a[0]), torch.nn.utils.rnn.pad_sequence([a, b]), torch.meshgrid(a[0], b[0]), torch.concat([a, b], 1), torch.row_stack([a, b]) if hasattr(torch, "row_stack") else a)), (x, y)
    yield "products", Call(lambda a, b: (a @ b.T, torch.mm(a, b.T), torch.mv(a, b[0]), torch.dot(a[0], b[0]), torch.outer(a[0], b[0]), torch.einsum("ij,kj->ik", a, b), torch.einsum("bij,bkj->bik", a[None], b[None]), torch.tensordot(a, b, dims=([1], [1])),
                                         torch.inner(a, b), torch.addmm(a[:, :4], a, b.T), torch.baddbmm(a[None, :, :4], a[None], b.T[None]), torch.bmm(a[None], b.T[None]), torch.addmv(a[:, 0], a, b[0]), torch.ger(a[0], b[0]), torch.linalg.multi_dot([a, b.T, a]),
                                         torch.kron(a, b), torch.cross(a[:, :3], b[:, :3], dim=1), torch.linalg.cross(a[:, :3], b[:, :3]), torch.vdot(a[0], b[0]), torch.matrix_power(a[:, :4], 2), torch.addbmm(a[:, :4], a[None], b.T[None]), torch.addr(a, a[:, 0], b[0]), torch.linalg.vecdot(a, b), torch.chain_matmul(a, b.T),
                                         torch.einsum("bhid,bhjd->bhij", a[None, None], b[None, None]), torch.einsum("i,j->ij", a[0], b[0]), torch.einsum("ii->i", a[:, :4]))), (x, y)
    yield "ternary", Call(lambda a, b: (torch.addcmul(a, a, b), torch.addcdiv(a, a, b), torch.lerp(a, b, 0.5), torch.lerp(a, b, b), torch.clamp(a, -1, 1), torch.clamp(a, b, b), torch.clamp(a, min=0), a.clip(0, 1), torch.clamp_min(a, 0.0), torch.clamp_max(a, b))), (x, y)
    yield "ternary in place", Call(lambda a, b: ((a * 1).addcmul_(a, b), (a * 1).addcdiv_(a, b), (a * 1).lerp_(b, 0.5), (a * 1).clamp_(-1, 1), (a * 1).clamp_(b, b), (a * 1).clip_(0, 1), (a * 1).copy_(b), (a * 1).fill_(1.0), (a * 1).zero_(), (a * 1).transpose_(0, 1), (a * 1).unsqueeze_(0), (a * 1).fill_diagonal_(0.0), (a[:, :4] * 1).addmm_(a, b.T), (a[None, :, :4] * 1).baddbmm_(a[None], b.T[None]), (a * 1).squeeze_(0), (a * 1).cumsum_(0), (a * 1).t_())), (x, y)
    yield "fft", Call(lambda a: (torch.fft.rfft(a).abs(), torch.fft.fft(a).real, torch.fft.irfft(torch.fft.rfft(a)), torch.fft.fft2(a).imag, torch.fft.rfft2(a).abs(), torch.fft.irfft2(torch.fft.rfft2(a)), torch.fft.ifft2(torch.fft.fft2(a)).real, torch.fft.fftn(a).real,
                                 torch.fft.fftshift(a), torch.fft.fftfreq(6), torch.fft.rfftfreq(6), torch.view_as_real(torch.fft.fft(a)), torch.view_as_complex(a.view(4, 3, 2)), torch.fft.ifft(torch.fft.fft(a)).real, torch.fft.ifftshift(a), torch.fft.rfftn(a), torch.fft.irfftn(torch.fft.rfftn(a)))), (x,)
    yield "stft", Call(lambda a: torch.stft(a, 64, 16, window=torch.hann_window(64), return_complex=True).abs()), (R(2, 400),)
    yield "istft", Call(lambda a: torch.istft(torch.stft(a, 64, 16, window=torch.hann_window(64), return_complex=True), 64, 16, window=torch.hann_window(64))), (R(2, 400),)
    yield "linalg", Call(lambda a: (torch.linalg.inv(a), torch.linalg.det(a), torch.linalg.solve(a, a), torch.linalg.cholesky(a @ a.mT + torch.eye(4)), torch.linalg.qr(a), torch.linalg.svd(a), torch.linalg.eigh(a), torch.trace(a), torch.linalg.slogdet(a),
                                    torch.linalg.pinv(a), torch.linalg.svdvals(a), torch.linalg.eigvalsh(a), torch.linalg.matrix_exp(a), torch.logdet(a), torch.linalg.lstsq(a, a).solution, torch.linalg.solve_triangular(a, a, upper=True), torch.inverse(a), torch.cholesky_inverse(a), torch.linalg.eig(a))), (R(4, 4),)
    yield "attention", Call(lambda q: (F.scaled_dot_product_attention(q, q, q), F.scaled_dot_product_attention(q, q, q, is_causal=True), F.scaled_dot_product_attention(q, q, q, torch.ones(5, 5, dtype=torch.bool).tril()))), (R(2, 2, 5, 8),)
    yield "unique", Call(lambda j: torch.unique(j)), (i,)
    yield "bincount", Call(lambda j: torch.bincount(j)), (i.flatten(),)
    yield "histc", Call(lambda a: torch.histc(a, 10, 0, 1)), (x,)
    yield "item", Call(lambda a: a.sum().item()), (x,)
    yield "checks", Call(lambda a: (torch.equal(a, a), torch.allclose(a, a), a.is_floating_point(), a.isclose(a))), (x,)
    yield "upsampling functions", Call(lambda a: (torch.nn.functional.upsample(a[None, None], scale_factor=2), F.fold(F.unfold(a[None, None], 2), (4, 6), 2))), (x,)
    yield "complex", Call(lambda a: (torch.polar(a, a).real, torch.complex(a, a).imag, torch.view_as_real(torch.complex(a, a) * torch.polar(a, a)), torch.complex(a, a).conj() * 1, torch.complex(a, a).angle(), torch.resolve_conj(torch.complex(a, a).conj()))), (x,)
    yield "prims", Call(lambda a: (torch.relu(a).sqrt().add(1).softmax(-1, dtype=torch.float64), F.softmax(a, -1, dtype=torch.float32), F.log_softmax(a, -1), a.softmax(0), F.hardshrink(a), F.softshrink(a), F.rrelu(a), F.celu(a), torch.special.expit(a), torch.special.erf(a), torch.special.log_softmax(a, -1), torch.special.logsumexp(a, -1), torch.special.xlog1py(a, a), torch.special.entr(a), torch.special.ndtr(a), torch.special.gammaln(a), torch.special.softmax(a, -1))), (x,)
    yield "RNN packed", Call(lambda a: torch.nn.utils.rnn.pad_packed_sequence(torch.nn.utils.rnn.pack_padded_sequence(a, [3, 2], batch_first=True), batch_first=True)[0]), (R(2, 3, 4),)


def vision():
    import torchvision
    models = torchvision.models
    x = R(2, 3, 64, 64)
    for name in ("mobilenet_v3_small", "shufflenet_v2_x0_5", "swin_t", "swin_v2_t", "convnext_tiny", "vit_b_32", "googlenet", "inception_v3", "densenet121",
                 "efficientnet_b0", "regnet_y_400mf", "maxvit_t", "mnasnet0_5", "resnet18", "squeezenet1_1", "vgg11_bn", "alexnet"):
        size = {"inception_v3": 299, "maxvit_t": 224, "vit_b_32": 224}.get(name, 64)
        yield name, functools.partial(getattr(models, name), weights=None), (R(2, 3, size, size),)
    for name in ("fcn_resnet50", "deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large"):
        yield name, functools.partial(getattr(models.segmentation, name), weights=None, weights_backbone=None), (x,)
    for name, frames, size in (("r3d_18", 8, 32), ("mc3_18", 8, 32), ("r2plus1d_18", 8, 32), ("s3d", 16, 64), ("swin3d_t", 8, 64), ("mvit_v2_s", 16, 224)):
        yield name, functools.partial(getattr(models.video, name), weights=None), (R(1, 3, frames, size, size),)
    for name in ("ssdlite320_mobilenet_v3_large", "retinanet_resnet50_fpn", "fcos_resnet50_fpn", "fasterrcnn_mobilenet_v3_large_320_fpn", "maskrcnn_resnet50_fpn"):
        yield name, functools.partial(getattr(models.detection, name), weights=None, weights_backbone=None), ([R(3, 320, 320)],)
    yield "raft_small", functools.partial(models.optical_flow.raft_small, weights=None), (R(1, 3, 128, 128), R(1, 3, 128, 128))


def language():
    import transformers as t
    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "vocab_size": 100}
    ids = torch.randint(100, (2, 9))
    rows = [("Bert", t.BertConfig(**small), "BertForSequenceClassification", (ids,)), ("Roberta", t.RobertaConfig(**small), "RobertaForMaskedLM", (ids,)),
            ("GPT2", t.GPT2Config(n_embd=32, n_layer=2, n_head=4, vocab_size=100), "GPT2LMHeadModel", (ids,)),
            ("OPT", t.OPTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=64, vocab_size=100, word_embed_proj_dim=32), "OPTForCausalLM", (ids,)),
            ("Bloom", t.BloomConfig(hidden_size=32, n_layer=2, n_head=4, vocab_size=100), "BloomForCausalLM", (ids,)),
            ("Distil", t.DistilBertConfig(dim=32, n_layers=2, n_heads=4, hidden_dim=64, vocab_size=100), "DistilBertModel", (ids,)),
            ("Albert", t.AlbertConfig(embedding_size=16, **small), "AlbertModel", (ids,)), ("Electra", t.ElectraConfig(embedding_size=16, **small), "ElectraModel", (ids,)),
            ("Deberta", t.DebertaV2Config(relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=8, max_relative_positions=16, **small), "DebertaV2Model", (ids,))]
    for kind in ("Llama", "Qwen2", "Qwen3", "Mistral", "Mixtral", "Gemma", "Gemma2", "Phi3", "Olmo2", "Qwen2Moe"):
        config = getattr(t, kind + "Config")(num_key_value_heads=2, head_dim=8, pad_token_id=0, **small)
        rows.append((kind, config, kind + "ForCausalLM", (ids,)))
    rows += [("Phi", t.PhiConfig(**small), "PhiForCausalLM", (ids,)), ("Neox", t.GPTNeoXConfig(**small), "GPTNeoXForCausalLM", (ids,)),
             ("Falcon", t.FalconConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, vocab_size=100), "FalconForCausalLM", (ids,)),
             ("Mamba", t.MambaConfig(hidden_size=32, num_hidden_layers=2, vocab_size=100), "MambaForCausalLM", (ids,)),
             ("Mamba2", t.Mamba2Config(hidden_size=32, num_hidden_layers=2, vocab_size=100, num_heads=8, head_dim=8, n_groups=1, state_size=16, chunk_size=8), "Mamba2ForCausalLM", (ids,)),
             ("Rwkv", t.RwkvConfig(hidden_size=32, num_hidden_layers=2, vocab_size=100), "RwkvForCausalLM", (ids,)),
             ("T5", t.T5Config(d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, vocab_size=100), "T5ForConditionalGeneration", {"input_ids": ids, "decoder_input_ids": ids}),
             ("Bart", t.BartConfig(d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, vocab_size=100), "BartModel", (ids,)),
             ("Whisper", t.WhisperConfig(d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, vocab_size=100, max_source_positions=50, pad_token_id=0), "WhisperModel",
              {"input_features": R(1, 80, 100), "decoder_input_ids": ids[:1]}),
             ("ViT", t.ViTConfig(image_size=32, patch_size=8, **{k: v for k, v in small.items() if k != "vocab_size"}), "ViTForImageClassification", (R(1, 3, 32, 32),)),
             ("CLIP", t.CLIPConfig(text_config={**small, "projection_dim": 16}, vision_config={"image_size": 32, "patch_size": 8, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 64}, projection_dim=16), "CLIPModel",
              {"input_ids": ids, "pixel_values": R(2, 3, 32, 32)}),
             ("Wav2Vec2", t.Wav2Vec2Config(conv_dim=(16,) * 7, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=2, **small), "Wav2Vec2ForCTC", (R(1, 4000),)),
             ("Segformer", t.SegformerConfig(hidden_sizes=[8, 16, 32, 32], depths=[1, 1, 1, 1], decoder_hidden_size=16), "SegformerForSemanticSegmentation", (R(1, 3, 64, 64),)),
             ("Swin", t.SwinConfig(image_size=32, patch_size=4, embed_dim=16, depths=[1, 1], num_heads=[2, 2], window_size=4), "SwinModel", (R(1, 3, 32, 32),)),
             ("ConvNextV2", t.ConvNextV2Config(hidden_sizes=[8, 16, 16, 16], depths=[1, 1, 1, 1]), "ConvNextV2Model", (R(1, 3, 64, 64),)),
             ("Dinov2", t.Dinov2Config(image_size=28, patch_size=14, hidden_size=32, num_hidden_layers=1, num_attention_heads=4), "Dinov2Model", (R(1, 3, 28, 28),)),
             ("DPT", t.DPTConfig(image_size=32, patch_size=16, hidden_size=32, num_hidden_layers=4, num_attention_heads=4, intermediate_size=64, backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[8, 8, 8, 8], fusion_hidden_size=8), "DPTForDepthEstimation", (R(1, 3, 32, 32),)),
             ("DeformableDetr", t.DeformableDetrConfig(use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=t.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16, 16, 16], depths=[1, 1, 1, 1], out_features=["stage2", "stage3", "stage4"]),
                                                       d_model=32, encoder_layers=1, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, num_queries=10), "DeformableDetrForObjectDetection", (R(1, 3, 64, 64),)),
             ("Detr", t.DetrConfig(use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=t.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16, 16, 16], depths=[1, 1, 1, 1], out_features=["stage4"]),
                                   d_model=32, encoder_layers=1, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, num_queries=10), "DetrForObjectDetection", (R(1, 3, 64, 64),))]
    for name, config, kind, inputs in rows:
        config.use_cache = False
        yield name, functools.partial(getattr(t, kind), config), inputs


def graphs_of(module):
    """The graph modules, those inside of higher-order operations included."""
    return [m for m in module.modules() if isinstance(m, torch.fx.GraphModule)]


def name_of(target):
    if isinstance(target, torch._ops.OpOverload):
        return target._schema.name + ("." + target._schema.overload_name if target._schema.overload_name else "")
    return f"{getattr(target, '__module__', '').lstrip('_')}::{getattr(target, '__name__', str(target))}"


def targets(module, counts, example, calls, name):
    for graph_module in graphs_of(module):
        for node in graph_module.graph.nodes:
            if node.op != "call_function":
                continue
            target = name_of(node.target)
            counts[target] += 1
            example.setdefault(target, name)
            if target.startswith("aten::") and len(calls.setdefault(target, [])) < 3:
                try:
                    call = call_text(node)
                except Exception:  # a size that only the run knows
                    continue
                if call not in calls[target]:
                    calls[target].append(call)


def text(value):
    """A value in the text form of operations (joulecast/graph/operation.h); None for those that decide no cost."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, torch.fx.Node):
        return text(value.meta["val"])
    if isinstance(value, torch.Tensor):
        return f"{DTYPES[value.dtype]}[{','.join(str(int(size)) for size in value.shape)}]"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(text(item) for item in value) + "]"
    if isinstance(value, (str, float, torch.SymInt)):
        return json.dumps(value) if isinstance(value, str) else str(int(value) if isinstance(value, torch.SymInt) else value)
    return DTYPES[value] if isinstance(value, torch.dtype) else str(value)


def call_text(node):
    arguments = dict(zip((a.name for a in node.target._schema.arguments), node.args)) | dict(node.kwargs)
    skipped = ("device", "layout", "pin_memory", "memory_format", "generator", "requires_grad")
    return f"{name_of(node.target)}({', '.join(f'{k}={text(v)}' for k, v in arguments.items() if k not in skipped)})"


def exported(module, inputs, train, gradients):
    module = module.train(train)
    args, kwargs = ((), inputs) if isinstance(inputs, dict) else (inputs, None)
    program = torch.export.export(module, args, kwargs, strict=False)
    yield program.graph_module
    yield program.run_decompositions().graph_module
    if train and gradients:
        from torch._functorch.aot_autograd import aot_export_joint_simple

        called = program.module()
        weights = dict(called.named_parameters()) | dict(called.named_buffers())

        def function(*tensors):
            given = dict(zip(weights, tensors))
            results = torch.func.functional_call(called, given, tensors[len(weights):])
            return tuple(r.sum() for r in torch.utils._pytree.tree_leaves(results) if isinstance(r, torch.Tensor) and r.requires_grad)
        tensors = [t.detach().clone().requires_grad_(t.is_floating_point()) for t in (*weights.values(), *inputs)]
        yield aot_export_joint_simple(function, tensors, trace_joint=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", required=True, help="the program that prints all records as JSON")
    parser.add_argument("--only", nargs="*", default=[], help="words of the networks' names")
    parser.add_argument("--kinds", nargs="*", default=["layers", "losses", "functions", "vision", "language"])
    parser.add_argument("--gradients", action="store_true")
    parser.add_argument("--calls", help="writes up to three calls of every target here, in the form of tests/graph/records.txt")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    known = {r["target"] for r in json.loads(subprocess.run([options.records], check=True, capture_output=True, text=True).stdout)}
    known.add("operator::getitem")
    logging.disable(logging.CRITICAL)
    counts, example, calls, refused = collections.Counter(), {}, {}, []
    for kind in options.kinds:
        for name, maker, inputs in globals()[kind]():
            if options.only and not any(word in name for word in options.only):
                continue
            for train in (False, True):
                try:
                    module = maker if isinstance(maker, nn.Module) else maker()
                    for graph in exported(module, inputs, train, options.gradients):
                        targets(graph, counts, example, calls, name)
                except Exception as error:  # named below; the others still count
                    refused.append(f"{name} ({'train' if train else 'eval'}): {type(error).__name__}: {str(error).strip().splitlines()[0][:150]}")
    missing = {target: count for target, count in counts.items() if target not in known}
    for target, count in sorted(missing.items(), key=lambda item: -item[1]):
        print(f"{count:6} {target}   ({example[target]})")
    if options.calls:
        with open(options.calls, "w") as file:
            file.writelines(f"{call}\n" for target in sorted(calls) for call in calls[target])
    total = sum(counts.values())
    print(f"{len(counts)} targets, {len(missing)} without a record; {total} nodes, {100 * (1 - sum(missing.values()) / max(total, 1)):.2f} % with one")
    print(f"{len(refused)} could not be exported:", *refused, sep="\n  ")


if __name__ == "__main__":
    main()
