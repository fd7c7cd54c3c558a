"""joulecast-python over its pipes, beside joulecast-torch."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

BIN = pathlib.Path(os.environ["JOULECAST_BUILD"]) / "bin"
QUICK = {"warm_up_s": 0.0, "time_budget_s": 0.001, "min_block_s": 1e-5, "working_set_bytes": 1 << 20, "threads": 1, "measure_energy": False}
CONVOLUTION = "aten::conv2d(input=f32[4,32,56,56], weight=f32[64,32,3,3], bias=f32[64], padding=[1,1])"


# y = relu(x @ w); y + y, in the form of docs/graph-json.md; one step writes to its input, one result is read twice.
GRAPH = {
    "schema": "joulecast.graph/1", "name": "small", "mode": "inference", "has_edges": True,
    "inputs": [{"name": "x", "kind": "user_input", "type": "f32[8,16]"}, {"name": "w", "kind": "parameter", "type": "f32[4,16]"}],
    "nodes": [
        {"operation": "aten::linear(input=f32[8,16], weight=f32[4,16])", "inputs": ["input.0", "input.1"], "outputs": ["f32[8,4]"]},
        {"operation": "aten::relu_(self=f32[8,4])", "inputs": ["0.0"], "outputs": ["f32[8,4]"]},
        {"operation": "aten::add.Tensor(self=f32[8,4], other=f32[8,4])", "inputs": ["1.0", "1.0"], "outputs": ["f32[8,4]"]}],
    "outputs": ["2.0"]}


class Worker:
    def __init__(self, program, **environment):
        self.process = subprocess.Popen([str(BIN / program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=os.environ | environment)
        self.host = "python" if program == "joulecast-python" else "cpp"

    def send(self, request, **fields):
        line = {"protocol": 1, "id": "7", "request": request} | fields
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, request, **fields):
        self.send(request, **fields)
        return json.loads(self.process.stdout.readline())

    def measure(self, operation, host=None):
        answer = self.ask("measure", operation=operation, point={"device": "cpu", "host": host or self.host}, settings=QUICK)
        return answer.get("measurement", answer)

    def measure_graph(self, graph, **fields):
        answer = self.ask("measure_graph", graph=graph, point={"device": "cpu", "host": self.host}, settings=QUICK, **fields)
        return answer.get("network", answer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


class Protocol(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.python, cls.cpp = Worker("joulecast-python"), Worker("joulecast-torch")

    @classmethod
    def tearDownClass(cls):
        cls.python.__exit__()
        cls.cpp.__exit__()

    def test_hello_says_who_issues(self):
        hello = self.python.ask("hello")["hello"]
        self.assertEqual(hello["hosts"], ["python"])
        self.assertRegex(hello["provenance"]["worker"], "^joulecast-python ")

    def test_another_host_is_refused_by_name(self):
        self.assertIn("joulecast-torch", self.python.measure("aten::relu(self=f32[8])", "cpp")["message"])
        self.assertIn("joulecast-python", self.cpp.measure("aten::relu(self=f32[8])", "python")["message"])

    def test_both_workers_agree_on_all_but_the_time(self):
        for operation in (CONVOLUTION, CONVOLUTION.replace("]", "]~", 3), "aten::relu_(self=f32[64,64])",
                          "aten::add_.Tensor(self=f32[4,64]~, other=f32[4,64]~)",
                          "aten::batch_norm(input=f32[4,8,6,6]~, weight=f32[8]~, bias=f32[8]~, running_mean=f32[8], running_var=f32[8], "
                          "training=true, momentum=0.1, eps=1e-05, cudnn_enabled=true)",
                          "aten::embedding(weight=f32[100,16]~, indices=i64[4,8])", "aten::cat(tensors=[f32[4,8]~, f32[4,8]~], dim=1)"):
            with self.subTest(operation):
                python, cpp = self.python.measure(operation), self.cpp.measure(operation)
                for measured in (python, cpp):
                    self.assertIn(measured["outcome"], ("ok", "unstable"), measured["message"])
                    self.assertGreater(measured["time"]["mean_s"], 0.0)
                for field in ("operation", "rotation", "working_set_bytes", "peak_memory_bytes"):
                    self.assertEqual(python[field], cpp[field], field)
                self.assertEqual(python["forward"] is None, cpp["forward"] is None)
                self.assertEqual(python["real"]["host"], "python")

    def test_an_exception_of_python_is_an_outcome(self):
        self.assertEqual(self.python.measure("aten::matmul(self=f32[8,3], other=f32[5,8])")["outcome"], "unsupported")
        self.assertEqual(self.python.measure("aten::no_such_operation(self=f32[8])")["outcome"], "unsupported")
        self.assertEqual(self.python.measure("aten::full(size=[1048576,1048576], fill_value=1.0)")["outcome"], "out_of_memory")
        self.assertIn(self.python.measure("aten::relu(self=f32[8])")["outcome"], ("ok", "unstable"))

    def test_a_network_without_a_module_of_its_name_runs_node_by_node(self):
        python, cpp = self.python.measure_graph(GRAPH), self.cpp.measure_graph(GRAPH)
        self.assertIn(python["outcome"], ("ok", "unstable"), python["message"])
        self.assertIn("node by node", python["message"])
        self.assertEqual(python["resident_bytes"], cpp["resident_bytes"])
        self.assertEqual(python["peak_memory_bytes"], cpp["peak_memory_bytes"])


class Process(unittest.TestCase):
    def test_quit_and_the_end_of_input_end_it(self):
        for request in ('{"protocol":1,"id":"1","request":"quit"}\n', ""):
            ended = subprocess.run([BIN / "joulecast-python"], input=request.encode(), capture_output=True, timeout=120)
            self.assertEqual((ended.returncode, ended.stdout), (0, b""), ended.stderr)

    def test_what_libraries_print_does_not_reach_the_protocol(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "zoo_networks.py").write_text(
                "import os\nprint('from Python')\nos.write(1, b'from below\\n')\nNETWORKS = {}\n")
            path = f"{folder}:{os.environ['PYTHONPATH']}"
            # The program puts its own folder first, so the module is started without it.
            process = subprocess.Popen([os.environ["JOULECAST_PYTHON"], "-m", "joulecast_worker"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {"PYTHONPATH": path})
            line = {"protocol": 1, "id": "1", "request": "measure_graph", "graph": GRAPH,
                    "point": {"device": "cpu", "host": "python"}, "settings": QUICK}
            out, err = process.communicate(json.dumps(line).encode() + b"\n", timeout=120)
            self.assertEqual(json.loads(out)["response"], "network")
            self.assertIn(b"from Python", err)
            self.assertIn(b"from below", err)

    def test_killed_amid_a_measurement_it_leaves_only_whole_lines(self):
        with Worker("joulecast-python") as worker:
            worker.ask("hello")
            worker.send("measure", operation=CONVOLUTION, point={"device": "cpu", "host": "python"},
                        settings=QUICK | {"time_budget_s": 60, "relative_half_width": 1e-9})
            worker.process.send_signal(signal.SIGKILL)
            self.assertEqual(worker.process.wait(60), -signal.SIGKILL)
            self.assertEqual(worker.process.stdout.read(), b"")

    def test_it_ends_at_once_by_an_interrupt(self):
        with Worker("joulecast-python") as worker:
            worker.ask("hello")
            worker.process.send_signal(signal.SIGINT)
            self.assertEqual(worker.process.wait(60), -signal.SIGINT)

    def test_without_torch_it_says_what_to_do(self):
        ended = subprocess.run([BIN / "joulecast-python"], env={"PATH": os.environ["PATH"], "JOULECAST_PYTHON": "/nowhere/python"},
                               capture_output=True, timeout=60)
        self.assertEqual(ended.returncode, 127)
        self.assertIn(b"JOULECAST_PYTHON", ended.stderr)

    def test_what_it_says_steers_no_terminal(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "torch.py").write_text(r"raise ImportError('\x1b[2J\x9b31m')")
            ended = subprocess.run([BIN / "joulecast-python"], env=os.environ | {"PYTHONPATH": folder}, capture_output=True, timeout=60)
        self.assertEqual(ended.returncode, 1)
        self.assertIn(rb"cannot import torch (\u001b[2J\u009b31m)", ended.stderr)

    def test_it_keeps_the_promises_of_the_protocol(self):
        ended = subprocess.run([BIN / "joulecast", "worker-check", str(BIN / "joulecast-python")], capture_output=True, timeout=500)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)


if __name__ == "__main__":
    unittest.main()
