"""What the tests of this folder share: where the packages are, and that they skip where one is not installed."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import unittest

BIN = pathlib.Path(os.environ["JOULECAST_BUILD"]) / "bin"
WORKERS = pathlib.Path(__file__).resolve().parents[2] / "workers"
sys.path[:0] = [str(WORKERS / folder) for folder in ("measuring", "onnxruntime", "torch_compile", "tvm", "openvino")]
# Behind all others: of the environment with torch only torch is wanted.
if os.environ.get("JOULECAST_TORCH_PACKAGES"):
    sys.path.append(os.environ["JOULECAST_TORCH_PACKAGES"])


def need(*packages):
    """Skips the whole module with the reason."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise unittest.SkipTest(f"{sys.executable} has no {package}")


class Worker:
    """A worker over its pipes."""
    quick = {"warm_up_s": 0.0, "time_budget_s": 0.001, "min_block_s": 1e-5, "working_set_bytes": 1 << 20, "threads": 1}

    def __init__(self, command, environment, **point):
        self.point = {"device": "cpu"} | point
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)

    def ask_line(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def ask(self, request, **fields):
        return self.ask_line(json.dumps({"protocol": 1, "id": "7", "request": request} | fields))

    def measure(self, operation, **settings):
        return self.ask("measure", operation=operation, point=self.point, settings=self.quick | settings)["measurement"]

    def network(self, graph):
        return self.ask("measure_graph", graph=graph, point=self.point, settings=self.quick)["network"]

    def end(self):
        self.process.kill()
        self.process.communicate()


def worker_check(command, environment):
    return subprocess.run([BIN / "joulecast", "worker-check", command], capture_output=True, timeout=550, env=environment)


class WorkerTest:
    """Beside unittest.TestCase: a worker of this build, started once for all tests of the class."""
    program, environment, point = None, None, {}

    @classmethod
    def setUpClass(cls):
        cls.worker = Worker([cls.program], cls.environment, **cls.point)

    @classmethod
    def tearDownClass(cls):
        cls.worker.end()

    def test_it_keeps_the_promises_of_the_protocol(self):
        ended = worker_check(str(self.program), self.environment)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)


def torch_call(operation, tensors):
    """What torch returns for an operation on these tensors, as a list."""
    import torch
    dtypes = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "i64": torch.int64, "i32": torch.int32, "bool": torch.bool}
    namespace, _, name = operation.target.partition("::")
    name, _, overload = name.partition(".")
    arguments = operation.filled(tensors, dtype=dtypes.__getitem__)
    if overload == "device":  # no part of a signature
        arguments["device"] = "cpu"
    made = getattr(getattr(getattr(torch.ops, namespace), name), overload or "default")(**arguments)
    return list(made) if isinstance(made, (list, tuple)) else [made]
