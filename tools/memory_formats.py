#!/usr/bin/env python3
"""How far off forecasts of timm's networks are with contiguous images and with channels last, on GPUs that no predictor has seen, in inference
and in training, and what they say that channels last bring.

usage: tools/memory_formats.py JOULECAST FOLDER [networks]
Reads $JOULECAST_DATA/timm_networks (docs/data.md). Networks are those in FOLDER, which `tools/compiled_networks.py export FOLDER` fills. In
inference they have timm's fast norms (fast_norms.py). `networks`: a line for each as well.
"""

import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

import compiled_networks

TABLES = [("infer", "pt240-cu124-rtx4090", "rtx4090", "RTX 4090, torch 2.4"), ("infer", "pt240-cu124-rtx3090", "rtx3090", "RTX 3090, torch 2.4"),
          ("infer", "pt210-cu121-rtx3090", "rtx3090", "RTX 3090, torch 2.1"), ("train", "pt112-cu113-rtx3090", "rtx3090", "RTX 3090, torch 1.12")]
FORMATS = {"contiguous": "nchw", "channels_last": "nhwc"}
COLUMNS = {"": 48, "networks": 8, "mean": 7, "median": 7, "bias": 7, "in 90 %": 7}


class Timed:
    """One network on one card: seconds of a batch by memory format, measured and told (value, low, high)."""

    def __init__(self, name, measured, told, calls):
        self.name, self.measured, self.told = name, measured, told
        self.has_groups = any(is_grouped(call["signature"]) for call in calls)
        self.attends = any(call["op"] == "aten::scaled_dot_product_attention" for call in calls)

    def ratio(self, seconds):
        return seconds["channels_last"] / seconds["contiguous"]

    def told_ratio(self):
        return self.ratio({name: told[0] for name, told in self.told.items()})


def is_grouped(signature):
    """A convolution of groups of several channels."""
    groups, weight = re.search(r"groups=(\d+)", signature), re.search(r"weight=\w+\[\d+,(\d+)", signature)
    return bool(groups and weight and int(groups.group(1)) > 1 and int(weight.group(1)) > 1)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def prediction(joulecast, network, what, device, batch, memory_format):
    """By joulecast, in mixed precision; None where it has no answer."""
    asked = ["--device", device, "--per-operation", "--format", "json"]
    setting = ["--precision", "amp-fp16", "--memory-format", memory_format, "--set", f"batch={batch}"]
    with tempfile.TemporaryDirectory() as folder:
        if what == "infer":
            graph = os.path.join(folder, "network.graph.json")
            if run(joulecast, "extract", network, *setting, "--graph", graph, "--top", "1").returncode not in (0, 3):
                return None
            done = run(joulecast, "predict", compiled_networks.rewritten(graph), *asked)
        else:
            done = run(joulecast, "predict", network, *setting, *asked, "--mode", "training", "--optimizer", "momentum")
    if done.returncode not in (0, 3):
        print(f"{network}: {done.stderr.strip()[-200:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout)["predictions"][0]


def networks(joulecast, folder, what, part, device):
    tables = {name: compiled_networks.table(part, images, what) for name, images in FORMATS.items()}
    for file in sorted(os.listdir(folder)):
        model, _, size = file.removesuffix(".pt2").partition("@")
        key, path = (model, int(size or 0)), os.path.join(folder, file)
        if any(key not in rows for rows in tables.values()) or compiled_networks.family(model) in compiled_networks.MADE_ONE:
            continue
        if compiled_networks.Network(path, key).is_another(joulecast, tables["contiguous"][key][2]):
            continue
        # Each at the batch of its own table, so that times of an image are compared.
        batches = {name: rows[key][1] for name, rows in tables.items()}
        found = {name: prediction(joulecast, path, what, device, batches[name], name) for name in FORMATS}
        if None in found.values():
            continue
        of_image = {name: 1 / rows[key][0] for name, rows in tables.items()}
        told = {name: [found[name]["time_s"][end] / batches[name] for end in ("value", "low", "high")] for name in FORMATS}
        yield Timed(model, of_image, told, found["contiguous"]["operations"])


def print_errors(name, pairs, inside=None):
    """pairs: told and measured."""
    if not pairs:
        return
    errors = [abs(told / measured - 1) for told, measured in pairs]
    bias = math.exp(statistics.mean(math.log(told / measured) for told, measured in pairs)) - 1
    cells = [f"{100 * share:.1f} %" for share in (statistics.mean(errors), statistics.median(errors), bias)]
    cells += [f"{100 * inside:.1f} %" if inside is not None else "–"]
    print(row_of([name, str(len(pairs)), *cells]))


def row_of(cells):
    first, *rest = (cell.rjust(width) for cell, width in zip(cells, COLUMNS.values()))
    return "  ".join([first.strip().ljust(COLUMNS[""])] + rest)


def print_timed(title, some):
    for name in FORMATS:
        inside = statistics.mean(t.told[name][1] <= t.measured[name] <= t.told[name][2] for t in some) if some else None
        print_errors(f"{title}, {name.replace('_', ' ')}", [(t.told[name][0], t.measured[name]) for t in some], inside)
    print_errors("  channels last over contiguous", [(t.told_ratio(), t.ratio(t.measured)) for t in some])
    print_errors("  the same, taken as 1", [(1, t.ratio(t.measured)) for t in some])


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["networks"]):
        sys.exit(__doc__)
    joulecast, folder = sys.argv[1:3]
    print(row_of(COLUMNS))
    print(row_of(["─" * width for width in COLUMNS.values()]))
    for what, part, device, title in TABLES:
        timed = list(networks(joulecast, folder, what, part, device))
        if sys.argv[3:]:
            for t in timed:
                off = "  ".join(f"{t.told[name][0] / t.measured[name]:5.2f}" for name in FORMATS)
                print(f"{t.name:40}  {off}  {t.ratio(t.measured):5.2f}  {t.told_ratio():5.2f}", file=sys.stderr)
        if what == "infer":
            print_timed(title, timed)
            continue
        # What this torch did otherwise, each by itself.
        plain = [t for t in timed if not t.has_groups and not t.attends]
        print_timed(f"training, {title}", plain)
        print_timed("  convolutions of groups", [t for t in timed if t.has_groups and not t.attends])
        print_timed("  attention, fused since torch 2.0", [t for t in timed if t.attends])


if __name__ == "__main__":
    main()
