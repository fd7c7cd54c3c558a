#!/usr/bin/env python3
"""Forecasts networks whose times others published, on cards that no shipped predictor was trained on, and prints how far off
the forecasts are.

usage: tools/published_networks.py JOULECAST [PREDICTOR]
Reads $JOULECAST_DATA/published_networks/networks.csv (docs/data.md).
"""

import collections
import csv
import json
import math
import os
import statistics
import subprocess
import sys


def request(row):
    symbols = {"batch": int(row["batch"])}
    if row["sequence"]:
        symbols["sequence"] = int(row["sequence"])
    asked = {"model": row["model"], "device": row["device"], "precision": row["precision"], "mode": row["mode"], "symbols": symbols}
    if row["mode"] == "training":
        asked["optimizer"] = "sgd"
    if "nhwc" in (row["source"] + row["note"]).lower():
        asked["memory_format"] = "channels_last"
    return asked


def answers(joulecast, predictor, rows):
    command = [joulecast, "predict", "--stdin"] + (["--predictor", predictor] if predictor else [])
    lines = "".join(json.dumps(request(row)) + "\n" for row in rows)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    if len(found) != len(rows):
        sys.exit(f"{joulecast} answered {len(found)} of {len(rows)} requests: {done.stderr[-500:]}")
    return found


COLUMNS = {"published networks": 34, "networks": 8, "MAPE": 7, "median": 7, "bias": 7, "in 90 %": 7}


def row_of(cells):
    first, *rest = (cell.rjust(width) for cell, width in zip(cells, COLUMNS.values()))
    return "  ".join([first.strip().ljust(COLUMNS["published networks"])] + rest)


def line(name, errors):
    """errors: of each network log(forecast / published), and whether the interval holds what was published."""
    sizes = [abs(math.exp(log) - 1) for log, _ in errors]
    bias = math.exp(statistics.mean(log for log, _ in errors)) - 1
    inside = statistics.mean(is_inside for _, is_inside in errors)
    shares = (statistics.mean(sizes), statistics.median(sizes), bias, inside)
    return row_of([name, str(len(errors))] + [f"{100 * share:.1f} %" for share in shares])


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    data = os.environ.get("JOULECAST_DATA") or sys.exit("JOULECAST_DATA is not set: docs/data.md")
    with open(os.path.join(data, "published_networks", "networks.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    groups = collections.defaultdict(list)
    refused = collections.Counter()
    for row, answer in zip(rows, answers(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else None, rows)):
        if "error" in answer:
            refused[answer["error"]] += 1
            continue
        time = answer["time_s"]
        published = float(row["step_ms"]) * 1e-3
        error = (math.log(time["value"] / published), time["low"] <= published <= time["high"])
        kind = f"{row['precision']} {row['mode']}"
        for group in ("all", kind, f"{kind} {row['device']}"):
            groups[group].append(error)
    print(row_of(COLUMNS))
    print(row_of(["─" * width for width in COLUMNS.values()]))
    for group in sorted(groups):
        print(line(group, groups[group]))
    for why, count in refused.most_common():
        print(f"{count} refused: {why}")


if __name__ == "__main__":
    main()
