"""joulecast-torch-compile over its pipes, and the modules that it compiles."""
import os
import unittest

import support

support.need("torch", "numpy")

import torch
import zoo_graphs
from joulecast_measuring.contents import Maker, contents, input_contents
from joulecast_measuring.requests import graph_of
from joulecast_measuring.signature import parse_operation
from joulecast_torch_compile.modules import module_of_call, module_of_graph, tensor

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


class Protocol(support.WorkerTest, unittest.TestCase):
    program, environment, point = PROGRAM, ENVIRONMENT, {"engine": "torch-compile", "host": "python"}

    def test_an_operation_in_place_is_measured_as_a_network_compiles_it(self):
        measured = self.worker.measure("aten::relu_(self=f32[64,64])")
        self.assertIn(measured["outcome"], ("ok", "unstable"), measured["message"])
        self.assertIn("measured as aten::relu", measured["message"])
        self.assertEqual(measured["peak_memory_bytes"], 64 * 64 * 4)


if __name__ == "__main__":
    unittest.main()
