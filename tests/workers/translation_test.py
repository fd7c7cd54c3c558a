"""Every entry of the table ATen -> ONNX against torch: on operations of the zoo's networks, and on those that it lacks."""
import re
import unittest

import support

support.need("onnxruntime", "onnx", "torch")

import numpy
import onnxruntime
import torch
import zoo_graphs
from joulecast_measuring.contents import Maker, contents
from joulecast_measuring.requests import Unsupported
from joulecast_measuring.signature import parse_operation
from joulecast_onnxruntime.translation import TABLE, WEIGHTS, write
from joulecast_onnxruntime.writer import Call, Writer

# Forms that no network of the zoo has.
MORE = """
aten::relu6(self=f32[4,8])
aten::round(self=f32[4,8])
aten::ceil(self=f32[4,8])
aten::floor(self=f32[4,8])
aten::sign(self=f32[4,8])
aten::sqrt(self=f32[4,8])
aten::erf(self=f32[4,8])
aten::reciprocal(self=f32[4,8])
aten::log1p(self=f32[4,8])
aten::mish(self=f32[4,8])
aten::elu(self=f32[4,8], alpha=0.5)
aten::softplus(self=f32[4,8])
aten::prelu(self=f32[2,4,3,3], weight=f32[4])
aten::logical_not(self=bool[4,8])
aten::bitwise_not(self=bool[4,8])
aten::positive(self=f32[4,8])
aten::detach(self=f32[4,8])
aten::gelu(self=f32[4,8], approximate="tanh")
aten::hardtanh(self=f32[4,8])
aten::clamp(self=f32[4,8], min=-0.5)
aten::clamp.Tensor(self=f32[4,8], min=f32[8])
aten::clamp_max(self=f32[4,8], max=0.5)
aten::add.Tensor(self=f32[4,8], other=f32[8], alpha=2)
aten::add.Tensor(self=i64[4,8], other=f32[])
aten::add.Tensor(self=f64[4,8], other=f32[4,8])
aten::sub.Tensor(self=f32[4,8], other=f32[8], alpha=3)
aten::rsub.Scalar(self=f32[4,8], other=1.0, alpha=2)
aten::mul.Scalar(self=i64[4], other=2.5)
aten::div.Tensor(self=i64[4,8], other=i64[8])
aten::div.Tensor_mode(self=f32[4,8], other=f32[8], rounding_mode="floor")
aten::div.Tensor_mode(self=f32[4,8], other=f32[8], rounding_mode="trunc")
aten::div.Tensor_mode(self=i64[4,8], other=3, rounding_mode="floor")
aten::floor_divide(self=i64[4,8], other=i64[8])
aten::remainder.Tensor(self=i64[4,8], other=i64[8])
aten::remainder.Scalar(self=f32[4,8], other=0.7)
aten::maximum(self=f32[4,8], other=f32[8])
aten::minimum(self=f32[4,8], other=f32[8])
aten::max(self=f32[4,8])
aten::max.other(self=f32[4,8], other=f32[8])
aten::min(self=f32[4,8])
aten::pow.Tensor_Tensor(self=f32[4,8], exponent=f32[8])
aten::pow.Scalar(self=2.0, exponent=f32[4])
aten::pow.Tensor_Scalar(self=f32[4,8], exponent=2)
aten::eq.Tensor(self=f32[4,8], other=f32[8])
aten::ne.Tensor(self=i64[4,8], other=i64[8])
aten::lt.Tensor(self=f32[4,8], other=f32[8])
aten::le.Scalar(self=f32[4,8], other=0.0)
aten::gt.Tensor(self=f32[4,8], other=f32[8])
aten::ge.Tensor(self=f32[4,8], other=f32[8])
aten::__or__.Tensor(self=bool[4,8], other=bool[8])
aten::__xor__.Tensor(self=i64[4,8], other=i64[8])
aten::bitwise_and.Tensor(self=i64[4,8], other=i64[8])
aten::bitwise_or.Tensor(self=bool[4,8], other=bool[8])
aten::bitwise_xor.Tensor(self=bool[4,8], other=bool[8])
aten::logical_and(self=bool[4,8], other=f32[8])
aten::logical_or(self=bool[4,8], other=bool[8])
aten::logical_xor(self=bool[4,8], other=bool[8])
aten::where.self(condition=bool[4,1], self=f32[8], other=f32[4,8])
aten::masked_fill.Tensor(self=f32[4,8], mask=bool[8], value=f32[])
aten::mm(self=f32[4,8], mat2=f32[8,3])
aten::bmm(self=f32[2,4,8], mat2=f32[2,8,3])
aten::matmul(self=f32[8], other=f32[2,8,3])
aten::matmul(self=f32[4,8], other=f32[8])
aten::addmm(self=f32[3], mat1=f32[4,8], mat2=f32[8,3], beta=0.5, alpha=2)
aten::baddbmm(self=f32[2,4,3], batch1=f32[2,4,8], batch2=f32[2,8,3], beta=0.5, alpha=2)
aten::linear(input=f32[2,3,8], weight=f32[4,8], bias=f32[4])
aten::linear(input=f32[3,8], weight=f32[4,8])
aten::scaled_dot_product_attention(query=f32[2,4,5,8], key=f32[2,4,5,8], value=f32[2,4,5,8], is_causal=true)
aten::scaled_dot_product_attention(query=f32[2,4,5,8], key=f32[2,2,7,8], value=f32[2,2,7,8], attn_mask=f32[5,7], scale=0.3, enable_gqa=true)
aten::conv1d(input=f32[2,4,9], weight=f32[6,2,3], bias=f32[6], stride=[2], padding=[1], groups=2)
aten::conv2d.padding(input=f32[2,4,9,9], weight=f32[6,4,4,4], padding="same")
aten::conv2d.padding(input=f32[2,4,9,9], weight=f32[6,4,3,3], padding="valid", dilation=[2,2])
aten::conv2d(input=f32[4,9,9], weight=f32[6,4,3,3])
aten::conv3d(input=f32[2,4,5,6,7], weight=f32[6,4,3,3,3], padding=[1,1,1])
aten::convolution(input=f32[2,4,5,5], weight=f32[4,3,3,3], bias=f32[6], stride=[2,2], padding=[1,1], dilation=[1,1], transposed=true, output_padding=[1,1], groups=2)
aten::conv_transpose1d(input=f32[2,4,5], weight=f32[4,3,3], stride=[2])
aten::conv_transpose2d.input(input=f32[2,4,5,5], weight=f32[4,3,3,3], stride=[2,2], padding=[1,1], output_padding=[1,1])
aten::conv_transpose3d.input(input=f32[1,4,3,3,3], weight=f32[4,2,2,2,2], stride=[2,2,2])
aten::max_pool1d(self=f32[2,4,9], kernel_size=[3], stride=[2], padding=[1])
aten::max_pool2d(self=f32[2,4,9,9], kernel_size=[3,3], stride=[2,2], padding=[1,1], dilation=[2,2], ceil_mode=true)
aten::max_pool2d(self=f32[2,4,8,8], kernel_size=[2,2], stride=[3,3], ceil_mode=true)
aten::max_pool2d(self=f32[4,8,8], kernel_size=[2,2])
aten::max_pool3d(self=f32[1,2,6,6,6], kernel_size=[2,2,2])
aten::avg_pool1d(self=f32[2,4,9], kernel_size=[3], stride=[2], padding=[1])
aten::avg_pool2d(self=f32[2,4,9,9], kernel_size=[3,3], stride=[2,2], padding=[1,1], count_include_pad=false)
aten::avg_pool3d(self=f32[1,2,6,6,6], kernel_size=[2,2,2])
aten::adaptive_avg_pool1d(self=f32[2,4,8], output_size=[4])
aten::adaptive_avg_pool2d(self=f32[2,4,9,7], output_size=[4,3])
aten::adaptive_avg_pool2d(self=f32[2,4,8,6], output_size=[4,3])
aten::adaptive_avg_pool3d(self=f32[1,2,4,4,4], output_size=[1,1,1])
aten::layer_norm(input=f32[2,4,8], normalized_shape=[4,8])
aten::rms_norm(input=f32[2,4,8], normalized_shape=[8], weight=f32[8], eps=1e-05)
aten::rms_norm(input=f32[2,4,8], normalized_shape=[8])
aten::group_norm(input=f32[2,8,5,5], num_groups=4, weight=f32[8], bias=f32[8])
aten::batch_norm(input=f32[2,8,5], weight=none, bias=none, running_mean=f32[8], running_var=f32[8], training=false, momentum=0.1, eps=1e-05, cudnn_enabled=true)
aten::_softmax(self=f32[4,8], dim=-1, half_to_float=false)
aten::log_softmax.int(self=f32[4,8], dim=0)
aten::_log_softmax(self=f32[4,8], dim=1, half_to_float=false)
aten::softmax.int(self=f16[4,8], dim=1, dtype=f32)
aten::mean(self=f32[4,8])
aten::sum(self=bool[4,8])
aten::sum.dim_IntList(self=f32[4,8,3], dim=[0,-1])
aten::amax(self=f32[4,8], dim=[1], keepdim=true)
aten::amin(self=f32[4,8], dim=[0])
aten::prod.dim_int(self=f32[4,8], dim=1)
aten::linalg_vector_norm(self=f32[4,8], ord=1)
aten::argmax(self=f32[4,8], dim=1)
aten::argmin(self=f32[4,8])
aten::cumsum(self=f32[4,8], dim=-1)
aten::cumsum(self=i64[4,8], dim=0, dtype=f32)
aten::dropout(input=f32[4,8], p=0.5, train=false)
aten::feature_dropout(input=f32[4,8], p=0.5, train=false)
aten::_to_copy(self=f32[4,8], dtype=f64)
aten::to.dtype(self=f32[4,8], dtype=i64)
aten::type_as(self=i64[4,8], other=f32[2])
aten::_unsafe_view(self=f32[4,8], size=[2,16])
aten::view_as(self=f32[4,8], other=f32[8,4])
aten::reshape_as(self=f32[4,8], other=f32[8,4])
aten::flatten.using_ints(self=f32[2,3,4,5], start_dim=1, end_dim=2)
aten::t(self=f32[4,8])
aten::swapaxes(self=f32[4,8,2], axis0=0, axis1=2)
aten::swapdims(self=f32[4,8,2], dim0=0, dim1=1)
aten::repeat(self=f32[4,8], repeats=[2,1,3])
aten::squeeze(self=f32[1,8,1])
aten::squeeze.dims(self=f32[1,8,1], dim=[0,1])
aten::slice.Tensor(self=f32[8,4], dim=0, start=-5, end=7, step=2)
aten::narrow(self=f32[8,4], dim=-1, start=1, length=2)
aten::select.int(self=f32[8,4], dim=1, index=-1)
aten::split.Tensor(self=f32[7,4], split_size=3)
aten::split_with_sizes(self=f32[7,4], split_sizes=[2,5])
aten::chunk(self=f32[7,4], chunks=3)
aten::unbind.int(self=f32[3,4], dim=1)
aten::concat(tensors=[f32[2,4],f32[3,4]])
aten::cat(tensors=[i64[2,4],f32[2,4]], dim=-1)
aten::stack(tensors=[f32[2,4],f32[2,4]], dim=-1)
aten::pad(self=f32[2,4,6,6], pad=[1,2,0,1])
aten::pad(self=f32[2,4,6,6], pad=[1,2,0,1], mode="reflect")
aten::constant_pad_nd(self=f32[2,4], pad=[1,1], value=3.0)
aten::tril(self=f32[4,8], diagonal=1)
aten::triu(self=f32[4,8])
aten::pixel_shuffle(self=f32[2,8,3,3], upscale_factor=2)
aten::upsample_nearest2d(self=f32[1,2,4,4], output_size=[8,8])
aten::upsample_nearest2d.vec(input=f32[1,2,4,4], output_size=none, scale_factors=[2.0,3.0])
aten::upsample_bilinear2d(self=f32[1,2,4,4], output_size=[7,9], align_corners=false)
aten::upsample_bilinear2d(self=f32[1,2,4,4], output_size=[7,9], align_corners=true)
aten::upsample_bicubic2d(self=f32[1,2,4,4], output_size=[8,8], align_corners=false)
aten::index_select(self=f32[6,4], dim=1, index=i64[3])
aten::gather(self=f32[6,4], dim=1, index=i64[6,2])
aten::index.Tensor(self=f32[6,4,2], indices=[i64[3,1],i64[5]])
aten::index.Tensor(self=f32[6,4,2], indices=[none,i64[5]])
aten::fill.Scalar(self=f32[4,8], value=2.0)
aten::ones(size=[2,3])
aten::full(size=[2,3], fill_value=7)
aten::zeros(size=[2,3], dtype=i64)
aten::ones_like(self=i64[2,3])
aten::full_like(self=f32[2,3], fill_value=2)
aten::new_ones(self=i64[4], size=[2], dtype=bool)
aten::new_zeros(self=f32[4], size=[2])
aten::new_full(self=f32[4], size=[2], fill_value=3)
aten::arange.start_step(start=2, end=9, step=3)
aten::arange(end=5, dtype=f32)
aten::lift_fresh(self=f32[4])
"""
MOST_ELEMENTS, MOST_PRODUCTS = 3_000_000, 2e9


def form(text):
    """What is alike about operations but for their sizes."""
    return re.sub(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", "#", re.sub(r"[\[{][\d,]*[\]}]", "", text))


def zoo_operations():
    """The smallest operation of each form in the zoo's networks."""
    found = {}
    for name in zoo_graphs.names():
        for node in zoo_graphs.graph(name)["nodes"]:
            operation = parse_operation(node["operation"])
            if operation.is_arithmetic_on_sizes or not operation.tensors():
                continue
            size = sum(type_.elements for _, type_ in operation.tensors())
            if size < found.get(form(node["operation"]), (MOST_ELEMENTS,))[0]:
                found[form(node["operation"])] = (size, node["operation"])
    return [text for _, text in found.values()]


def through_onnxruntime(operation, arrays):
    writer, values = Writer(), []
    for number, (argument, type_) in enumerate(operation.tensors()):
        weights = WEIGHTS.get(operation.name, ())
        values.append(writer.weight(f"w{number}", arrays[number], type_.dtype) if argument in weights
                      else writer.input(f"x{number}", type_))
    made = write(Call(writer, operation, values))
    shown = [writer.emit("Identity", value, sizes=value.sizes) for value in made]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(writer.model(shown).SerializeToString(), options, providers=["CPUExecutionProvider"])
    wanted = {item.name for item in session.get_inputs()}
    return session.run(None, {f"x{number}": array for number, array in enumerate(arrays) if f"x{number}" in wanted}), made


def through_torch(operation, arrays):
    return support.torch_call(operation, [torch.from_numpy(array.copy()) for array in arrays])


class Translation(unittest.TestCase):
    tested = set()

    def compare(self, text):
        operation, maker = parse_operation(text), Maker(7)
        Translation.tested.add(operation.name)
        arrays = [maker.make(type_, content) for (_, type_), content in zip(operation.tensors(), contents(operation))]
        expected = through_torch(operation, arrays)
        found, values = through_onnxruntime(operation, arrays)
        self.assertEqual(len(found), len(expected))
        for mine, value, right in zip(found, values, expected):
            right = right.numpy()
            # What later calls take its shape and dtype to be, too.
            self.assertEqual((mine.shape, mine.dtype, tuple(value.sizes)), (right.shape, right.dtype, right.shape))
            if mine.dtype.kind == "f":
                scale = numpy.abs(right[numpy.isfinite(right)]).max(initial=1.0)
                numpy.testing.assert_allclose(mine, right, rtol=1e-3, atol=(1e-3 if mine.dtype == "f2" else 2e-5) * scale)
            else:
                numpy.testing.assert_array_equal(mine, right)

    def test_1_each_form_of_the_zoo_computes_what_torch_computes(self):
        for text in zoo_operations():
            with self.subTest(text):
                self.compare(text)

    def test_2_forms_that_the_zoo_lacks_compute_what_torch_computes(self):
        for text in MORE.strip().splitlines():
            with self.subTest(text):
                self.compare(text)

    def test_3_every_entry_of_the_table_was_compared(self):
        if not Translation.tested:
            self.skipTest("the comparisons did not run")
        self.assertEqual(set(TABLE) - Translation.tested, set())


class Limits(unittest.TestCase):
    def refused(self, text):
        operation = parse_operation(text)
        writer = Writer()
        values = [writer.input(f"x{number}", type_) for number, (_, type_) in enumerate(operation.tensors())]
        with self.assertRaises(Unsupported) as caught:
            write(Call(writer, operation, values))
        return str(caught.exception)

    def test_what_onnx_cannot_say_is_refused_with_the_reason(self):
        self.assertIn("aten::no_such_operation", self.refused("aten::no_such_operation(self=f32[8])"))
        self.assertIn("training", self.refused("aten::dropout(input=f32[8], p=0.5, train=true)"))
        self.assertIn("training", self.refused("aten::batch_norm(input=f32[2,8,5], weight=f32[8], bias=f32[8], running_mean=f32[8], "
                                               "running_var=f32[8], training=true, momentum=0.1, eps=1e-05, cudnn_enabled=true)"))
        self.assertIn("mask as index", self.refused("aten::index.Tensor(self=f32[6,4], indices=[bool[6]])"))
        self.assertIn("beta", self.refused("aten::softplus(self=f32[8], beta=2)"))

    def test_shapes_that_do_not_go_together_are_refused(self):
        for text in ("aten::matmul(self=f32[8,3], other=f32[5,8])", "aten::linear(input=f32[2,3], weight=f32[4,8])",
                     "aten::add.Tensor(self=f32[3], other=f32[4])", "aten::view(self=f32[4,8], size=[5,-1])",
                     "aten::conv2d(input=f32[1,3,8,8], weight=f32[4,5,3,3])"):
            with self.subTest(text):
                self.assertTrue(self.refused(text))


if __name__ == "__main__":
    unittest.main()
