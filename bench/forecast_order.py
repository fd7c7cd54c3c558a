#!/usr/bin/env python3
"""Counts forecasts that are out of order: more work that takes less, better cards and faster ways that take longer.

usage: bench/forecast_order.py JOULECAST [--devices ID...] [--networks NAME...] [--mode inference|training]
                               [--precision NAME]

Every network of the zoo on every GPU that joulecast knows, at batch 1, 2, 4 ... 64. Of each pair of neighbours the
larger batch must not cost less time, energy or memory. Of two GPUs of one vendor, one of which is as new and has no
lower figure on its data sheet, that one must not take longer. How many units there are and what one of them computes in
a second are such figures: calls that do not fill a GPU go by them. The last line leaves these out: there a card may be
behind by right. Ways: on cards that have it, at batch 1, 8 and 64, TF32 must not take longer than float32 nor bf16 than
TF32, compiled not longer than eager, and a graph not longer than Python. With products of odd rows bf16 may by right.
"""

import argparse
import itertools
import json
import pathlib

from commands import run

BATCHES = [1, 2, 4, 8, 16, 32, 64]
COSTS = ("time_s", "energy_j", "peak_memory_bytes")
# What makes a card quicker; clocks do so through these and the rate of a unit.
FIGURES = (
    "release_year",
    "peak_flop_per_s_fp32",
    "peak_flop_per_s_tf32",
    "peak_flop_per_s_fp16",
    "peak_flop_per_s_bf16",
    "bandwidth_bytes_per_s",
    "last_level_cache_bytes",
    "memory_bytes",
    "tdp_w",
)
BATCHES_OF_WAYS = [1, 8, 64]
# A slower way and a faster one, as (precision, host, engine); those that are not named stay as they are.
FASTER_WAYS = {
    "tf32 after fp32": ({"precision": "fp32"}, {"precision": "tf32"}),
    "bf16 after tf32": ({"precision": "tf32"}, {"precision": "bf16"}),
    "compiled after eager": ({"engine": "torch"}, {"engine": "torch-compile"}),
    "graph after python": ({"host": "python"}, {"host": "graph"}),
}
WAYS = {"precision": ["fp32", "tf32", "bf16"], "host": ["python", "graph"], "engine": ["torch", "torch-compile"]}
TINY = 1e-9  # of a value: rounding
SHEETS_ROUND = 0.005


def sheets_of_gpus(joulecast):
    """By id."""
    sheets = json.loads(run([joulecast, "devices", "--format", "json"]))["devices"]
    return {sheet["id"]: sheet for sheet in sorted(sheets, key=lambda sheet: sheet["id"]) if sheet["kind"] == "gpu"}


def rate_of_unit(sheet):
    return sheet["peak_flop_per_s_fp32"] / sheet["units"]


def is_better(sheet, other, by_units):
    """No figure is lower, and some are higher."""
    if sheet["vendor"] != other["vendor"]:
        return False
    figures = [(sheet[figure] or 0, other[figure] or 0) for figure in FIGURES]
    is_slower_part = rate_of_unit(sheet) < rate_of_unit(other) * (1 - SHEETS_ROUND)
    if by_units and (sheet["units"] < other["units"] or is_slower_part):
        return False
    return all(own >= others for own, others in figures) and any(own > others for own, others in figures)


def forecasts(joulecast, networks, devices, mode, precision="fp32"):
    """By (network, device, batch)."""
    keys = list(itertools.product(networks, devices, BATCHES))
    lines = "".join(
        json.dumps({"model": network, "device": device, "mode": mode, "precision": precision, "symbols": {"batch": batch}}) + "\n"
        for network, device, batch in keys
    )
    answers = (json.loads(line) for line in run([joulecast, "predict", "--stdin"], input=lines).splitlines())
    return {key: answer for key, answer in zip(keys, answers, strict=True) if "error" not in answer}


def forecasts_by_way(joulecast, networks, devices):
    """Seconds by (network, device, batch, precision, host, engine)."""
    sizes = ",".join(map(str, BATCHES_OF_WAYS))
    asked = ["--device", *devices, "--set", f"batch={sizes}", "--format", "json"]
    for way, values in WAYS.items():
        asked += [f"--{way}", ",".join(values)]
    found = {}
    for network in networks:
        for answer in json.loads(run([joulecast, "predict", network, *asked]))["predictions"]:
            key = (network, answer["device"], answer["symbols"]["batch"], *(answer[way] for way in WAYS))
            found[key] = answer["time_s"]["value"]
    return found


def falls_over_ways(found, slower, faster):
    """How much longer the faster way takes, and where; and of how many pairs."""
    falls, pairs = [], 0
    for key, seconds in found.items():
        ways = dict(zip(WAYS, key[3:], strict=True))
        if any(ways[way] != chosen for way, chosen in slower.items()):
            continue
        other = found.get((*key[:3], *(ways | faster).values()))
        if other is None:
            continue
        pairs += 1
        if other > seconds * (1 + TINY):
            at = ", ".join(str(part) for way, part in zip(("", "", "batch", *WAYS), key, strict=True) if way not in faster)
            falls.append((other / seconds - 1, at))
    return falls, pairs


def value(answer, cost):
    known = answer.get(cost)
    return known["value"] if known and known["value"] else None


def falls_over_batches(found, networks, devices, cost):
    """By how much less the larger batch costs, and where; and of how many pairs."""
    falls, pairs = [], 0
    for network, device in itertools.product(networks, devices):
        for small, large in itertools.pairwise(BATCHES):
            answers = [found.get((network, device, batch)) for batch in (small, large)]
            costs = [value(answer, cost) if answer else None for answer in answers]
            if None in costs:
                continue
            pairs += 1
            if costs[1] < costs[0] * (1 - TINY):
                falls.append((1 - costs[1] / costs[0], f"{network}, {device}, batch {small} to {large}"))
    return falls, pairs


def falls_over_cards(found, networks, sheets, by_units):
    """How much longer the better card takes, and where; and of how many pairs."""
    better = [(one, other) for one, other in itertools.permutations(sheets, 2) if is_better(sheets[one], sheets[other], by_units)]
    falls, pairs = [], 0
    for network, batch, (one, other) in itertools.product(networks, BATCHES, better):
        answers = [found.get((network, device, batch)) for device in (one, other)]
        times = [value(answer, "time_s") if answer else None for answer in answers]
        if None in times:
            continue
        pairs += 1
        if times[0] > times[1] * (1 + TINY):
            falls.append((times[0] / times[1] - 1, f"{network}, batch {batch}, {one} behind {other}"))
    return falls, pairs


def line(name, falls, pairs):
    """`falls`: by how much the pairs are out of order, and what they are."""
    over_one = sum(fall > 0.01 for fall, _ in falls)
    worst, where = max(falls, default=(0, "-"))
    share = 100 * len(falls) / pairs if pairs else 0
    print(f"{name:28}{pairs:9}{len(falls):9}{share:8.2f} %{over_one:9}{100 * worst:9.1f} %  {where}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("joulecast")
    parser.add_argument("--devices", nargs="+")
    parser.add_argument("--networks", nargs="+")
    parser.add_argument("--mode", default="inference", choices=["inference", "training"])
    parser.add_argument("--precision", default="fp32")
    options = parser.parse_args()
    sheets = sheets_of_gpus(options.joulecast)
    devices = options.devices or list(sheets)
    zoo = pathlib.Path(__file__).resolve().parent.parent / "zoo"
    networks = options.networks or sorted(file.stem for file in zoo.glob("*.pt2") if not file.stem.endswith(".train"))
    found = forecasts(options.joulecast, networks, devices, options.mode, options.precision)
    print(f"{'in order of':28}{'pairs':>9}{'falls':>9}{'share':>10}{'over 1 %':>9}{'worst':>11}  at")
    for cost in COSTS:
        line(f"batch: {cost}", *falls_over_batches(found, networks, devices, cost))
    shown = {device: sheets[device] for device in devices}
    line("card: time_s", *falls_over_cards(found, networks, shown, by_units=True))
    line("card, whatever its units", *falls_over_cards(found, networks, shown, by_units=False))
    by_way = forecasts_by_way(options.joulecast, networks, devices)
    for name, (slower, faster) in FASTER_WAYS.items():
        line(name, *falls_over_ways(by_way, slower, faster))


if __name__ == "__main__":
    main()
