"""joulecast-tvm: what its modules compute, which kernels do which calls, and the worker over its pipes."""
import dataclasses
import functools
import importlib.util
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

import support

support.need("tvm", "onnx", "numpy")

import numpy
import tvm
import zoo_graphs
from joulecast_measuring.contents import Maker, input_contents
from joulecast_onnxruntime.network import NetworkWriter
from joulecast_measuring.requests import Unsupported, graph_of
from joulecast_measuring.serve import told_kernels
from joulecast_tvm.compiling import Tuner, relax_integration, what_is_untuned
from joulecast_tvm import places
from joulecast_tvm.engine import Loaded, Lowered, array_of
from joulecast_tvm.places import Board, Here, device_of

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


def written(graph, arrays):
    """(the writer of a network, its outputs, the arrays of its weights)."""
    network = NetworkWriter(graph)
    outputs = network.write()
    for name, number in network.weights.items():
        network.writer.input(name, graph.inputs[number].type)
    return network.writer, outputs, {name: arrays[number] for name, number in network.weights.items()}


def lowered(graph, maker):
    """(the lowered network, what goes into it, all inputs of the graph by number)."""
    arrays = [maker.make(item.type, content) for item, content in zip(graph.inputs, input_contents(graph))]
    made = Lowered(*written(graph, arrays), Here())
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
        # A schedule drawn at random: the search for a good one takes a minute, whatever the number of trials.
        drawn = functools.partial(relax_integration.tune_relax, strategy="replay-trace")
        with unittest.mock.patch.object(relax_integration, "tune_relax", drawn):
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


class Remote(unittest.TestCase):
    """A board is this machine, over the loopback."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.board = os.path.join(cls.folder.name, "board.json")
        pathlib.Path(cls.board).write_text(json.dumps({"id": "odroid-n2", "units": 4, "peak_flop_per_s_fp32": 57.6e9, "bandwidth_bytes_per_s": 10.6e9}))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            cls.port = free.getsockname()[1]
        cls.server = subprocess.Popen([sys.executable, "-m", "tvm.exec.rpc_server", "--host", "127.0.0.1", "--port", str(cls.port), "--port-end",
                                       str(cls.port + 1)], stderr=subprocess.DEVNULL, start_new_session=True)
        for _ in range(600):
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", cls.port)) == 0:
                    return
            time.sleep(0.1)
        raise RuntimeError("TVM's RPC server does not start")

    @classmethod
    def tearDownClass(cls):
        os.killpg(cls.server.pid, signal.SIGKILL)  # it serves in processes of its own
        cls.server.wait()
        cls.folder.cleanup()

    def words(self, port=None, board=None):
        return [str(PROGRAM), "--rpc", f"127.0.0.1:{port or self.port}", "--board", board or self.board]

    def ended(self, words):
        return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, env=ENVIRONMENT)

    def test_a_board_is_measured_under_its_own_name_and_keeps_the_promises_of_the_protocol(self):
        checked = support.worker_check(" ".join(self.words()), ENVIRONMENT)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        worker = support.Worker(self.words(), ENVIRONMENT, engine="tvm")
        self.addCleanup(worker.end)
        hello = worker.ask("hello")["hello"]
        self.assertEqual((hello["device"]["id"], hello["device"]["units"]), ("odroid-n2", 4))
        self.assertIn("reads no meter", hello["energy_missing_reason"])
        measured = worker.network(zoo_graphs.graph("resnet18@32"))
        self.assertIn(measured["outcome"], ("ok", "unstable"), measured["message"])
        self.assertEqual(measured["real"]["device"], "odroid-n2")
        self.assertIn("timed on the board", measured["message"])

    def test_a_network_computes_there_what_it_computes_here(self):
        board = Board(f"127.0.0.1:{self.port}", "", "", "", device_of(self.board))
        graph = SINGLE
        here, inputs, arrays = lowered(graph, Maker(1))
        there = Loaded(*written(graph, arrays), board, None)
        found = there.results({name: arrays[int(name.removeprefix("input."))] for name in there.inputs})
        numpy.testing.assert_allclose(found[0], array_of(here.compiled().run(*inputs)), rtol=1e-4, atol=1e-4)
        calls = there.calls([{name: arrays[int(name.removeprefix("input."))] for name in there.inputs}], 1)
        self.assertIsNone(calls.own_s())
        calls.run(3)
        self.assertEqual(calls.runs, 3)
        self.assertGreater(calls.own_s(), 0)

    def test_where_nobody_serves_the_message_says_how(self):
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            ended = self.ended(self.words(closed.getsockname()[1]))
        self.assertEqual(ended.returncode, 1)
        self.assertIn("python3 -m tvm.exec.rpc_server", ended.stderr)

    def test_a_server_that_hangs_is_given_up(self):
        with socket.socket() as silent, unittest.mock.patch.object(places, "CONNECT_S", 0.5):
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            with self.assertRaisesRegex(SystemExit, "does not answer"):
                places.connected(f"127.0.0.1:{silent.getsockname()[1]}")

    def test_a_board_has_a_name_and_numbers(self):
        for text, said in (("[]", "names no device"), ('{"id": ""}', "names no device"), ('{"id": "a", "units": "4"}', "units is '4'"),
                           ('{"id": "a", "peak_flop_per_s_fp32": 1e10}', "lacks bandwidth_bytes_per_s"),
                           ('{"id": "a"', "cannot be read")):
            pathlib.Path(self.folder.name, "other.json").write_text(text)
            with self.subTest(text), self.assertRaisesRegex(SystemExit, said):
                device_of(os.path.join(self.folder.name, "other.json"))

    def test_options_that_do_not_go_together_are_refused(self):
        for words, said in ((["--rpc", "board:9090"], "go together"), (["--cpu", "cortex-a73"], "are of a board"),
                            (["--rpc", "board", "--board", "b.json"], "is no HOST:PORT"),
                            (["--rpc", "board:9090", "--board", "b.json", "--trials", "8"], "does not tune over --rpc")):
            with self.subTest(words):
                ended = self.ended([str(PROGRAM), *words])
                self.assertEqual(ended.returncode, 2)
                self.assertIn(said, ended.stderr)


if __name__ == "__main__":
    unittest.main()
