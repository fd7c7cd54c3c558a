"""joulecast-openvino: what its networks compute, which steps do which calls, and the worker over its pipes."""
import os
import sys
import unittest

import support

support.need("openvino", "onnx", "numpy")

import numpy
import zoo_graphs
from joulecast_measuring.contents import Maker, input_contents
from joulecast_measuring.requests import SETTINGS, graph_of
from joulecast_measuring.serve import Request
from joulecast_onnxruntime.network import NetworkWriter
from joulecast_openvino.engine import Loaded, OpenVino

PROGRAM = support.BIN / "joulecast-openvino"
ENVIRONMENT = os.environ | {"JOULECAST_OPENVINO_PYTHON": sys.executable}


PROCESSORS = sorted(os.sched_getaffinity(0))  # before anything is loaded for one of them
CORE = OpenVino().core


def request(threads=1):
    return Request({name: default for name, (default, _) in SETTINGS.items()} | {"threads": threads}, threads, PROCESSORS, 1 << 20)


def loaded(graph, threads=1):
    """(the loaded network, its inputs by name, all inputs of the graph by number)."""
    maker, network = Maker(1), NetworkWriter(graph)
    arrays = [maker.make(item.type, content) for item, content in zip(graph.inputs, input_contents(graph))]
    outputs = network.write()
    weights = {name: arrays[number] for name, number in network.weights.items()}
    made = Loaded(CORE, network.writer, outputs, weights, request(threads))
    return made, {f"input.{number}": array for number, array in enumerate(arrays)}, arrays


def names_of(graph, calls):
    return [graph.nodes[number].operation.name for number in calls]


# The second product reads the first, the third the second: two of their results are alive at once.
CHAIN = graph_of({
    "schema": "joulecast.graph/1", "name": "chain", "mode": "inference", "has_edges": True,
    "inputs": [{"name": "x", "kind": "user_input", "type": "f32[64,64]"}, {"name": "w", "kind": "parameter", "type": "f32[64,64]"}],
    "nodes": [{"operation": "aten::mm(self=f32[64,64], mat2=f32[64,64])", "inputs": [read, "input.1"], "outputs": ["f32[64,64]"]}
              for read in ("input.0", "0.0", "1.0")],
    "outputs": ["2.0"]})


class Networks(unittest.TestCase):
    def groups(self, name):
        """(names of the calls of each kernel, names of those in none)."""
        graph = graph_of(zoo_graphs.graph(name))
        made, _, _ = loaded(graph)
        run = {call for kernel in made.kernels for call in kernel["operations"]}
        return ([names_of(graph, kernel["operations"]) for kernel in made.kernels],
                names_of(graph, [number for number in range(len(graph.nodes)) if number not in run]))

    def test_what_is_fused_into_a_convolution_is_told_with_it(self):
        found, not_run = self.groups("resnet18@32")
        self.assertEqual(found.count(["conv2d", "batch_norm", "add", "relu"]), 8)
        self.assertGreaterEqual(found.count(["conv2d", "batch_norm", "relu"]), 9)
        self.assertEqual(found.count(["conv2d", "batch_norm"]), 3)
        # Of a map of one point the mean is itself.
        self.assertEqual(not_run, ["adaptive_avg_pool2d"])

    def test_an_activation_belongs_to_the_product_before_it(self):
        found, not_run = self.groups("gpt2")
        self.assertEqual(found.count(["addmm", "mul", "pow", "mul", "add", "mul", "tanh", "add", "mul"]), 12)
        self.assertEqual(found.count(["addmm"]), 36)
        self.assertNotIn([], found)
        self.assertEqual({"addmm", "layer_norm", "scaled_dot_product_attention"} & set(not_run), set())

    def test_a_network_computes_what_torch_computes(self):
        try:
            import torch
        except ImportError:
            self.skipTest("there is no torch")
        graph = graph_of(zoo_graphs.graph("resnet18@32"))
        made, inputs, arrays = loaded(graph)
        values = {(-1, number): torch.from_numpy(array.copy()) for number, array in enumerate(arrays)}
        for number, node in enumerate(graph.nodes):
            if not node.operation.is_arithmetic_on_sizes:
                result = support.torch_call(node.operation, [values[reference] for reference in node.inputs])
                values |= {(number, output): value for output, value in enumerate(result)}
        right = values[graph.outputs[0]].numpy()
        numpy.testing.assert_allclose(made.results(inputs)[0], right, rtol=1e-3, atol=1e-3 * float(abs(right).max()))


class Memory(unittest.TestCase):
    def test_results_are_counted_while_they_are_alive(self):
        self.assertEqual(loaded(CHAIN)[0].peak_memory_bytes(), 2 * 4 * 64 * 64)


class Protocol(support.WorkerTest, unittest.TestCase):
    program, environment, point = PROGRAM, ENVIRONMENT, {"engine": "openvino"}

    def test_hello_names_engine_and_version(self):
        hello = self.worker.ask("hello")["hello"]
        self.assertEqual(hello["engine"], "openvino")
        self.assertRegex(hello["provenance"]["framework"], r"^openvino \d+\.\d+\.\d+$")

    def test_an_operation_rotates_over_its_working_set(self):
        measured = self.worker.measure("aten::relu(self=f32[64,64])", working_set_bytes=1 << 20)
        self.assertIn(measured["outcome"], ("ok", "unstable"), measured["message"])
        self.assertGreaterEqual(measured["working_set_bytes"], 1 << 20)

    def test_views_are_refused_with_the_reason(self):
        measured = self.worker.measure("aten::view(self=f32[64,64], size=[4096])")
        self.assertEqual(measured["outcome"], "unsupported")
        self.assertIn("OpenVINO runs nothing for it", measured["message"])

    def test_time_runs_makes_as_many_calls_as_it_is_asked_for(self):
        answer = self.worker.ask("time_runs", operation="aten::relu(self=f32[64])", point=self.worker.point, settings=self.worker.quick,
                                 calls=[1, 100, 7])
        self.assertEqual([run["calls"] for run in answer["runs"]], [1, 100, 7])


@unittest.skipIf(len(PROCESSORS) < 2, "there is one processor")
class Threads(unittest.TestCase):
    def test_as_many_run_as_were_asked_for_on_processors_of_their_own(self):
        self.addCleanup(os.sched_setaffinity, 0, PROCESSORS)
        for threads in (1, 2):
            made, _, _ = loaded(CHAIN, threads)
            self.assertEqual(made.compiled.get_property("INFERENCE_NUM_THREADS"), threads)
            self.assertEqual(len(os.sched_getaffinity(0)), threads)


if __name__ == "__main__":
    unittest.main()
