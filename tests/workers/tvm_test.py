"""joulecast-tvm: what its modules compute, which kernels do which calls, and the worker over its pipes."""
import dataclasses
import importlib.util
import os
import subprocess
import sys
import unittest

import support

support.need("tvm", "onnx", "numpy")

import numpy
import tvm
import zoo_graphs
from joulecast_measuring.contents import Maker, input_contents
from joulecast_onnxruntime.network import NetworkWriter
from joulecast_measuring.requests import Unsupported, graph_of
from joulecast_measuring.serve import told_kernels
from joulecast_tvm.compiling import Tuner, what_is_untuned
from joulecast_tvm.engine import Lowered, array_of

PROGRAM = support.BIN / "joulecast-tvm"
ENVIRONMENT = os.environ | {"JOULECAST_TVM_PYTHON": sys.executable}
# A convolution whose result two branches read, with the same calls in both: equal kernels are one function in TVM.
BRANCHES = graph_of({
    "schema": "joulecast.graph/1", "name": "branches", "mode": "inference", "has_edges": True,
    "inputs": [{"name": "x", "kind": "user_input", "type": "f32[1,3,8,8]"}, {"name": "w", "kind": "parameter", "type": "f32[3,3,3,3]"},
               {"name": "v", "kind": "parameter", "type": "f32[3,3,3,3]"}],
    "nodes": [
        {"operation": "aten::conv2d(input=f32[1,3,8,8], weight=f32[3,3,3,3], padding=[1,1])", "inputs": ["input.0", "input.1"],
         "outputs": ["f32[1,3,8,8]"]},
        {"operation": "aten::relu(self=f32[1,3,8,8])", "inputs": ["0.0"], "outputs": ["f32[1,3,8,8]"]},
        {"operation": "aten::conv2d(input=f32[1,3,8,8], weight=f32[3,3,3,3], padding=[1,1])", "inputs": ["1.0", "input.2"],
         "outputs": ["f32[1,3,8,8]"]},
        {"operation": "aten::relu(self=f32[1,3,8,8])", "inputs": ["2.0"], "outputs": ["f32[1,3,8,8]"]},
        {"operation": "aten::add.Tensor(self=f32[1,3,8,8], other=f32[1,3,8,8])", "inputs": ["3.0", "1.0"], "outputs": ["f32[1,3,8,8]"]},
        {"operation": "aten::flatten.using_ints(self=f32[1,3,8,8], start_dim=1)", "inputs": ["4.0"], "outputs": ["f32[1,192]"]}],
    "outputs": ["5.0"]})


def lowered(graph, maker):
    """(the lowered network, what goes into it, all inputs of the graph by number)."""
    network, filling = NetworkWriter(graph), input_contents(graph)
    arrays = [maker.make(item.type, content) for item, content in zip(graph.inputs, filling)]
    outputs = network.write()
    for name, number in network.weights.items():
        network.writer.input(name, graph.inputs[number].type)
    made = Lowered(network.writer, outputs, {name: arrays[number] for name, number in network.weights.items()})
    return made, [tvm.runtime.tensor(arrays[int(name.removeprefix("input."))]) for name in made.inputs], arrays


def convolution(x, weight):
    """With a border of one zero, as numpy has it."""
    padded = numpy.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = numpy.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return numpy.einsum("nchwij,ocij->nohw", windows, weight)


class Networks(unittest.TestCase):
    def test_a_network_computes_what_its_calls_compute(self):
        made, inputs, (x, first, second) = lowered(BRANCHES, Maker(1))
        relu = numpy.maximum(convolution(x, first), 0)
        right = numpy.maximum(convolution(relu, second), 0) + relu
        found = array_of(made.compiled().run(*inputs))
        numpy.testing.assert_allclose(found, right.reshape(1, 192), rtol=1e-4, atol=1e-4)

    def test_kernels_that_are_one_function_tell_their_own_calls_each(self):
        made, _, _ = lowered(BRANCHES, Maker(1))
        self.assertEqual([kernel["operations"] for kernel in made.kernels], [[0, 1], [2, 3, 4]])
        self.assertEqual(told_kernels(made.kernels)["fused_share"], 1.0)

    def test_every_kernel_of_networks_tells_its_calls(self):
        # Constants of a clamp are handed to a grouped function as arguments, which no value of the network is.
        for name in ("mobilenet_v2", "densenet121", "gpt2-decode"):
            with self.subTest(name):
                graph = graph_of(zoo_graphs.graph(name))
                made, _, _ = lowered(graph, Maker(1))
                self.assertEqual([kernel for kernel in made.kernels if not kernel["operations"]], [])
                done = {call for kernel in made.kernels for call in kernel["operations"]}
                heavy = {number for number, node in enumerate(graph.nodes) if node.operation.name in ("conv2d", "linear", "batch_norm")}
                self.assertEqual(heavy - done, set())


# One kernel, which is what takes time to tune.
SINGLE = dataclasses.replace(BRANCHES, nodes=BRANCHES.nodes[:2], outputs=[(1, 0)])


class Tuning(unittest.TestCase):
    def test_what_was_not_tuned_is_said(self):
        self.assertEqual(what_is_untuned(0, 5, 8), "")
        self.assertIn("2 of 5 kernels run untuned", what_is_untuned(2, 5, 8))
        with self.assertRaisesRegex(Unsupported, "none of 8 trials"):
            what_is_untuned(5, 5, 8)

    @unittest.skipUnless(all(map(importlib.util.find_spec, ("cloudpickle", "psutil", "tornado", "xgboost"))), "what MetaSchedule needs is missing")
    def test_a_tuned_network_computes_the_same(self):
        made, inputs, _ = lowered(SINGLE, Maker(1))
        tuner = Tuner(1)
        tuned = made.compiled(tuner)
        numpy.testing.assert_allclose(array_of(tuned.run(*inputs)), array_of(made.compiled().run(*inputs)), rtol=1e-4, atol=1e-4)
        self.assertEqual(tuned.message, "")
        # The second time it is known: `profile` asks for its reference operation once a minute.
        tuner.tune = None
        self.assertEqual(made.compiled(tuner).message, "")


class Protocol(support.WorkerTest, unittest.TestCase):
    program, environment, point = PROGRAM, ENVIRONMENT, {"engine": "tvm"}

    def test_hello_names_engine_and_version(self):
        hello = self.worker.ask("hello")["hello"]
        self.assertEqual((hello["engine"], hello["provenance"]["framework"]), ("tvm", f"tvm {tvm.__version__}"))

    def test_a_network_tells_its_kernels_and_the_memory_that_tvm_plans(self):
        measured = self.worker.network(zoo_graphs.graph("squeezenet1_1"))
        self.assertIn(measured["outcome"], ("ok", "unstable"), measured["message"])
        self.assertGreater(measured["fused_share"], 0.5)
        # The largest two results that are alive at once: 64 channels of 111 x 111, before and after the first pool of 55 x 55.
        self.assertGreaterEqual(measured["peak_memory_bytes"], 4 * 64 * (111 * 111 + 55 * 55))

    def test_an_operation_rotates_over_its_working_set(self):
        measured = self.worker.measure("aten::relu(self=f32[64,64])", working_set_bytes=1 << 20)
        self.assertIn(measured["outcome"], ("ok", "unstable"), measured["message"])
        self.assertGreaterEqual(measured["working_set_bytes"], 1 << 20)
        self.assertEqual(measured["peak_memory_bytes"], 64 * 64 * 4)

    def test_time_runs_makes_as_many_calls_as_it_is_asked_for(self):
        answer = self.worker.ask("time_runs", operation="aten::relu(self=f32[64])", point=self.worker.point, settings=self.worker.quick,
                                 calls=[1, 100, 7])
        self.assertEqual([run["calls"] for run in answer["runs"]], [1, 100, 7])

    def test_what_is_a_view_for_tvm_is_unsupported(self):
        measured = self.worker.measure("aten::view(self=f32[64,64], size=[4096])")
        self.assertEqual(measured["outcome"], "unsupported")
        self.assertIn("runs nothing", measured["message"])


class Options(unittest.TestCase):
    def test_a_wrong_option_is_named(self):
        ended = subprocess.run([PROGRAM, "--trials", "-1"], capture_output=True, text=True, env=ENVIRONMENT, timeout=60)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("--trials", ended.stderr)


if __name__ == "__main__":
    unittest.main()
