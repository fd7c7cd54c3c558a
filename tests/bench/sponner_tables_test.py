"""bench/sponner_tables.py: the paper's layers, and sums of columns."""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(os.environ["JOULECAST_SOURCE"]) / "bench"))
import sponner_tables

FOUND = {("joulecast", "time_s", "a"): (0.010, 0.011), ("paleo", "time_s", "a"): (0.010, 0.002), ("joulecast", "time_s", "b"): (0.020, 0.018)}


class SponnerTables(unittest.TestCase):
    def test_it_has_the_layers_that_the_paper_forecasts(self):
        # Section 7.4: 14 convolutions and five max poolings.
        kinds = [name.rpartition("_")[0] for name in sponner_tables.LAYERS]
        self.assertEqual((kinds.count("conv2d"), kinds.count("max_pooling2d")), (14, 5))

    def test_a_layer_has_its_measurement_and_a_forecast_by_each_method_that_has_one(self):
        self.assertEqual(sponner_tables.columns_of(FOUND, "time_s", "a"), [0.010, 0.011, None, None, None, 0.002])

    def test_each_engine_has_the_devices_and_of_networks_the_one_that_is_tested(self):
        row = lambda kind, engine, model="": {"kind": kind, "engine": engine, "model": model}
        rows = [row("device", ""), row("operation", "tvm"), row("network", "tvm", "resnet18"), row("network", "tvm", sponner_tables.NETWORK),
                row("operation", "torch")]
        self.assertEqual(sponner_tables.parted(rows), {"tvm": [rows[0], rows[1], rows[3]], "torch": [rows[0], rows[4]]})

    def test_a_sum_over_layers_of_which_one_is_not_told_is_not_told(self):
        lines = [sponner_tables.columns_of(FOUND, "time_s", which) for which in "ab"]
        self.assertEqual([round(value, 6) if value is not None else None for value in sponner_tables.sums(lines)],
                         [0.030, 0.029, None, None, None, None])


if __name__ == "__main__":
    unittest.main()
