"""joulecast.predict() and joulecast.extract() of what needs no torch: the program's answers, as Python has them."""
import ast
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

import joulecast

PROGRAM = pathlib.Path(os.environ["JOULECAST_BUILD"]) / "bin" / "joulecast"
PACKAGE = pathlib.Path(joulecast.__file__).parent


def printed(*words):
    """The JSON of the program itself."""
    return json.loads(subprocess.run([PROGRAM, *words, "--format", "json"], check=True, capture_output=True, text=True).stdout)


def graph(op):
    """A .graph.json of one call without a record."""
    return json.dumps({"schema": "joulecast.graph/1", "name": "net", "has_edges": False, "nodes": [{"operation": f"{op}(x=f32[8])"}]})


class Predict(unittest.TestCase):
    def test_a_forecast_is_what_the_program_prints(self):
        forecast = joulecast.predict("resnet18", device="a100", batch=8)
        self.assertEqual(forecast.raw, printed("predict", "resnet18", "--device", "a100", "--set", "batch=8")["predictions"][0])
        self.assertEqual(forecast.time_s.value, forecast.raw["time_s"]["value"])
        self.assertLess(forecast.time_s.low, forecast.time_s.value)
        self.assertLess(forecast.time_s.value, forecast.time_s.high)
        self.assertEqual(forecast.symbols, {"batch": 8})
        self.assertEqual(len(forecast.operations), len(forecast.raw["operations"]))

    def test_memory_formats_are_compared(self):
        forecasts = joulecast.predict("resnet18", device="rtx3090", precision="amp-fp16", batch=64, memory_format=["contiguous", "channels_last"])
        self.assertEqual([forecast.memory_format for forecast in forecasts], ["contiguous", "channels_last"])
        self.assertLess(forecasts[1].time_s.value, forecasts[0].time_s.value)
        turned = joulecast.extract("resnet18", memory_format="channels_last")
        self.assertIn("{cl}", turned.operations[0].signature)
        with self.assertRaisesRegex(joulecast.UsageError, "contiguous and channels_last"):
            joulecast.predict("resnet18", device="rtx3090", memory_format="nhwc")

    def test_printed_it_is_a_table(self):
        heads, rule, row = str(joulecast.predict("resnet18", device="a100", batch=8)).splitlines()
        self.assertEqual(heads.split("  ")[0], "model")
        self.assertEqual(set(rule), {"─", " "})
        self.assertTrue(row.startswith("resnet18  NVIDIA A100"), row)
        self.assertIn("batch 8", row)
        self.assertRegex(row, r"[0-9.]+ [mµ]s \([0-9.]+ [mµ]s to [0-9.]+ [mµ]s\)")
        self.assertEqual(len(str(joulecast.predict("resnet18", device="a100", batch=[1, 8])).splitlines()), 4)

    def test_names_in_a_printed_table_do_not_steer_the_terminal(self):
        from joulecast import pages
        table = pages.text_table(("model", "clock", "time"), [("a\x1b[31m", "–", "1 ms")])
        self.assertNotIn("\x1b", table)
        self.assertNotIn("clock", table)  # known of no row

    def test_the_version_is_the_programs(self):
        said = subprocess.run([PROGRAM, "--version"], check=True, capture_output=True, text=True).stdout
        self.assertEqual(said.split()[-1], joulecast.__version__)

    def test_lists_give_every_combination_in_the_programs_order(self):
        forecasts = joulecast.predict(["alexnet", "resnet18"], device=["a100", "h100"], batch=[1, 4], mode=["inference", "training"])
        expected = printed("predict", "alexnet", "resnet18", "--device", "a100", "--device", "h100", "--set", "batch=1,4", "--mode", "inference,training")
        self.assertEqual([forecast.raw for forecast in forecasts], expected["predictions"])
        self.assertEqual(len(forecasts), 2 * 2 * 2 * 2)
        self.assertEqual([forecast.model for forecast in forecasts[:3]], [prediction["model"] for prediction in expected["predictions"][:3]])

    def test_clocks_give_a_sequence_of_their_real_clocks(self):
        forecasts = joulecast.predict("alexnet", device="a100", clocks=[900, 1200.0])
        self.assertEqual([forecast.asked_clock_mhz for forecast in forecasts], [900, 1200])
        self.assertEqual([forecast.raw for forecast in forecasts], printed("predict", "alexnet", "--device", "a100", "--clocks", "900,1200")["predictions"])

    def test_further_symbols_and_options_are_handed_on(self):
        forecast = joulecast.predict("gpt2", device="a100", batch=2, set={"sequence": 64}, precision="bf16", host="cpp")
        expected = printed("predict", "gpt2", "--device", "a100", "--set", "batch=2", "--set", "sequence=64", "--precision", "bf16", "--host", "cpp")
        self.assertEqual(forecast.raw, expected["predictions"][0])
        step = joulecast.predict("alexnet", device="a100", mode="training", optimizer="adam", accumulate=2, checkpointing=True, optimizer_form="fused")
        expected = printed("predict", "alexnet", "--device", "a100", "--mode", "training", "--optimizer", "adam", "--accumulate", "2", "--checkpointing",
                           "--optimizer-form", "fused")
        self.assertEqual(step.raw, expected["predictions"][0])
        self.assertEqual((step.optimizer, step.accumulate), ("adam", 2))
        self.assertAlmostEqual(step.step_time_s, step.time_s.value / 2)
        unknown = "this_is_no_option"
        with self.assertRaisesRegex(joulecast.UsageError, "this_is_no_option"):
            joulecast.predict("gpt2", device="a100", **{unknown: 1})

    def test_notes_are_kept_and_not_printed(self):
        code = "import joulecast; print(joulecast.predict('alexnet', device='a100').notes[0])"
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(ran.stderr, "")
        self.assertRegex(ran.stdout, "^a100 is ")

    def test_wrong_arguments_are_value_errors_with_the_programs_words(self):
        for words, arguments in (("no device is called 'a1000'", {"device": "a1000"}), ("unknown precision 'fp17'", {"device": "a100", "precision": "fp17"}),
                                 ("whole number", {"device": "a100", "batch": "8"}), ("whole number", {"device": "a100", "batch": 1.5}),
                                 ("given twice", {"device": "a100", "batch": 1, "set": {"batch": 1}}),
                                 ("are a list", {"device": "a100", "mode": "inference,training"}),
                                 ("for the command line", {"device": "a100", "output": "x"}),
                                 ("example_inputs", {"device": "a100", "example_inputs": 1}),
                                 ("optimizer is one of none, sgd", {"device": "a100", "mode": "training", "optimizer": "sdg"}),
                                 ("optimizer cannot be 3", {"device": "a100", "mode": "training", "optimizer": 3}),
                                 ("need mode", {"device": "a100", "optimizer": "sgd"}),
                                 ("mode is one of", {"device": "a100", "mode": "trainning"})):
            with self.subTest(words), self.assertRaisesRegex(ValueError, words) as caught:
                joulecast.predict("alexnet", **arguments)
            self.assertIsInstance(caught.exception, joulecast.Error)
        with self.assertRaises(TypeError):
            joulecast.predict("alexnet")

    def test_a_network_that_is_missing_is_an_error_that_names_near_ones(self):
        with self.assertRaisesRegex(joulecast.Error, "Did you mean .*resnet18"):
            joulecast.predict("resnet81", device="a100")
        with self.assertRaisesRegex(joulecast.Error, "cannot (open|read) .*-x.pt2"):
            joulecast.predict("-x.pt2", device="a100")

    def test_records_are_flat_and_have_one_column_for_each_size(self):
        forecasts = joulecast.predict("alexnet", device="a100", batch=[1, 4])
        records = forecasts.to_records()
        self.assertEqual([record["batch"] for record in records], [1, 4])
        self.assertEqual(records[1]["energy_j_high"], forecasts[1].energy_j.high)
        for value in records[0].values():
            self.assertNotIsInstance(value, (dict, list, tuple))

    def test_without_pandas_to_pandas_says_what_to_do(self):
        forecasts = joulecast.predict("alexnet", device="a100", batch=[1])
        try:
            import pandas  # noqa: F401
        except ImportError:
            with self.assertRaisesRegex(ImportError, "to_records"):
                forecasts.to_pandas()
        else:
            self.assertEqual(list(forecasts.to_pandas()["batch"]), [1])

    def test_operations_without_a_record_are_a_warning_or_strictly_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "net.graph.json"
            file.write_text(graph("mine::fizz"))
            with self.assertWarnsRegex(joulecast.UnknownPartsWarning, "mine::fizz") as caught:
                forecast = joulecast.predict(file, device="a100")
            self.assertEqual(pathlib.Path(caught.filename).name, "predicting_test.py")
            self.assertTrue(forecast.lower_bound)
            self.assertEqual(forecast.unknown_operations, ("mine::fizz",))
            with self.assertRaisesRegex(joulecast.Error, "mine::fizz"):
                joulecast.predict(file, device="a100", strict=True)

    def test_names_out_of_files_are_escaped_in_notebooks(self):
        hostile = "<img src=x onerror=alert(1)>"
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            file = pathlib.Path(folder) / f"{hostile}.graph.json"
            file.write_text(graph("mine::fizz").replace('"net"', json.dumps(hostile)))
            one = joulecast.predict(file, device="a100")
            several = joulecast.predict([str(file)], device="a100")
            counted = joulecast.extract(file)
        self.assertIn("img", one.model)
        for page in (one._repr_html_(), several._repr_html_(), counted._repr_html_()):
            self.assertNotIn("<img", page)
            self.assertIn("&lt;img", page)

    def test_other_threads_of_python_run_while_cpp_works(self):
        # With so long a switch interval no thread is asked to give way: the other one runs only while C++ has let go.
        interval = sys.getswitchinterval()
        ready, ran = threading.Lock(), []
        ready.acquire()

        def other():
            with ready:
                ran.append(True)
        waiting = threading.Thread(target=other)
        waiting.start()
        sys.setswitchinterval(1000)
        try:
            ready.release()
            for _ in range(100):
                if ran:
                    break
                sys.modules["joulecast._native"].extract(["resnet152"], [])
            seen = bool(ran)
        finally:
            sys.setswitchinterval(interval)
        waiting.join()
        self.assertTrue(seen)

    def test_threads_get_their_own_answers(self):
        names = ["alexnet", "resnet18", "vgg11", "squeezenet1_1"] * 2
        found = {}

        def forecast(place, name):
            found[place] = joulecast.predict(name, device="a100").raw
        threads = [threading.Thread(target=forecast, args=place_and_name) for place_and_name in enumerate(names)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        alone = {name: joulecast.predict(name, device="a100").raw for name in names[:4]}
        self.assertEqual([found[place] for place in range(len(names))], [alone[name] for name in names])


class Service(unittest.TestCase):
    def test_answers_are_those_of_predict(self):
        service = joulecast.Service("a100")
        for batch in (1, 8, 1):
            self.assertEqual(service.predict("resnet18", batch=batch).raw, joulecast.predict("resnet18", device="a100", batch=batch).raw)
        other = service.predict("gpt2", device="h100@900", set={"sequence": 64}, batch=2, mode="training", precision="bf16")
        self.assertEqual(other.raw, joulecast.predict("gpt2", device="h100@900", set={"sequence": 64}, batch=2, mode="training", precision="bf16").raw)
        self.assertRegex(other.notes[0], "^h100 is ")

    def test_graphs_need_no_file_and_operations_may_be_left_out(self):
        service = joulecast.Service("a100")
        graph_of_one = {"schema": "joulecast.graph/1", "has_edges": False, "nodes": [{"operation": "aten::relu(self=f32[1024])", "count": 3}]}
        whole = service.predict(graph_of_one)
        self.assertEqual([(call.op, call.count) for call in whole.operations], [("aten::relu", 3)])
        short = service.predict(graph_of_one, operations=False)
        self.assertEqual(short.operations, ())
        self.assertEqual(short.time_s, whole.time_s)

    def test_what_cannot_be_answered_is_an_error(self):
        service = joulecast.Service()
        for words, arguments in (("device", {}), ("a1000", {"device": "a1000"}), ("colour", {"device": "a100", "colour": "red"})):
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                service.predict("alexnet", **arguments)
        with self.assertRaisesRegex(joulecast.Error, "Did you mean"):
            service.predict("resnet81", device="a100")
        with self.assertWarnsRegex(joulecast.UnknownPartsWarning, "mine::fizz"):
            service.predict(json.loads(graph("mine::fizz")), device="a100")
        with self.assertRaisesRegex(joulecast.Error, "mine::fizz"):
            joulecast.Service("a100", strict=True).predict(json.loads(graph("mine::fizz")))


class Package(unittest.TestCase):
    def test_importing_it_imports_no_torch_and_no_pandas(self):
        code = "import sys, joulecast; print([name for name in ('torch', 'pandas', 'numpy') if name in sys.modules])"
        self.assertEqual(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout, "[]\n")

    def test_the_stub_names_what_the_extension_has(self):
        stub = ast.parse((PACKAGE / "_native.pyi").read_text())
        stubbed = {node.name: node for node in stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        native = sys.modules["joulecast._native"]
        self.assertEqual(set(stubbed), {name for name in vars(native) if not name.startswith("_")})
        for name in ("Goal", "PredictService", "Question", "Recording", "Session"):
            methods = {node.name for node in stubbed[name].body if isinstance(node, ast.FunctionDef)} - {"__init__"}
            self.assertEqual(methods, {method for method in vars(getattr(native, name)) if not method.startswith("_")})

    def test_every_name_that_is_offered_is_there(self):
        for name in joulecast.__all__:
            self.assertTrue(hasattr(joulecast, name), name)


class Extract(unittest.TestCase):
    def test_counts_are_what_the_program_prints(self):
        counted = joulecast.extract("resnet18", batch=5)
        self.assertEqual(counted.raw, printed("extract", "resnet18", "--set", "batch=5")["models"][0])
        self.assertEqual(counted.flops, 18140733440)  # tests/graph/oracles/resnet18.json
        self.assertEqual(sum(operation.flops for operation in counted.operations), counted.flops)
        self.assertEqual(counted.to_records()[0]["op"], counted.operations[0].op)

    def test_lists_give_a_sequence(self):
        both = joulecast.extract(["alexnet", "resnet18"], batch=[1, 2], mode="training")
        self.assertEqual([(counted.model, counted.symbols["batch"]) for counted in both], [("alexnet", 1), ("alexnet", 2), ("resnet18", 1), ("resnet18", 2)])
        self.assertGreater(both[0].backward_flops, both[0].flops)


if __name__ == "__main__":
    unittest.main()
