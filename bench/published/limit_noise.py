#!/usr/bin/env python3
"""What measurement noise alone makes a choice of power limits cost.

usage: bench/published/limit_noise.py SWEEP.csv   (of clock_sweeps.py zeus)

A workload whose mean power at the highest limit is well below the lowest one cannot be slowed down by any limit: its
energy is the same under all of them but for noise. What such workloads tell between their least and their mean energy,
no forecast can choose better.

And what a choice costs that knows nearly all: the limit of least energy of the same program at the next smaller and
larger batch, measured under every limit.
"""

import csv
import sys
from collections import defaultdict
from statistics import mean

WELL_BELOW = 0.85  # of the lowest limit: work between waits may draw more than the mean


def batch(symbols):
    return int(symbols.split("=")[1])


def extra_by_neighbours(own):
    """Of each workload, what the limit costs that is best for its neighbours in batch. `own`: energies by (name, batch)."""
    extra = []
    for name, size in own:
        sizes = sorted(other for program, other in own if program == name)
        at = sizes.index(size)
        neighbours = [own[name, other] for other in sizes[max(at - 1, 0) : at + 2] if other != size]
        if not neighbours:
            continue
        energies = own[name, size]
        told = {limit: mean(n[limit] / min(n.values()) for n in neighbours if limit in n) for limit in energies
                if any(limit in n for n in neighbours)}
        extra.append(energies[min(told, key=told.get)] / min(energies.values()) - 1)
    return extra


def main():
    sweeps = defaultdict(dict)
    with open(sys.argv[1], newline="") as file:
        for row in csv.DictReader(file):
            key = row["device"], row["workload"], row["symbols"]
            sweeps[key][float(row["power_limit_w"])] = float(row["time_s"]), float(row["power_w"])
    for device in sorted({key[0] for key in sweeps}):
        own = [limits for key, limits in sweeps.items() if key[0] == device and len(limits) >= 3]
        unlimited = [s for s in own if s[max(s)][1] < WELL_BELOW * min(s)]
        energies = [[seconds * watts for seconds, watts in s.values()] for s in unlimited]
        extra = [mean(e) / min(e) - 1 for e in energies]
        print(
            f"{device}: {len(unlimited)} of {len(own)} workloads draw less than any limit; a choice there costs "
            f"{100 * mean(extra):.1f} % on average, {100 * sum(extra) / len(own):.1f} % of the mean over all"
        )
        energies_of = {
            (key[1], batch(key[2])): {limit: seconds * watts for limit, (seconds, watts) in limits.items()}
            for key, limits in sweeps.items()
            if key[0] == device
        }
        by_neighbours = extra_by_neighbours(energies_of)
        print(f"{device}: the limit that is best at the batches beside it costs {100 * mean(by_neighbours):.1f} %")


if __name__ == "__main__":
    main()
