"""Modules and exported programs: torch.export is run for the user."""
import os
import pathlib
import tempfile
import typing
import unittest

import joulecast
import torch
from joulecast import exporting
from torch.export import Dim


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(64, 32)
        self.drop = torch.nn.Dropout()
        self.last = torch.nn.Linear(32, 10)

    def forward(self, x):
        return self.last(self.drop(torch.relu(self.first(x))))


class HoldsItsBatch(Net):
    """The result depends on whether the batch is 4: no graph holds for all."""

    def forward(self, x):
        return super().forward(x) * (2 if x.shape[0] == 4 else 3)


class TrainsWithAnotherHead(Net):
    def forward(self, x):
        y = super().forward(x)
        return torch.tanh(y) if self.training else y


class Outputs(typing.NamedTuple):
    logits: torch.Tensor
    loss: torch.Tensor


class Cache:
    """No type that torch.export knows."""

    def __init__(self, tensor):
        self.tensor = tensor


class ReturnsObjects(Net):
    def forward(self, x):
        y = super().forward(x)
        return {"outputs": Outputs(y, y.sum()), "cache": Cache(y), "none": None}


class AsksForAValue(Net):
    def forward(self, x):
        return x if x.sum() > 0 else -x


class LeavesTorch(Net):
    def forward(self, x):
        return torch.tensor(x.numpy())


class Keywords(torch.nn.Module):
    def forward(self, x, mask=None, *, scale=1.0):
        return x * scale + mask


def signatures(forecast):
    return [operation.signature for operation in forecast.operations]


def of_file(module, example, batch, **arguments):
    """What the user would do by hand."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / f"{type(module).__name__}.pt2"
        torch.export.save(torch.export.export(module, (example,), dynamic_shapes=({0: Dim("batch", min=1)},)), file)
        return joulecast.predict(file, device="a100", batch=batch, **arguments)


class Modules(unittest.TestCase):
    def test_a_module_is_forecast_as_its_file_would_be(self):
        forecasts = joulecast.predict(Net().eval(), torch.randn(2, 64), device="a100", batch=[1, 8])
        self.assertEqual([one.raw for one in forecasts], [one.raw for one in of_file(Net().eval(), torch.randn(2, 64), [1, 8])])

    def test_without_a_batch_it_is_that_of_the_example(self):
        for given in (None, 3):
            forecast = joulecast.predict(Net(), torch.randn(3, 64), device="a100", batch=given)
            self.assertEqual(forecast.symbols, {"batch": 3})
            self.assertIn("aten::linear(input=f32[3,64], weight=f32[32,64], bias=f32[32])", signatures(forecast))

    def test_an_example_of_one_serves_for_any_batch(self):
        forecast = joulecast.predict(Net(), torch.randn(1, 64), device="a100", batch=16)
        self.assertIn("aten::linear(input=f32[16,64], weight=f32[32,64], bias=f32[32])", signatures(forecast))
        self.assertFalse([note for note in forecast.notes if "exported anew" in note])

    def test_modes_are_exported_apart_and_the_module_is_left_as_it_was(self):
        net = Net().train()
        net.first.eval()
        forecasts = joulecast.predict(net, torch.randn(2, 64), device="a100", mode=["inference", "training"])
        self.assertEqual([one.mode for one in forecasts], ["inference", "training"])
        self.assertEqual((net.training, net.first.training, net.drop.training), (True, False, True))
        self.assertEqual(forecasts[1].raw, joulecast.predict(net, torch.randn(2, 64), device="a100", mode="training").raw)

    def test_results_may_be_any_objects(self):
        net = ReturnsObjects()
        own = net.forward
        counted = joulecast.extract(net, torch.randn(2, 64), batch=8)
        self.assertEqual([operation.op for operation in counted.operations][-1], "aten::sum")
        self.assertEqual(counted.symbols, {"batch": 8})
        self.assertEqual(net.forward, own)
        self.assertNotIn("forward", vars(net))

    def test_what_only_training_computes_is_there_only_for_training(self):
        for net in (TrainsWithAnotherHead().train(), TrainsWithAnotherHead().eval()):
            for mode in ("inference", "training"):
                counted = joulecast.extract(net, torch.randn(2, 64), mode=mode)
                self.assertEqual("aten::tanh" in [operation.op for operation in counted.operations], mode == "training")

    def test_weights_are_not_written(self):
        program = torch.export.export(torch.nn.Linear(1000, 1000), (torch.randn(2, 1000),))  # 4 MB
        with tempfile.TemporaryDirectory() as folder:
            file = exporting._save(program, pathlib.Path(folder) / "net.pt2")
            self.assertLess(os.path.getsize(file), 100_000)
            self.assertEqual(joulecast.extract(file).flops, 2 * 2 * 1000 * 1000)

    def test_a_weight_of_two_names_is_one_and_weights_of_one_size_are_two(self):
        class Both(torch.nn.Module):
            def __init__(self, is_tied):
                super().__init__()
                self.first, self.second = torch.nn.Linear(64, 64, bias=False), torch.nn.Linear(64, 64, bias=False)
                if is_tied:
                    self.second.weight = self.first.weight

            def forward(self, x):
                return self.second(self.first(x))
        for is_tied, weights in ((True, 1), (False, 2)):
            forecast = joulecast.predict(Both(is_tied), torch.randn(2, 64), device="a100")
            self.assertEqual(forecast.resident_bytes, 4 * (weights * 64 * 64 + 2 * 64))

    def test_a_graph_that_holds_for_one_batch_is_exported_for_each_and_says_so(self):
        forecasts = joulecast.predict(HoldsItsBatch(), torch.randn(4, 64), device="a100", batch=[4, 8])
        self.assertEqual([one.symbols for one in forecasts], [{"batch": 4}, {"batch": 8}])
        self.assertIn("aten::linear(input=f32[8,64], weight=f32[32,64], bias=f32[32])", signatures(forecasts[1]))
        self.assertTrue(any("exported anew for each batch" in note for note in forecasts.notes))
        with self.assertRaisesRegex(joulecast.ExportError, "cannot be compared"):
            joulecast.recommend(HoldsItsBatch(), torch.randn(4, 64), device="a100", batch=[4, 8])

    def test_arguments_by_name(self):
        inputs = {"x": torch.randn(4, 5), "mask": torch.randn(4, 5), "scale": 2.0}
        counted = joulecast.extract(Keywords(), inputs, batch=16)
        self.assertEqual([operation.op for operation in counted.operations], ["aten::mul.Tensor", "aten::add.Tensor"])
        self.assertEqual(counted.symbols, {"batch": 16})

    def test_an_exported_program_keeps_its_symbols_and_its_weights(self):
        program = torch.export.export(Net().eval(), (torch.randn(2, 64),), dynamic_shapes=({0: Dim("batch", min=1)},))
        forecast = joulecast.predict(program, device="a100", batch=8)
        self.assertEqual(forecast.raw, of_file(Net().eval(), torch.randn(2, 64), 8).raw)
        self.assertEqual(tuple(program.state_dict["first.weight"].shape), (32, 64))
        self.assertEqual(program.state_dict["first.weight"].device.type, "cpu")

    def test_nothing_is_left_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            before, tempfile.tempdir = tempfile.tempdir, folder
            try:
                joulecast.predict(Net(), torch.randn(2, 64), device="a100", batch=4)
                with self.assertRaises(joulecast.Error):
                    joulecast.predict(Net(), torch.randn(2, 64), device="no-such-device")
            finally:
                tempfile.tempdir = before
            self.assertEqual(os.listdir(folder), [])

    def test_recommend_takes_modules(self):
        found = joulecast.recommend(Net(), torch.randn(2, 64), device="a100", batch=[1, 64])
        self.assertEqual(found.answer.samples_per_run, 64)  # so small a network waits for its host: many at once cost least each


class WhenExportFails(unittest.TestCase):
    def failure(self, module, inputs, **arguments):
        with self.assertRaises(joulecast.ExportError) as caught:
            joulecast.predict(module, inputs, device="a100", **arguments)
        self.assertIsNotNone(caught.exception.__cause__)
        return str(caught.exception)

    def test_a_branch_on_values_is_told_in_plain_words(self):
        self.assertRegex(self.failure(AsksForAValue(), torch.randn(2, 64)), "AsksForAValue: its forward takes a branch or a size from .* torch.where")

    def test_leaving_torch_is_told_in_plain_words(self):
        self.assertRegex(self.failure(LeavesTorch(), torch.randn(2, 64)), "leaves torch for NumPy")

    def test_inputs_of_another_shape_are_told_in_plain_words(self):
        for batch in (None, 8):
            self.assertRegex(self.failure(Net(), torch.randn(2, 63), batch=batch), "does not run on these example_inputs")

    def test_too_many_and_too_few_arguments_are_told_in_plain_words(self):
        for inputs in ((), (torch.randn(2, 64), torch.randn(2, 64))):
            self.assertRegex(self.failure(Net(), inputs), "not the arguments of its forward")

    def test_a_module_without_inputs_is_a_wrong_argument(self):
        with self.assertRaisesRegex(joulecast.UsageError, "example_inputs"):
            joulecast.predict(Net(), device="a100")
        with self.assertRaisesRegex(joulecast.UsageError, "not int"):
            joulecast.predict(7, device="a100")

    def test_the_module_is_left_as_it_was(self):
        net = AsksForAValue().train()
        self.failure(net, torch.randn(2, 64))
        self.assertTrue(net.training and net.drop.training)


if __name__ == "__main__":
    unittest.main()
