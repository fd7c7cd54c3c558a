"""What bench/engine_choice.py counts as right, and what as regret."""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(os.environ["JOULECAST_SOURCE"]) / "bench"))
import engine_choice

WRONG = {"torch": (0.010, 0.012), "onnxruntime": (0.015, 0.011)}


def row(engine, measured, predicted, network="alexnet"):
    return {"network": network, "symbols": "batch=1", "mode": "inference", "precision": "fp32", "device": "cpu", "engine": engine,
            "measured_time_s": measured, "predicted_time_s": predicted}


class EngineChoice(unittest.TestCase):
    def test_the_engine_with_the_least_forecast_is_chosen_and_its_measured_time_is_the_regret(self):
        self.assertEqual(engine_choice.choice(WRONG, 1), "onnxruntime")
        # 15 ms where 10 ms were to be had.
        self.assertAlmostEqual(engine_choice.regret(WRONG, "onnxruntime"), 0.5)
        self.assertEqual(engine_choice.regret(WRONG, "torch"), 0)

    def test_networks_of_one_engine_and_without_a_forecast_are_left_out(self):
        rows = [row("torch", 0.01, 0.012), row("onnxruntime", 0.015, 0.011), row("torch", 0.01, 0.012, "vgg11"),
                row("torch", 0.01, 0.012, "unet"), row("onnxruntime", 0.01, None, "unet")]
        self.assertEqual(list(engine_choice.times_of(rows).values()), [WRONG])


if __name__ == "__main__":
    unittest.main()
