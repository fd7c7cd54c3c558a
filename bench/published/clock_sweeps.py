#!/usr/bin/env python3
"""Published measurements over clocks and power limits, as tables that `joulecast import sweep` reads.

usage: clock_sweeps.py SOURCE FOLDER > sweep.csv

FOLDER is the prepared copy of the source (docs/data.md). SOURCE is one of
  nv_dvfs        kernels of CUDA samples and Rodinia on V100 and newer (no licence stated: for development only)
  nv_dvfs_older  the same on GTX 980 to RTX 2070 Super, core and memory clock (no licence stated)
  ulisboa        kernels on GTX Titan X, 16 core and 2 memory clocks (BSD-style)
  dlbench        Caffe networks on Pascal cards (no licence stated); rows of clock offsets are left out: no clock is told
  zeus           training over power limits (Apache-2.0)
What is left out is counted on standard error.
"""
import csv
import functools
import json
import os
import re
import sys
from collections import Counter

COLUMNS = ["device", "workload", "symbols", "mode", "sm_mhz", "mem_mhz", "power_limit_w", "time_s", "power_w", "energy_j",
           "memory_active"]
BYTES_OF_A_TRANSACTION = 32  # nvprof's dram_read_transactions and dram_write_transactions
MOST_ACTIVE = 1.05  # beyond rounding: the counters are not of this launch
DEVICES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "devices")
left_out = Counter()


def rows(folder, name):
    with open(os.path.join(folder, name), newline="") as table:
        yield from csv.DictReader(table)


def number(text):
    """What is no positive number was not measured."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value > 0 else None


def digits(text):
    found = re.findall(r"\d+", text)
    return int(found[0]) if found else 0


def kernel(device, row, benchmark, prefix):
    time_ms = number(row["time_ms"])
    power_w = number(row["avg_power_w"])
    if time_ms is None or power_w is None:
        left_out["no time or no power"] += 1
        return None
    # The energy of one call: power was averaged while it ran again and again.
    return {"device": device, "workload": f"{prefix}:{benchmark}:{row['kernel']}" if "kernel" in row else f"{prefix}:{benchmark}",
            "symbols": f"input={digits(row['arg'])}" if "arg" in row else "", "sm_mhz": row["core_mhz"],
            "mem_mhz": row["mem_mhz"], "time_s": time_ms * 1e-3, "power_w": power_w}


@functools.cache
def sheet(device):
    for name in os.listdir(DEVICES):
        with open(os.path.join(DEVICES, name)) as file:
            facts = json.load(file)
        if device == facts["id"] or device in facts.get("aliases", []):
            return facts
    return {}


def counted_activity(row):
    """Bytes that the counters saw, over what the memory could have moved at its clock; None where either is unknown."""
    facts = sheet(row["gpu"])
    clock, bandwidth = facts.get("memory_clock_mhz"), facts.get("bandwidth_bytes_per_s")
    reads, writes, time_ms = (row["dram_read_transactions"], row["dram_write_transactions"], number(row["time_ms"]))
    if not (clock and bandwidth and reads and writes and time_ms):
        return None
    moved = BYTES_OF_A_TRANSACTION * (float(reads) + float(writes))
    active = moved / (time_ms * 1e-3 * bandwidth * float(row["mem_mhz"]) / clock)
    return min(active, 1) if active <= MOST_ACTIVE else None


def with_activity(row, active):
    return row and {**row, "memory_active": "" if active is None else active}


def nv_dvfs(folder):
    for row in rows(folder, "v100_rtx8000.csv"):
        active = row["dcgm_dram_active"]
        yield with_activity(kernel(row["gpu"], row, row["benchmark"], row["set"]), float(active) if active else None)


def nv_dvfs_older(folder):
    for row in rows(folder, "older_gpus_core_x_mem.csv"):
        yield with_activity(kernel(row["gpu"], row, row["app"], row["source_set"]), counted_activity(row))


def ulisboa(folder):
    for row in rows(folder, "titanx_maxwell_time_power_energy.csv"):
        yield kernel("titanx-maxwell", row, row["benchmark"], row["set"])


def dlbench(folder):
    for row in rows(folder, "networks_core_x_mem.csv"):
        time_s, power_w = number(row["time_per_iter_s"]), number(row["avg_power_w"])
        if row["clock_kind"] != "absolute":
            left_out["offset to a clock that is not told"] += 1
        elif time_s is None or power_w is None:
            left_out["no time or no power"] += 1
        else:
            # `caffe time` passes forward and backward; both kinds of run are training.
            yield {"device": row["gpu"].replace("_", "-"), "workload": f"caffe:{row['network']}:{row['caffe_mode']}",
                   "symbols": f"batch={digits(row['batch'])}" if row["batch"] else "", "mode": "training",
                   "sm_mhz": row["core_mhz"], "mem_mhz": row["mem_mhz"], "time_s": time_s, "power_w": power_w}


def zeus(folder):
    for row in rows(folder, "training_power_limit_sweep.csv"):
        time_s, power_w = number(row["time_per_epoch_s"]), number(row["avg_power_w"])
        if time_s is None or power_w is None:
            left_out["no time or no power"] += 1
            continue
        yield {"device": row["gpu"], "workload": f"zeus:{row['dataset']}:{row['network']}:{row['optimizer']}",
               "symbols": f"batch={row['batch_size']}", "mode": "training", "power_limit_w": row["power_limit_w"],
               "time_s": time_s, "power_w": power_w}


SOURCES = {function.__name__: function for function in (nv_dvfs, nv_dvfs_older, ulisboa, dlbench, zeus)}


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in SOURCES:
        sys.exit(__doc__)
    writer = csv.DictWriter(sys.stdout, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for row in SOURCES[sys.argv[1]](sys.argv[2]):
        if row:
            writer.writerow(row)
    for why, count in left_out.items():
        print(f"left out {count} rows: {why}", file=sys.stderr)


if __name__ == "__main__":
    main()
