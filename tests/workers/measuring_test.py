"""The package that all workers in Python share: statistics, the stopping rule, signatures, requests, facts of the CPU."""
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import types
import unittest

import support

support.need("numpy")

from joulecast_measuring import this_cpu
from joulecast_measuring.contents import Maker, contents, input_contents
from joulecast_measuring.metering import NoMeter
from joulecast_measuring.recipe import time_calls, time_numbers_of_calls
from joulecast_measuring.requests import POINT, SETTINGS, fields, graph_of
from joulecast_measuring.serve import own_share, scaled
from joulecast_measuring.signature import Dtype, FormatError, TensorType, parse_operation, parse_type
from joulecast_measuring.statistics import effective_samples, leading_transient, student_t_quantile, summarise

RULE = {"warm_up_s": 0.0, "time_budget_s": 0.25, "min_block_s": 1e-3, "relative_half_width": 0.005, "seed": 1}


class Simulated:
    """A workload and the clock that it moves: each call takes `call_s` and noise."""

    def __init__(self, call_s, noise=0.0, multiple=1):
        self.call_s, self.noise, self.multiple, self.now, self.calls = call_s, noise, multiple, 0.0, []
        self.random = random.Random(5)

    def run(self, calls):
        self.calls.append(calls)
        self.now += calls * self.call_s * (1.0 + self.noise * self.random.gauss(0.0, 1.0))

    def clock(self):
        return self.now


class Statistics(unittest.TestCase):
    def test_quantiles_of_students_t_are_those_of_tables(self):
        # NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
        for degrees, expected in ((1, 12.706), (2, 4.303), (10, 2.228), (30, 2.042)):
            self.assertAlmostEqual(student_t_quantile(0.975, degrees), expected, 3)

    def test_correlated_samples_count_less(self):
        generator, value, correlated, independent = random.Random(1), 0.0, [], []
        for _ in range(4000):
            shock = generator.gauss(0.0, 1.0)
            value = 0.5 * value + shock
            correlated.append(value)
            independent.append(shock)
        # AR(1) with 0.5: n (1 - 0.5) / (1 + 0.5) = n / 3.
        self.assertAlmostEqual(effective_samples(correlated) / 4000, 1 / 3, delta=0.05)
        self.assertGreater(effective_samples(independent), 0.8 * 4000)

    def test_only_a_leading_transient_is_dropped(self):
        blocks = [5.0, 3.0] + [1.0, 1.1, 0.9, 1.0] * 5 + [4.0]
        self.assertEqual(leading_transient(blocks), 2)
        self.assertEqual(summarise(blocks)["p95_s"] > 1.0, True)

    def test_the_interval_holds_the_truth_as_often_as_it_says(self):
        generator, held = random.Random(2), 0
        for _ in range(1000):
            summary = summarise([generator.gauss(1.0, 0.1) for _ in range(50)])
            held += abs(summary["mean_s"] - 1.0) <= summary["half_width_s"]
        self.assertAlmostEqual(held / 1000, 0.95, delta=0.02)


class Recipe(unittest.TestCase):
    def test_it_stops_at_the_first_test_without_noise(self):
        work = Simulated(1e-4)
        summary, blocks = time_calls(work, RULE, clock=work.clock)
        self.assertEqual((len(blocks), summary["converged"]), (50, True))
        self.assertAlmostEqual(summary["mean_s"], 1e-4)
        # 1 ms of calls of 0.1 ms, and up to 20 % more.
        self.assertEqual(summary["calls_per_block"], 10)
        self.assertEqual(set(work.calls[-50:]) - {10, 11, 12}, set())

    def test_with_noise_it_ends_with_the_budget_and_says_so(self):
        work = Simulated(1e-4, noise=0.5)
        summary, blocks = time_calls(work, RULE, clock=work.clock)
        self.assertFalse(summary["converged"])
        # 0.25 s of blocks of 1 to 1.2 ms, each with half its length more or less.
        self.assertAlmostEqual(work.now, 0.25, delta=0.01)

    def test_a_call_longer_than_the_budget_is_made_three_times_and_warmed_up_once(self):
        work = Simulated(1.0)
        _, blocks = time_calls(work, RULE, clock=work.clock)
        self.assertEqual((len(blocks), len(work.calls)), (3, 4))

    def test_calls_come_in_multiples_of_the_copies_in_a_model(self):
        work = Simulated(1e-4, multiple=7)
        time_calls(work, RULE, clock=work.clock)
        runs = time_numbers_of_calls(work, [1, 10], work.clock)
        self.assertEqual({calls % 7 for calls in work.calls}, {0})
        self.assertEqual([run["calls"] for run in runs], [7, 14])


class OwnShare(unittest.TestCase):
    def test_what_an_engine_counts_itself_scales_what_is_of_one_call(self):
        counted = types.SimpleNamespace(own_s=lambda: 0.25)
        self.assertEqual(own_share(counted, {"mean_s": 1.0}), 0.25)
        self.assertEqual(own_share(counted, {"mean_s": 0.2}), 1.0)  # no call takes longer than its clock says
        self.assertEqual(own_share(types.SimpleNamespace(), {"mean_s": 1.0}), 1.0)
        self.assertEqual(scaled({"mean_s": 4.0, "blocks": 4, "energy_j": None}, 0.25), {"mean_s": 1.0, "blocks": 4, "energy_j": None})
        self.assertIsNone(scaled(None, 0.25))

    def test_a_device_elsewhere_has_no_energy_and_says_why(self):
        meter = NoMeter("it is far away")
        self.assertEqual(meter.energy(None, {"half_width_s": 0.0}, 1.0, {"measure_energy": True, "meter": "auto"}), (None, "it is far away"))
        self.assertIsNone(meter.end()["temperature_c"])


class Signatures(unittest.TestCase):
    def test_every_kind_of_argument_is_read(self):
        operation = parse_operation('aten::x_.Tensor(self=f32[2,3]{1,2}~, list=[f32[1],none], n=-3, x=1e-05, inf=-inf, on=true, no=none, '
                                    's="a, b)", dtype=bf16, empty=[], cl=f32[1,2,3,4]{cl})')
        given = operation.arguments
        self.assertEqual(given["self"], TensorType("f32", (2, 3), (1, 2), True))
        self.assertEqual(given["list"], [TensorType("f32", (1,)), None])
        self.assertEqual((given["n"], given["x"], given["inf"], given["on"], given["no"], given["s"], given["empty"]),
                         (-3, 1e-5, -math.inf, True, None, "a, b)", []))
        self.assertIsInstance(given["dtype"], Dtype)
        self.assertEqual(given["cl"].strides, (24, 1, 8, 2))
        self.assertEqual((operation.name, operation.is_in_place), ("x", True))
        self.assertEqual(parse_operation("aten::__and__.Tensor(self=bool[1])").name, "__and__")

    def test_text_that_is_no_operation_is_refused_with_the_place(self):
        for text in ("", "relu(self=f32[8])", "aten::relu(self=f32[8]", "aten::relu(self=f32[-8])", "aten::relu(self=q7[8])",
                     "aten::relu(self=f32[8]) ", "aten::relu(self=f32[8], self=f32[8])", "aten::relu(self=f32[8]{1,2})",
                     "aten::relu(self=\"\x00)", "aten::x(a=" + "[" * 5000):
            with self.subTest(text[:40]), self.assertRaises((FormatError, RecursionError)):
                parse_operation(text)
        with self.assertRaisesRegex(FormatError, "position 16"):
            parse_operation("aten::relu(self=?)")


class Requests(unittest.TestCase):
    def test_settings_have_the_protocols_defaults(self):
        settings = fields({}, "settings", SETTINGS)
        self.assertEqual((settings["warm_up_s"], settings["time_budget_s"], settings["min_block_s"], settings["seed"]), (0.05, 0.25, 1e-3, 1))

    def test_a_fault_names_its_field(self):
        for given, name in (({"seed": 1.5}, "settings.seed"), ({"measure_hot": 1}, "settings.measure_hot"), ({"warm_up_s": -1}, "warm_up_s"),
                            ({"method": "guess"}, "settings.method"), ({"threads": True}, "settings.threads"), ([], "field settings")):
            with self.subTest(given), self.assertRaisesRegex(FormatError, name):
                fields({"settings": given}, "settings", SETTINGS)
        with self.assertRaisesRegex(FormatError, "point.device"):
            fields({"point": {}}, "point", POINT)

    def test_a_graph_that_refers_to_nothing_is_refused(self):
        graph = {"schema": "joulecast.graph/1", "has_edges": True, "inputs": [{"name": "x", "kind": "user_input", "type": "f32[4]"}],
                 "nodes": [{"operation": "aten::relu(self=f32[4])", "inputs": ["input.0"], "outputs": ["f32[4]"]}], "outputs": ["0.0"]}
        self.assertEqual(graph_of(graph).nodes[0].inputs, [(-1, 0)])
        for change in ({"outputs": ["1.0"]}, {"outputs": ["0.1"]}, {"outputs": ["x"]}, {"has_edges": False}, {"schema": "other/1"},
                       {"nodes": [{"operation": "aten::relu(self=f32[4])", "inputs": ["0.0"], "outputs": ["f32[4]"]}]},
                       {"nodes": [{"operation": "aten::relu(self=f32[4])", "inputs": [], "outputs": ["f32[4]"]}]}, {"inputs": 3}):
            with self.subTest(change), self.assertRaises(FormatError):
                graph_of(graph | change)


class Contents(unittest.TestCase):
    def test_indices_lie_within_what_they_look_up(self):
        operation = parse_operation("aten::index.Tensor(self=f32[6,3,2], indices=[none,i64[500]])")
        _, places = (Maker(1).make(type_, content) for (_, type_), content in zip(operation.tensors(), contents(operation)))
        self.assertEqual((places.min(), places.max()), (0, 2))

    def test_variances_are_positive_and_nothing_is_zero(self):
        operation = parse_operation("aten::batch_norm(input=f32[2,8,5], weight=f32[8], bias=f32[8], running_mean=f32[8], "
                                    "running_var=f32[800])")
        arrays = [Maker(1).make(type_, content) for (_, type_), content in zip(operation.tensors(), contents(operation))]
        self.assertGreater(arrays[4].min(), 0.0)
        self.assertTrue(all(array.all() for array in arrays))

    def test_what_looks_up_behind_a_view_binds_the_graphs_input(self):
        graph = graph_of({"schema": "joulecast.graph/1", "has_edges": True,
                          "inputs": [{"name": "x", "kind": "user_input", "type": "i64[4]"},
                                     {"name": "w", "kind": "parameter", "type": "f32[5,8]"}],
                          "nodes": [{"operation": "aten::view(self=i64[4], size=[2,2])", "inputs": ["input.0"], "outputs": ["i64[2,2]"]},
                                    {"operation": "aten::embedding(weight=f32[5,8], indices=i64[2,2])", "inputs": ["input.1", "0.0"],
                                     "outputs": ["f32[2,2,8]"]}], "outputs": ["1.0"]})
        self.assertEqual(input_contents(graph)[0].high, 5)


class Cpu(unittest.TestCase):
    def test_it_is_the_device_that_joulecast_sees(self):
        ended = subprocess.run([support.BIN / "joulecast", "devices", "cpu", "--format", "json"], capture_output=True, timeout=60)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        theirs, mine = json.loads(ended.stdout)["devices"][0], this_cpu.this_cpu()
        for name, value in mine.items():
            if name not in ("display_name", "max_clock_mhz") and "flop_per_s" not in name:  # the clock moves
                self.assertEqual(value, theirs[name], name)

    def test_ids_leave_out_what_every_vendor_writes(self):
        # As tests/device/this_cpu_test.cpp has them.
        self.assertEqual(this_cpu.id_of("AMD EPYC 9B45 96-Core Processor", 2), "cpu-amd-epyc-9b45-2c")
        self.assertEqual(this_cpu.id_of("Intel(R) Xeon(R) CPU @ 2.20GHz", 4), "cpu-intel-xeon-4c")

    def test_memory_of_a_container_is_its_limit(self):
        with tempfile.TemporaryDirectory() as root:
            for path, text in (("proc/meminfo", "MemAvailable: 1000 kB\n"), ("sys/fs/cgroup/memory.max", "600000\n"),
                               ("sys/fs/cgroup/memory.current", "200000\n"), ("sys/fs/cgroup/memory.stat", "anon 5\nfile 50000\n")):
                file = pathlib.Path(root, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            self.assertEqual(this_cpu.available_memory_bytes(root), 450000.0)

    def test_a_process_may_take_what_is_available_and_no_more(self):
        ended = subprocess.run([sys.executable, "-c", "import resource; from joulecast_measuring import this_cpu; "
                                "this_cpu.limit_memory_growth(); print(resource.getrlimit(resource.RLIMIT_DATA)[0])"],
                               env=os.environ | {"PYTHONPATH": str(support.WORKERS / "measuring")}, capture_output=True, timeout=60)
        self.assertTrue(0 < int(ended.stdout) < this_cpu.this_cpu()["memory_bytes"], ended)


if __name__ == "__main__":
    unittest.main()
