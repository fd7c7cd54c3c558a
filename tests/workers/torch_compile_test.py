"""joulecast-torch-compile over its pipes, and the modules that it compiles."""
import os
import types
import unittest

import support

support.need("torch", "numpy")

import torch
import zoo_graphs
from joulecast_measuring.contents import Maker, contents, input_contents
from joulecast_measuring.requests import graph_of
from joulecast_measuring.signature import parse_operation
from joulecast_torch_compile.engine import compiled_network, with_channels_last
from joulecast_torch_compile.kernels import Backend, kernels, without_views
from joulecast_torch_compile.modules import is_view, module_of_call, module_of_graph, tensor

PROGRAM = support.BIN / "joulecast-torch-compile"
ENVIRONMENT = os.environ | {"JOULECAST_TORCH_COMPILE_PYTHON": os.environ.get("JOULECAST_TORCH_COMPILE_PYTHON", "python3")}


class Modules(unittest.TestCase):
    def test_tensors_have_the_strides_of_their_signature(self):
        for text in ("f32[2,3,4]{1,2,6}", "f32[4,8]{0,1}", "f32[2,3,4,4]{cl}", "bf16[2,3]", "i64[5]"):
            with self.subTest(text):
                operation = parse_operation(f"aten::relu(self={text})")
                (_, type_), (content,) = operation.tensors()[0], contents(operation)
                made = tensor(type_, content, Maker(1))
                self.assertEqual(tuple(made.shape), type_.sizes)
                if type_.strides:
                    self.assertEqual(made.stride(), type_.strides)
                if made.is_floating_point():
                    self.assertTrue(made.float().abs().min() > 0)

    def test_a_network_as_a_module_computes_what_its_calls_compute(self):
        for name in ("resnet18@32", "gpt2-decode"):
            graph, maker = graph_of(zoo_graphs.graph(name)), Maker(2)
            inputs = [tensor(item.type, content, maker) for item, content in zip(graph.inputs, input_contents(graph))]
            values = {(-1, number): value.clone() for number, value in enumerate(inputs)}
            for number, node in enumerate(graph.nodes):
                if not node.operation.is_arithmetic_on_sizes:
                    made = support.torch_call(node.operation, [values[reference] for reference in node.inputs])
                    values |= {(number, output): value for output, value in enumerate(made)}
            module, _ = module_of_graph(graph)
            with torch.inference_mode():
                found = module(*(value.clone() for value in inputs))
            for mine, right in zip(found, (values[reference] for reference in graph.outputs), strict=True):
                torch.testing.assert_close(mine, right)

    def test_a_call_is_made_with_all_of_its_arguments(self):
        module = module_of_call(parse_operation("aten::clamp(self=f32[4], min=-0.5, max=0.5)"))
        self.assertEqual(module(torch.tensor([-1.0, 0.0, 1.0, 0.2])).tolist(), torch.tensor([-0.5, 0.0, 0.5, 0.2]).tolist())


class Layouts(unittest.TestCase):
    def test_images_are_laid_out_as_within_a_network(self):
        laid_out = lambda text: with_channels_last(parse_operation(text)).tensors()[0][1].strides
        self.assertEqual(laid_out("aten::conv2d(input=f32[2,3,4,5], weight=f32[8,3,1,1])"), (60, 1, 15, 3))
        self.assertEqual(laid_out("aten::conv2d(input=f32[2,3,4,5]{1,2,6,24}, weight=f32[8,3,1,1])"), (1, 2, 6, 24))
        self.assertIsNone(laid_out("aten::relu(self=f32[2,3,4,5])"))
        self.assertIsNone(laid_out("aten::conv1d(input=f32[2,3,4], weight=f32[8,3,1])"))


class Kernels(unittest.TestCase):
    def kernels(self, name):
        """(names of operations of each kernel, names of those in none, the graph)."""
        graph = graph_of(zoo_graphs.graph(name))
        module, numbers = module_of_graph(graph)
        tensors = [tensor(item.type, content, Maker(1)) for item, content in zip(graph.inputs, input_contents(graph))]
        _, found = compiled_network(module, numbers, tensors)
        views = {number for number in numbers if is_view(graph.nodes[number].operation)}
        calls = [kernel["operations"] for kernel in without_views(found, views)]
        run = {call for group in calls for call in group}
        names = lambda numbers: [graph.nodes[number].operation.name for number in numbers]
        return list(map(names, calls)), names(number for number in numbers if number not in run)

    def test_every_kernel_has_its_calls_and_every_call_that_computes_its_kernel(self):
        found, not_run = self.kernels("resnet18@32")
        self.assertNotIn([], found)
        self.assertEqual(found.count(["batch_norm", "relu"]), 9)
        self.assertEqual(found.count(["batch_norm", "add", "relu"]) + found.count(["batch_norm", "batch_norm", "add", "relu"]), 7)
        # Twenty convolutions, and changes of layout of their own.
        self.assertGreaterEqual(found.count(["conv2d"]), 20)
        self.assertIn(["batch_norm", "add", "relu", "adaptive_avg_pool2d"], found)
        self.assertEqual(not_run, ["flatten"])

    def test_views_run_in_no_kernel_and_what_is_written_into_place_is_found(self):
        found, not_run = self.kernels("gpt2-decode")
        self.assertNotIn([], found)
        self.assertEqual(found.count(["copy"]), 24)
        self.assertLessEqual(set(not_run), {"view", "to", "dropout", "split", "reshape", "alias", "transpose", "narrow", "unsqueeze"})
        self.assertIn(["add", "layer_norm"], found)
        self.assertEqual(found.count(["addmm"]), 48)

    def test_pieces_of_several_concatenations_in_one_kernel_leave_these_apart(self):
        class Node:
            all_input_nodes = ()

            def __init__(self, call):
                self.meta = {"from_node": [types.SimpleNamespace(name=f"call{call}", from_node=[])]}

        def step(*buffers):
            """Of (its own node, its origins)."""
            made = [types.SimpleNamespace(get_origin_node=lambda own=own: own, get_origins=lambda origins=origins: origins, is_no_op=lambda: False)
                    for own, origins in buffers]
            return types.SimpleNamespace(get_nodes=lambda: [types.SimpleNamespace(node=buffer) for buffer in made])
        relu, first, second = Node(2), Node(3), Node(5)
        found = kernels([step((relu, [relu])), step((None, [first, relu]), (None, [second, relu]))])
        self.assertEqual([kernel["operations"] for kernel in found], [[2], [3], [5]])

    def test_other_calls_than_those_of_the_module_tell_no_kernels(self):
        backend = Backend(module_of_call(parse_operation("aten::relu(self=f32[4])")), [0])
        made = backend(module_of_call(parse_operation("aten::sigmoid(self=f32[4])")), [torch.ones(4)])
        self.assertEqual(backend.kernels, None)
        torch.testing.assert_close(made(torch.ones(4)), torch.ones(4).sigmoid())


class Protocol(support.WorkerTest, unittest.TestCase):
    program, environment, point = PROGRAM, ENVIRONMENT, {"engine": "torch-compile", "host": "python"}

    def test_an_operation_in_place_is_measured_as_a_network_compiles_it(self):
        measured = self.worker.measure("aten::relu_(self=f32[64,64])")
        self.assertIn(measured["outcome"], ("ok", "unstable"), measured["message"])
        self.assertIn("measured as aten::relu", measured["message"])
        self.assertEqual(measured["peak_memory_bytes"], 64 * 64 * 4)


if __name__ == "__main__":
    unittest.main()
