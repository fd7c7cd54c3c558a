"""The context manager: joulecast.measure()."""
import pathlib
import tempfile
import unittest

import joulecast


class Measure(unittest.TestCase):
    def replayed(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file = pathlib.Path(folder.name) / "trace.csv"
        file.write_text(text)
        return f"replay:{file}"

    def test_without_a_meter_time_is_measured_and_energy_has_its_reason(self):
        with joulecast.measure(meter="none") as m:
            pass
        self.assertGreater(m.time_s, 0.0)
        self.assertIsNone(m.energy_j)
        self.assertIsNone(m.power_w)
        self.assertTrue(m.energy_missing_reason)

    def test_energy_of_a_steady_load_is_power_times_time(self):
        # The meter says 40 W all along: whatever the time turns out to be, energy is 40 times as many joules.
        with joulecast.measure(meter=self.replayed("time_s,power_w\n0,40\n60,40\n"), idle_s=0.05, period_s=0.01) as m:
            sum(range(1_000_000))
        self.assertAlmostEqual(m.power_w, 40.0, places=6)
        self.assertAlmostEqual(m.energy_j, 40.0 * m.time_s, places=6)
        self.assertAlmostEqual(m.idle_power_w, 40.0, places=6)
        self.assertAlmostEqual(m.dynamic_energy_j, 0.0, places=6)
        self.assertIsNone(m.energy_missing_reason)
        self.assertLess(m.trace[0][0], 0.0)  # the idle baseline comes first
        self.assertEqual({watts for _, watts in m.trace}, {40.0})

    def test_an_exception_passes_and_what_was_measured_stays(self):
        with self.assertRaisesRegex(KeyError, "theirs"):
            with joulecast.measure(meter="none") as m:
                raise KeyError("theirs")
        self.assertGreater(m.time_s, 0.0)

    def test_wrong_arguments_are_refused_by_name(self):
        for arguments in ({"meter": "thermometer"}, {"idle_s": -1.0}, {"period_s": 0.0}, {"device": "gpu:x"}):
            with self.subTest(arguments), self.assertRaises(ValueError):
                with joulecast.measure(**arguments):
                    pass


if __name__ == "__main__":
    unittest.main()
