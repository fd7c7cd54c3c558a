#!/usr/bin/env python3
"""Walks the whole way on cards that nobody looked at: draws pretended cards, measures, trains, forecasts, chooses clocks.

usage: bench/drawn_cards.py JOULECAST [--cards N] [--seed N] [--mode inference|training] [--ways WAY...] [--keep FOLDER]

Each card has one of the three built-in ones (docs/pretend.md) as its kind and all that matters drawn anew: size, clocks,
memory, cache, launch and host times, shares, voltage and power. Operations of five networks are measured at four clocks
(at the highest alone by the way `one-clock`, these networks too by the way `networks`), five other networks are forecast at
eight other clocks, and a clock is chosen for them. The truth is the card's law without noise. joulecast-pretend lies
beside joulecast.
"""

import argparse
import json
import math
import pathlib
import random
import statistics
import tempfile

from commands import run

SEEN = ["resnet18", "mobilenet_v2", "vgg11", "densenet121", "vit_b_32"]
UNSEEN = ["resnet50", "efficientnet_b0", "vit_b_16", "mobilenet_v3_large", "resnet34"]
WAYS = ("operations", "networks", "one-clock")

# A constant is the built-in card's times up to this much, or divided by it.
CONSTANTS = {
    1.1: ["matrix_share", "convolution_share", "vector_share", "bandwidth_share"],
    1.3: ["attention_share", "small_tile_share", "several_pass_share", "launch_clocked_share"],
    1.5: ["half_depth", "launch_s", "overlap_rest", "cache_bytes_per_cycle", "memory_bytes_per_cycle"]
    + ["cache_steepness", "bytes_in_flight", "strided_share", "gather_share", "python_call_s", "cpp_call_s"]
    + ["backward_call_share", "view_call_share", "kelvin_per_watt"],
}
POWERS = ["board_w", "leakage_w", "clocked_w", "busy_w", "memory_idle_w", "joule_per_flop_fp32"]
POWERS += ["joule_per_cache_byte", "joule_per_memory_byte"]
# No share is drawn above this.
MOST = {
    "matrix_share": 0.93,
    "convolution_share": 0.93,
    "vector_share": 0.95,
    "bandwidth_share": 0.95,
    "small_tile_share": 0.95,
    "several_pass_share": 0.95,
    "launch_clocked_share": 0.9,
    "view_call_share": 0.9,
    "attention_share": 0.9,
    "strided_share": 0.9,
    "gather_share": 0.9,
    "backward_call_share": 1.2,
}
COLUMNS = ("time", "power", "energy", "inside", "width", "energy regret", "EDP regret")


def draw_card(dice, number, built_in):
    """A card of a file of laws; every value of the built-in ones stands in what --print-laws tells."""
    base = built_in[number % len(built_in)]

    def factor(most):
        return math.exp(dice.uniform(-math.log(most), math.log(most)))

    card = {"id": f"drawn-{number}", "based_on": base["id"]}
    size, speed = factor(1.6), factor(1.2)
    card["units"] = max(8, round(base["units"] * size))
    size = card["units"] / base["units"]
    step = dice.choice([15, 30, 45])
    highest = step * round(base["boost_clock_mhz"] * speed / step)
    lowest = step * round(highest * dice.uniform(0.2, 0.4) / step)
    card["sm_clocks_mhz"] = list(range(lowest, highest + 1, step))
    for name in ("boost_clock_mhz", "max_clock_mhz"):
        card[name] = highest
    card["base_clock_mhz"] = 0.7 * highest
    for name, value in base.items():
        if "flop_per_s" in name and value:
            card[name] = value * size * highest / base["boost_clock_mhz"]
    bandwidth = size * factor(1.3)
    card["bandwidth_bytes_per_s"] = base["bandwidth_bytes_per_s"] * bandwidth
    card["last_level_cache_bytes"] = round(base["last_level_cache_bytes"] * factor(2))
    for most, names in CONSTANTS.items():
        for name in names:
            card[name] = min(base[name] * factor(most), MOST.get(name, math.inf))
    watts = size * factor(1.2)
    for name in POWERS:
        per_work = name.startswith("joule_per")
        card[name] = base[name] * factor(1.25) * (1 if per_work else watts)
    card["voltage_knee"] = dice.uniform(0.5, 0.8)
    card["voltage_rise"] = dice.uniform(0.2, 0.5)
    card["leakage_per_c"] = dice.uniform(0.003, 0.009)
    card["kelvin_per_watt"] /= watts
    voltage = 1 + card["voltage_rise"]
    card["idle_w"] = card["board_w"] + card["memory_idle_w"] + card["leakage_w"] * voltage
    card["idle_w"] += base["gated_share"] * card["clocked_w"] * voltage**2
    card["tdp_w"] = card["power_limit_high_w"] = round(base["power_limit_high_w"] * watts * dice.uniform(0.85, 1.2))
    card["power_limit_low_w"] = round(0.5 * card["tdp_w"])
    return card


def spread(clocks, shares):
    """Clocks of a list that lie at these shares of it."""
    return [clocks[round(share * (len(clocks) - 1))] for share in shares]


def clocks_of(card):
    clocks = card["sm_clocks_mhz"]
    trained = spread(clocks, (0.25, 0.5, 0.75, 1))
    others = sorted(set(spread(clocks, (0.3, 0.36, 0.43, 0.57, 0.62, 0.7, 0.85, 0.93))) - set(trained))
    # Steps of some 30 MHz, as drivers have them: as good a clock as any.
    choices = clocks[:: max(1, round(30 / (clocks[1] - clocks[0])))]
    return trained, others, choices


class Walk:
    """One card in one mode."""

    def __init__(self, joulecast, card, mode, folder):
        self.joulecast, self.card, self.mode, self.folder = joulecast, card, mode, folder
        laws = folder / f"{card['id']}.json"
        laws.write_text(json.dumps({"schema": "joulecast.pretend/1", "cards": [card]}))
        self.worker = f"{joulecast.parent / 'joulecast-pretend'} --laws {laws}"
        self.trained, self.others, self.choices = clocks_of(card)

    def profile(self, name, networks, clocks, worker, *more):
        database = self.folder / f"{self.card['id']}-{self.mode}-{name}.db"
        command = [self.joulecast, "profile", *networks, "--db", database, "--device", self.card["id"]]
        command += ["--worker", f"{self.worker} {worker}", "--clocks", ",".join(map(str, clocks))]
        run([*command, "--mode", self.mode, "--set", "batch=1,8", *more])
        return database

    def truths(self):
        networks = ["--networks", "--no-operations"]
        return [
            self.profile(name, UNSEEN, clocks, "--truth", *networks)
            for name, clocks in (("truth", self.others), ("choices", self.choices))
        ]

    def predictor(self, way):
        clocks = self.trained[-1:] if way == "one-clock" else self.trained
        more = ["--networks"] if way == "networks" else []
        database = self.profile(way, SEEN, clocks, "--seed 1", *more)
        file = database.with_suffix(".jcp")
        run([self.joulecast, "train", "--db", database, "-o", file])
        return file

    def validate(self, predictor, database):
        command = [self.joulecast, "validate", "--predictor", predictor, "--db", database, "--format", "json"]
        return json.loads(run(command))

    def figures(self, predictor, truth, choices):
        """In percent, as COLUMNS says."""
        networks = self.validate(predictor, truth)["networks"]
        regrets = {
            regret["objective"]: regret["mean_regret"]
            for regret in self.validate(predictor, choices)["clock_regret"]
            if regret["rule"] == "joulecast"
        }
        inside = statistics.mean(bool(network["inside_interval"]) for network in networks)
        width = statistics.median(network["predicted_high_s"] / network["predicted_low_s"] - 1 for network in networks)
        return [*errors_of(networks), *(100 * share for share in (inside, width, regrets["energy"], regrets["edp"]))]


def errors_of(networks):
    """Mean errors of time, power and energy, in percent."""

    def ratio(network, metric):
        return network[f"predicted_{metric}"] / network[f"measured_{metric}"]

    time = [abs(ratio(network, "time_s") - 1) for network in networks]
    power = [abs(ratio(network, "energy_j") / ratio(network, "time_s") - 1) for network in networks]
    energy = [abs(ratio(network, "energy_j") - 1) for network in networks]
    return [100 * statistics.mean(values) for values in (time, power, energy)]


def line(card, way, figures):
    cells = [f"{figure:{max(7, len(name))}.{2 if 'regret' in name else 1}f}" for name, figure in zip(COLUMNS, figures)]
    return "  ".join([f"{card:10}", f"{way:10}", *cells])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("joulecast", type=pathlib.Path)
    parser.add_argument("--cards", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mode", default="inference", choices=("inference", "training"))
    parser.add_argument("--ways", nargs="*", default=list(WAYS), choices=WAYS)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    joulecast = options.joulecast.resolve()
    laws = json.loads(run([joulecast.parent / "joulecast-pretend", "--print-laws"]))
    built_in = [card for card in laws["cards"] if card.get("sm_clocks_mhz")]
    dice = random.Random(options.seed)
    found = {way: [] for way in options.ways}
    print("  ".join([f"{'card':10}", f"{'way':10}", *(f"{name:>7}" for name in COLUMNS)]))
    print("  ".join(["─" * 10, "─" * 10, *("─" * max(7, len(name)) for name in COLUMNS)]))
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(options.cards):
            walk = Walk(joulecast, draw_card(dice, number, built_in), options.mode, folder)
            truth, choices = walk.truths()
            for way in options.ways:
                found[way].append(walk.figures(walk.predictor(way), truth, choices))
                print(line(walk.card["id"], way, found[way][-1]), flush=True)
    for way, figures in found.items():
        print(line("mean", way, [statistics.mean(column) for column in zip(*figures)]))


if __name__ == "__main__":
    main()
