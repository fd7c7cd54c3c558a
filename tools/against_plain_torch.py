#!/usr/bin/env python3
"""Forecasts of networks that tools/plain_torch.py measured, beside what it measured.

    tools/against_plain_torch.py JOULECAST datasets/h100-sxm-plain-torch.csv --device h100-sxm [--predictor FILE]

Takes its JSON lines, or a CSV with the same columns. "device" and "host": the two timelines of the forecast, of which the longer
counts. "memory": all that is allocated at the peak, parameters, inputs and cuBLAS' workspace too.
"""
import argparse
import csv
import json
import math
import statistics
import subprocess


def rows_of(path):
    with open(path, newline="") as file:
        return [json.loads(line) for line in file] if path.endswith(".jsonl") else list(csv.DictReader(file))


def forecast(arguments, row):
    command = [arguments.joulecast, "predict", row["network"], "--device", arguments.device, "--mode", row["mode"], "--precision",
               row["precision"], "--host", "python", "--set", f"batch={row['batch']}", "--format", "json"]
    if row["mode"] == "training":
        command += ["--optimizer", "sgd"]
    if arguments.predictor:
        command += ["--predictor", arguments.predictor]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)["predictions"][0]


def mean_and_median(off):
    return f"{100 * statistics.mean(off):.1f} ({100 * statistics.median(off):.1f}) %" if off else "–"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("joulecast")
    parser.add_argument("measured")
    parser.add_argument("--device", required=True)
    parser.add_argument("--predictor")
    arguments = parser.parse_args()
    header = ["network", "batch", "precision", "mode", "measured ms", "forecast", "device", "host", "error", "in 90 %", "watts", "forecast",
              "error", "memory MB", "forecast", "error"]
    lines, errors = [], {"device": [], "host": []}
    inside = 0
    for row in rows_of(arguments.measured):
        if "error" in row:
            continue
        told = forecast(arguments, row)
        time_s, watts, peak = float(row["time_s"]), float(row["power_w"] or "nan"), float(row["peak_bytes"] or "nan")
        time = told["time_s"]
        off = {"time": time["value"] / time_s - 1, "power": told["power_w"]["value"] / watts - 1}
        memory = told["peak_memory_bytes"]["value"] + told["resident_bytes"] + told["memory"]["library_bytes"]
        off["memory"] = memory / peak - 1
        is_inside = time["low"] <= time_s <= time["high"]
        inside += is_inside
        # Who was waited for when it was measured: a host that issues for most of the time is.
        errors["host" if float(row["issue_s"]) > 0.8 * time_s else "device"].append(off)
        lines.append([row["network"], row["batch"], row["precision"], row["mode"], f"{1e3 * time_s:.2f}", f"{1e3 * time['value']:.2f}",
                      f"{1e3 * told['device_time_s']['value']:.2f}", f"{1e3 * told['host_time_s']['value']:.2f}",
                      f"{100 * off['time']:+.1f} %", "yes" if is_inside else "no", f"{watts:.0f}", f"{told['power_w']['value']:.0f}",
                      f"{100 * off['power']:+.1f} %", f"{peak / 1e6:.0f}" if row["peak_bytes"] else "–", f"{memory / 1e6:.0f}",
                      f"{100 * off['memory']:+.1f} %" if row["peak_bytes"] else "–"])
    widths = [max(len(str(line[i])) for line in [header, *lines]) for i in range(len(header))]
    for line in [header, ["─" * width for width in widths], *lines]:
        print("  ".join(str(cell).ljust(width) if i < 4 else str(cell).rjust(width)
                        for i, (cell, width) in enumerate(zip(line, widths))).rstrip())
    print(f"\n{len(lines)} runs, {inside} inside the 90 % interval of time. Mean error (median) of time, power, memory where")
    for who, of in errors.items():
        if of:
            texts = [mean_and_median([abs(o[what]) for o in of if not math.isnan(o[what])]) for what in ("time", "power", "memory")]
            print(f"  the {who} was waited for, {len(of)} runs: {', '.join(texts)}")


if __name__ == "__main__":
    main()
