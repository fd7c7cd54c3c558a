"""Whole networks: what the ONNX model computes against torch call by call, and which kernels do which calls."""
import types
import unittest

import support

support.need("onnxruntime", "onnx")

import numpy
import onnx
import zoo_graphs
from joulecast_measuring.contents import Maker, input_contents, numpy_dtype
from joulecast_measuring.requests import Unsupported, graph_of
from joulecast_onnxruntime import sessions
from joulecast_onnxruntime.engine import written
from joulecast_onnxruntime.kernels import kernels, told
from joulecast_onnxruntime.network import NetworkWriter
from joulecast_onnxruntime.original import Original

ONE_THREAD = types.SimpleNamespace(threads=1, processors=[0])


def optimised(graph, fill):
    """(the writer, its outputs, the session, its optimised model) of a graph, each input filled by its number."""
    network = NetworkWriter(graph)
    outputs = network.write()
    model, arrays = written(network, outputs, fill)
    return network, outputs, *sessions.optimised(model, sessions.options(ONE_THREAD, sessions.ALL), arrays)


def tiny(nodes, inputs, outputs):
    """A graph by hand: inputs as (kind, type), nodes as (operation, inputs, types)."""
    return graph_of({"schema": "joulecast.graph/1", "has_edges": True, "name": "tiny",
                     "inputs": [{"name": f"x{number}", "kind": kind, "type": type_} for number, (kind, type_) in enumerate(inputs)],
                     "nodes": [{"operation": operation, "inputs": references, "outputs": types_} for operation, references, types_ in nodes],
                     "outputs": outputs})


def call_by_call(graph, arrays):
    """The graph's outputs as torch computes them; writing into views works there by itself."""
    import torch
    values = {(-1, number): torch.from_numpy(array.copy()) for number, array in enumerate(arrays)}
    for number, node in enumerate(graph.nodes):
        if not node.operation.is_arithmetic_on_sizes:
            made = support.torch_call(node.operation, [values[reference] for reference in node.inputs])
            values |= {(number, output): value for output, value in enumerate(made)}
    return [values[reference].numpy() for reference in dict.fromkeys(graph.outputs) if reference in values]


class Numbers(unittest.TestCase):
    def compare(self, graph):
        maker, filling = Maker(3), input_contents(graph)
        arrays = [maker.make(item.type, content) for item, content in zip(graph.inputs, filling)]
        _, outputs, session, _ = optimised(graph, arrays.__getitem__)
        wanted = {item.name for item in session.get_inputs()}
        given = {f"input.{number}": array for number, array in enumerate(arrays) if f"input.{number}" in wanted}
        for mine, right in zip(session.run([value.name for value in outputs], given), call_by_call(graph, arrays), strict=True):
            self.assertEqual(mine.shape, right.shape)
            numpy.testing.assert_allclose(mine, right, rtol=2e-3, atol=2e-3 * numpy.abs(right).max(initial=0.0))

    def test_networks_of_the_zoo_compute_what_torch_computes(self):
        support.need("torch")
        # Convolutions with what is fused into them; channels taken apart; masks written in place; a cache written through views; tied weights.
        for name in ("resnet18@32", "mobilenet_v3_small", "shufflenet_v2_x1_0", "swin_v2_t", "t5-small", "gpt2-decode"):
            with self.subTest(name):
                self.compare(graph_of(zoo_graphs.graph(name)))

    def test_a_call_in_place_stands_for_what_it_wrote_to(self):
        support.need("torch")
        # The sum reads node 0, which relu_ wrote to.
        self.compare(tiny([("aten::mul.Tensor(self=f32[4], other=2.0)", ["input.0"], ["f32[4]"]),
                           ("aten::relu_(self=f32[4])", ["0.0"], ["f32[4]"]),
                           ("aten::add.Tensor(self=f32[4], other=f32[4])", ["0.0", "input.0"], ["f32[4]"])],
                          [("user_input", "f32[4]")], ["2.0"]))

    def test_what_is_written_to_a_view_is_written_to_what_it_is_a_view_of(self):
        support.need("torch")
        for view, small in (("aten::slice.Tensor(self=f32[4,6], dim=1, start=2, end=5)", "4,3"),
                            ("aten::select.int(self=f32[4,6], dim=0, index=-1)", "6"),
                            ("aten::narrow(self=f32[4,6], dim=0, start=0, length=3)", "3,6"),
                            ("aten::transpose.int(self=f32[4,6], dim0=0, dim1=1)", "6,4"),
                            ("aten::view(self=f32[4,6], size=[2,12])", "2,12")):
            with self.subTest(view):
                self.compare(tiny([("aten::mul.Tensor(self=f32[4,6], other=2.0)", ["input.0"], ["f32[4,6]"]),
                                   (view, ["0.0"], [f"f32[{small}]"]),
                                   (f"aten::fill_.Scalar(self=f32[{small}], value=7.0)", ["1.0"], [f"f32[{small}]"]),
                                   ("aten::add.Tensor(self=f32[4,6], other=1.0)", ["0.0"], ["f32[4,6]"])],
                                  [("user_input", "f32[4,6]")], ["3.0"]))

    def test_a_view_that_is_out_of_date_is_refused_and_not_run_wrong(self):
        graph = tiny([("aten::mul.Tensor(self=f32[4,6], other=2.0)", ["input.0"], ["f32[4,6]"]),
                      ("aten::select.int(self=f32[4,6], dim=0, index=0)", ["0.0"], ["f32[6]"]),
                      ("aten::select.int(self=f32[4,6], dim=0, index=0)", ["0.0"], ["f32[6]"]),
                      ("aten::relu_(self=f32[6])", ["1.0"], ["f32[6]"]),
                      ("aten::add.Tensor(self=f32[6], other=1.0)", ["2.0"], ["f32[6]"])], [("user_input", "f32[4,6]")], ["4.0"])
        with self.assertRaisesRegex(Unsupported, "written to"):
            NetworkWriter(graph).write()


class Memory(unittest.TestCase):
    def test_values_count_while_they_are_alive_and_shapes_cost_nothing(self):
        node = onnx.helper.make_node
        graph = types.SimpleNamespace(node=[
            node("Relu", ["x"], ["a"]), node("Reshape", ["a", "shape"], ["b"]), node("Relu", ["b"], ["c"]), node("Relu", ["c"], ["d"]),
            node("Relu", ["d"], ["unread"]), node("Concat", ["d", "d"], ["y"])])
        sizes = {"a": 100, "b": 100, "c": 100, "d": 10, "unread": 1, "y": 20}
        # a and c; b is a. Later c and d, then d with either of the last two.
        self.assertEqual(sessions.peak_bytes(graph, sizes, ["y"]), 200)
        # Were a an output of the model, it would be there with all others.
        self.assertEqual(sessions.peak_bytes(graph, sizes, ["y", "a"]), 210)
        self.assertEqual(sessions.peak_bytes(graph, sizes | {"a": 0, "c": 0}, ["y"]), 30)


class Kernels(unittest.TestCase):
    def kernels(self, graph):
        """Weights are ones: what is fused does not hang on their numbers."""
        network, _, _, model = optimised(graph, lambda number: numpy.ones(graph.inputs[number].type.sizes,
                                                                          numpy_dtype(graph.inputs[number].type.dtype)))
        return kernels(Original.of(network.writer), model.graph)

    def test_a_residual_block_is_two_kernels(self):
        # conv 0, norm 1, relu 2, conv 3, norm 4, + input 5, relu 6: the sum and the last relu belong to the second convolution.
        convolution = "aten::conv2d(input=f32[1,32,8,8], weight=f32[32,32,3,3], padding=[1,1])"
        norm = ("aten::batch_norm(input=f32[1,32,8,8], weight=f32[32], bias=f32[32], running_mean=f32[32], running_var=f32[32], "
                "training=false, momentum=0.1, eps=1e-05, cudnn_enabled=true)")
        relu, add = "aten::relu(self=f32[1,32,8,8])", "aten::add.Tensor(self=f32[1,32,8,8], other=f32[1,32,8,8])"
        image, weights = "f32[1,32,8,8]", [f"input.{number}" for number in range(2, 6)]
        # The input comes out of a convolution too, so that it is in blocks already.
        found = self.kernels(tiny(
            [(convolution, ["input.0", "input.1"], [image]),
             (convolution, ["0.0", "input.1"], [image]), (norm, ["1.0", *weights], [image]), (relu, ["2.0"], [image]),
             (convolution, ["3.0", "input.1"], [image]), (norm, ["4.0", *weights], [image]), (add, ["5.0", "0.0"], [image]),
             (relu, ["6.0"], [image])],
            [("user_input", image), ("parameter", "f32[32,32,3,3]"), *[("parameter", "f32[32]")] * 4], ["7.0"]))
        convolutions = [kernel.operations for kernel in found if kernel.kind.endswith("Conv")]
        self.assertEqual(convolutions, [[0], [1, 2, 3], [4, 5, 6, 7]])
        self.assertEqual(told(found)["fused_share"], 7 / 8)

    def test_a_norm_before_a_convolution_is_a_kernel_of_its_own(self):
        # As in DenseNet: convolutions 0 and 1 joined by 2, norm 3, relu 4, convolution 5, silu 6, convolution 7. The optimiser gives the norm's
        # and the silu's results other names.
        wide, image = "f32[1,64,8,8]", "f32[1,32,8,8]"
        convolution = "aten::conv2d(input=f32[1,32,8,8], weight=f32[32,32,1,1])"
        norm = ("aten::batch_norm(input=f32[1,64,8,8], weight=f32[64], bias=f32[64], running_mean=f32[64], running_var=f32[64], "
                "training=false, momentum=0.1, eps=1e-05, cudnn_enabled=true)")
        found = self.kernels(tiny(
            [(convolution, ["input.0", "input.1"], [image]), (convolution, ["0.0", "input.1"], [image]),
             ("aten::cat(tensors=[f32[1,32,8,8],f32[1,32,8,8]], dim=1)", ["0.0", "1.0"], [wide]),
             (norm, ["2.0"] + ["input.3"] * 4, [wide]), ("aten::relu(self=f32[1,64,8,8])", ["3.0"], [wide]),
             ("aten::conv2d(input=f32[1,64,8,8], weight=f32[32,64,1,1])", ["4.0", "input.2"], [image]),
             ("aten::silu(self=f32[1,32,8,8])", ["5.0"], [image]), (convolution, ["6.0", "input.1"], [image])],
            [("user_input", image), ("parameter", "f32[32,32,1,1]"), ("parameter", "f32[32,64,1,1]"), ("parameter", "f32[64]")], ["7.0"]))
        self.assertEqual({tuple(kernel.operations) for kernel in found}, {(0,), (1,), (2,), (3, 4), (5,), (6,), (7,)})

    def test_what_is_computed_before_the_run_is_in_no_kernel(self):
        found = self.kernels(tiny([("aten::mul.Tensor(self=f32[8], other=2.0)", ["input.1"], ["f32[8]"]),
                                   ("aten::sqrt(self=f32[8])", ["0.0"], ["f32[8]"]),
                                   ("aten::add.Tensor(self=f32[4,8], other=f32[8])", ["input.0", "1.0"], ["f32[4,8]"])],
                                  [("user_input", "f32[4,8]"), ("parameter", "f32[8]")], ["2.0"]))
        self.assertEqual([kernel.operations for kernel in found], [[2]])

    def test_a_call_of_several_nodes_is_one_operation(self):
        found = self.kernels(tiny([("aten::scaled_dot_product_attention(query=f32[1,2,4,8], key=f32[1,2,4,8], value=f32[1,2,4,8])",
                                    ["input.0", "input.1", "input.2"], ["f32[1,2,4,8]"])], [("user_input", "f32[1,2,4,8]")] * 3, ["0.0"]))
        self.assertGreater(len(found), 1)
        self.assertEqual({tuple(kernel.operations) for kernel in found}, {(0,)})
        self.assertEqual(told(found)["fused_share"], 0.0)

    def test_all_kernels_of_the_zoo_are_told(self):
        for name in ("mobilenet_v3_small", "efficientnet_b0", "inception_v3", "swin_v2_t", "whisper-tiny", "t5-small"):
            with self.subTest(name):
                found = self.kernels(graph_of(zoo_graphs.graph(name)))
                unknown = [kernel.kind for kernel in found if not kernel.operations]
                self.assertLessEqual(len(unknown), 0.02 * len(found), unknown)


if __name__ == "__main__":
    unittest.main()
