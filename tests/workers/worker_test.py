"""joulecast-onnxruntime, and the worker of examples/, over their pipes."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import support
from joulecast_measuring import this_cpu

PROGRAM = support.BIN / "joulecast-onnxruntime"
EXAMPLE = support.WORKERS.parent / "examples" / "worker" / "numpy_worker.py"
ENVIRONMENT = os.environ | {"JOULECAST_ONNXRUNTIME_PYTHON": sys.executable}
CONVOLUTION = "aten::conv2d(input=f32[1,32,28,28], weight=f32[64,32,3,3], bias=f32[64], padding=[1,1])"
GRAPH = {
    "schema": "joulecast.graph/1", "name": "small", "mode": "inference", "has_edges": True, "symbols": {"batch": 8},
    "inputs": [{"name": "x", "kind": "user_input", "type": "f32[8,16]"}, {"name": "w", "kind": "parameter", "type": "f32[4,16]"}],
    "nodes": [
        {"operation": "aten::linear(input=f32[8,16], weight=f32[4,16])", "inputs": ["input.0", "input.1"], "outputs": ["f32[8,4]"]},
        {"operation": "aten::relu_(self=f32[8,4])", "inputs": ["0.0"], "outputs": ["f32[8,4]"]},
        {"operation": "aten::softmax.int(self=f32[8,4], dim=1)", "inputs": ["1.0"], "outputs": ["f32[8,4]"]}],
    "outputs": ["2.0"]}


class Protocol(support.WorkerTest, unittest.TestCase):
    program, environment, point = PROGRAM, ENVIRONMENT, {"engine": "onnxruntime"}

    @classmethod
    def setUpClass(cls):
        support.need("onnxruntime", "onnx")
        super().setUpClass()

    def test_hello_names_engine_and_versions_and_that_it_only_infers(self):
        import onnxruntime
        hello = self.worker.ask("hello")["hello"]
        self.assertEqual((hello["engine"], hello["provenance"]["framework"], hello["modes"]),
                         ("onnxruntime", f"onnxruntime {onnxruntime.__version__}", ["inference"]))

    def test_an_operation_rotates_over_its_working_set(self):
        measured = self.worker.measure(CONVOLUTION, working_set_bytes=2 << 20)
        self.assertIn(measured["outcome"], ("ok", "unstable"), measured["message"])
        self.assertGreaterEqual(measured["working_set_bytes"], 2 << 20)
        # Weights of 73,984 bytes and an input of 100,352: 13 sets make 2 MiB.
        self.assertGreaterEqual(measured["rotation"], 13)
        # The result in blocks of channels is as large as the plain one.
        self.assertEqual(measured["peak_memory_bytes"], 64 * 28 * 28 * 4)
        self.assertEqual(len(measured["block_s"]), measured["time"]["blocks"] + measured["time"]["dropped_blocks"])

    def test_time_runs_makes_as_many_calls_as_it_is_asked_for(self):
        # It made multiples of the 256 copies in its model: one call took as long as 256, on a busy machine longer than a thousand.
        answer = self.worker.ask("time_runs", operation="aten::relu(self=f32[64])", point=self.worker.point, settings=self.worker.quick,
                                 calls=[1, 1000, 7])
        self.assertEqual([run["calls"] for run in answer["runs"]], [1, 1000, 7])

    def test_slow_calls_in_few_copies_rotate_over_as_many_bytes(self):
        # On a busy machine calls seemed long, few copies were made, and their weights counted once for each set of inputs.
        measured = self.worker.measure("aten::conv2d(input=f32[1,128,56,56], weight=f32[128,128,3,3], padding=[1,1])",
                                       working_set_bytes=64 << 20)
        self.assertGreaterEqual(measured["working_set_bytes"], 64 << 20)

    def test_tensors_without_elements_are_measured(self):
        self.assertIn(self.worker.measure("aten::relu(self=f32[0,4])")["outcome"], ("ok", "unstable"))

    def test_strides_are_said_to_be_left_out(self):
        self.assertIn("no strides", self.worker.measure("aten::relu(self=f32[8,64]{1,8})")["message"])
        self.assertEqual(self.worker.measure("aten::relu(self=f32[8,64])", relative_half_width=1.0)["message"].count("strides"), 0)

    def test_what_it_cannot_run_is_named_and_the_rest_measured(self):
        for operation, words in (("aten::fft_rfft(self=f32[8])", "aten::fft_rfft"), ("aten::relu(self=f32[8]~)", "inference alone"),
                                 ("aten::alias(self=f32[8])", "runs nothing"), ("aten::relu(self=c64[8])", "c64"),
                                 ("aten::relu(self=bf16[8])", "implementation"), ("aten::arange(end=5)", "runs nothing")):
            with self.subTest(operation):
                measured = self.worker.measure(operation)
                self.assertEqual((measured["outcome"], measured["time"]["mean_s"]), ("unsupported", None))
                self.assertIn(words, measured["message"])
        self.assertIn(self.worker.measure("aten::relu(self=f32[8])")["outcome"], ("ok", "unstable"))

    def test_a_result_that_is_too_large_is_out_of_memory_and_it_goes_on(self):
        # The input has four bytes; the result is one and a half times the machine's memory.
        rows = int(this_cpu.this_cpu()["memory_bytes"] * 1.5 / 4 / 1024)
        measured = self.worker.measure(f"aten::expand(self=f32[1,1], size=[{rows},1024])")
        self.assertEqual(measured["outcome"], "out_of_memory", measured["message"])
        self.assertIn(self.worker.measure("aten::relu(self=f32[8])")["outcome"], ("ok", "unstable"))

    def test_a_network_with_operations_that_it_lacks_names_all_of_them(self):
        graph = json.loads(json.dumps(GRAPH).replace("aten::softmax.int", "aten::fft_rfft").replace("aten::relu_", "aten::erfinv"))
        network = self.worker.network(graph)
        self.assertEqual(network["outcome"], "unsupported")
        self.assertIn("aten::erfinv, aten::fft_rfft", network["message"])

    def test_a_network_tells_its_kernels(self):
        network = self.worker.network(GRAPH)
        self.assertIn(network["outcome"], ("ok", "unstable"), network["message"])
        self.assertEqual(network["kernels"], [{"kernel": "com.microsoft.FusedGemm", "operations": [0, 1]},
                                              {"kernel": "Softmax", "operations": [2]}])
        self.assertAlmostEqual(network["fused_share"], 2 / 3)
        self.assertEqual((network["resident_bytes"], network["symbols"]), (4.0 * (8 * 16 + 4 * 16), {"batch": 8}))
        # The product and the softmax: 128 bytes each.
        self.assertEqual(network["peak_memory_bytes"], 256.0)

    def test_what_it_cannot_set_is_refused_and_not_ignored(self):
        for point, settings, words in (({"engine": "torch"}, {}, "engine torch"), ({"device": "cuda:0"}, {}, "cuda:0"),
                                       ({"math": "tf32"}, {}, "tf32"), ({"host": "python"}, {}, "host python"),
                                       ({"sm_clock_mhz": 900}, {}, "clock"), ({}, {"method": "thesis"}, "thesis"),
                                       ({}, {"threads": 4096}, "4096 threads"), ({}, {"seed": -1}, "settings.seed")):
            with self.subTest(words):
                answer = self.worker.ask("measure", operation="aten::relu(self=f32[8])", point=self.worker.point | point,
                                         settings=self.worker.quick | settings)
                self.assertEqual(answer["response"], "failure")
                self.assertIn(words, answer["message"])

    def test_lines_that_are_no_requests_are_failures_and_it_goes_on(self):
        operation = '"operation":"aten::relu(self=f32[8])"'
        for line, words in (("[]", "no JSON object"), ("[" * 100000, "line cannot be read"), ("{", "line cannot be read"),
                            ('{"protocol":1}', "field request is missing"), ('{"protocol":1,"request":"hello"}', "field id is missing"),
                            ('{"protocol":1,"id":"7","request":"measure"}', "field operation is missing"),
                            ('{"protocol":1,"id":"7","request":"measure","operation":"aten::relu(","point":{"device":"cpu"}}', "position 11"),
                            ('{"protocol":1,"id":"7","request":"measure_graph","point":{"device":"cpu"}}', "field graph"),
                            ('{"protocol":1,"id":"7","request":"measure",' + operation + "}", "field point.device"),
                            ('{"protocol":1,"id":"7","request":"time_runs",' + operation + ',"calls":[0],"point":{"device":"cpu"}}',
                             "field calls")):
            with self.subTest(line[:60]):
                answer = self.worker.ask_line(line)
                self.assertEqual(answer["response"], "failure")
                self.assertIn(words, answer["message"])
        self.assertEqual(self.worker.ask("hello")["response"], "hello")


class Missing(unittest.TestCase):
    def test_without_onnxruntime_it_says_the_line_that_installs_it(self):
        with tempfile.TemporaryDirectory() as folder:
            for package in ("onnxruntime", "numpy"):
                with self.subTest(package):
                    path = os.path.join(folder, f"{package}.py")
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(f"raise ModuleNotFoundError(\"No module named '{package}'\", name='{package}')")
                    ended = subprocess.run([PROGRAM], env=ENVIRONMENT | {"PYTHONPATH": folder}, input=b"", capture_output=True, timeout=60)
                    os.remove(path)
                    self.assertEqual((ended.returncode, ended.stdout, ended.stderr.count(b"\n")), (1, b"", 1), ended.stderr)
                    self.assertIn(f"cannot import {package}. Install it with: pip install ".encode(), ended.stderr)

    def test_without_python_it_says_what_to_set(self):
        ended = subprocess.run([PROGRAM], env=ENVIRONMENT | {"JOULECAST_ONNXRUNTIME_PYTHON": "/nowhere/python"}, capture_output=True, timeout=60)
        self.assertEqual(ended.returncode, 127)
        self.assertIn(b"JOULECAST_ONNXRUNTIME_PYTHON", ended.stderr)


class Example(unittest.TestCase):
    def test_the_example_of_the_documentation_keeps_the_promises_in_a_hundred_lines(self):
        support.need("numpy")
        ended = support.worker_check(f"{sys.executable} {EXAMPLE}", ENVIRONMENT)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertLessEqual(len(EXAMPLE.read_text().splitlines()), 100)


if __name__ == "__main__":
    unittest.main()
