"""joulecast.recommend(): the program's answer, as Python has it."""
import json
import os
import pathlib
import subprocess
import unittest

import joulecast

PROGRAM = pathlib.Path(os.environ["JOULECAST_BUILD"]) / "bin" / "joulecast"


def printed(*words):
    return json.loads(subprocess.run([PROGRAM, "recommend", *words, "--format", "json"], capture_output=True, text=True).stdout)


class Recommend(unittest.TestCase):
    def test_the_answer_is_what_the_program_prints(self):
        found = joulecast.recommend("resnet18", device=["a100", "l4"], batch=[1, 8], minimise="edp")
        self.assertEqual(found.raw, printed("resnet18", "--device", "a100,l4", "--set", "batch=1,8", "--minimise", "edp"))
        self.assertEqual(str(found), found.raw["sentence"])
        self.assertEqual(found.answer.raw, found.raw["answer"])
        self.assertEqual(len(found.candidates), len(found.raw["candidates"]))
        self.assertEqual(found.saving["energy"].low, found.raw["saving"]["energy"]["low"])

    def test_the_answer_has_the_least_value_of_what_is_feasible(self):
        found = joulecast.recommend("alexnet", device="a100", batch=[1, 8])
        self.assertEqual(found.answer.value, min(c.value for c in found.candidates if c.feasible))
        self.assertTrue(all(candidate.pareto for candidate in found.pareto_front))

    def test_prices_limits_and_jobs_are_handed_on(self):
        found = joulecast.recommend("alexnet", device=["a100", "l4"], minimise="price", device_price={"a100": 3.5, "l4": 0.5}, electricity_price=0.3,
                                    samples=1e6, max_time_s=0.5, max_power_w=400)
        self.assertEqual(found.raw, printed("alexnet", "--device", "a100,l4", "--minimise", "price", "--device-price", "a100=3.5,l4=0.5",
                                            "--electricity-price", "0.3", "--samples", "1e6", "--max-time", "0.5", "--max-power", "400"))

    def test_where_nothing_holds_the_limits_the_sentence_says_which(self):
        found = joulecast.recommend("alexnet", device="a100", max_time_s=1e-9)
        self.assertIsNone(found.answer)
        self.assertFalse(found.feasible)
        self.assertIn("--max-time", str(found))
        self.assertIn("--max-time", found._repr_html_())

    def test_a_language_model_has_its_decoding_step_beside_it(self):
        found = joulecast.recommend("gpt2", device="a100", batch=1, clocks=[1200])
        self.assertEqual(found.decode.raw, found.raw["decode"])
        self.assertGreater(found.decode.answer.energy_per_token_j, found.answer.energy_per_token_j)

    def test_records_have_every_setting(self):
        found = joulecast.recommend("alexnet", device="a100", batch=[1, 8], clocks=[900, 1200])
        records = found.to_records()
        self.assertEqual(sorted({(r["batch"], r["clock_mhz"]) for r in records if r["clock_mhz"] in (900, 1200)}), [(1, 900), (1, 1200), (8, 900), (8, 1200)])

    def test_wrong_words_are_value_errors(self):
        with self.assertRaises(ValueError):
            joulecast.recommend("alexnet", device="a100", minimise="noise")
        with self.assertRaisesRegex(ValueError, "price"):
            joulecast.recommend("alexnet", device="a100", minimise="price")
        with self.assertRaisesRegex(ValueError, "chooses the clock"):
            joulecast.recommend("alexnet", device="a100@900")
        for limit in ({"max_time_s": 0}, {"max_power_w": -1}, {"samples": 0}, {"electricity_price": -0.1}, {"device_price": {"a100": -1.0}}):
            with self.subTest(limit), self.assertRaisesRegex(ValueError, "above zero|negative"):
                joulecast.recommend("alexnet", device="a100", minimise="time", **limit)
        with self.assertRaisesRegex(ValueError, "max_time cannot be 'soon'"):
            joulecast.recommend("alexnet", device="a100", max_time_s="soon")

    def test_one_text_may_name_several_devices_and_precisions(self):
        found = joulecast.recommend("alexnet", device="a100,l4", precision="fp32,bf16", clocks=[1200])
        self.assertEqual(found.raw, printed("alexnet", "--device", "a100,l4", "--precision", "fp32,bf16", "--clocks", "1200"))


if __name__ == "__main__":
    unittest.main()
