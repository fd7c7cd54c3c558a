#!/usr/bin/env python3
"""Seconds of whole decisions, as a section of Markdown on standard output: many forecasts by one command, forecasts
asked of a program that stays loaded, and a recommendation over many devices, clocks and batches.

usage: decision_speed.py JOULECAST [--repeats 15]   JOULECAST: the program of a release build

The peer is what the shell pays for any small program in another language: an empty Python script. Both take turns, and
the medians of a run are printed with the smallest and the largest ratio. Wall time is what a user waits; CPU time does
not depend on who else wants the cores.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

NETWORKS = """alexnet resnet18 resnet34 resnet50 resnet101 resnet152 vgg16 densenet121 densenet201 googlenet mobilenet_v2
mobilenet_v3_large efficientnet_b0 efficientnet_b4 convnext_tiny regnet_y_400mf squeezenet1_1 shufflenet_v2_x1_0""".split()
CLOCKS = [600, 800, 1000, 1200, 1300, 1410]
DEVICES = """h200 h100-sxm h100-pcie a100-40g-pcie a100-40g-sxm a100-80g-pcie a100-80g-sxm a30 a10 a40 l4 l40s t4
v100-16g-pcie v100-32g-sxm p100 rtx2080ti rtx3090 rtx4090 rtx8000""".split()
BATCHES = [1, 2, 4, 8, 16, 32, 64, 128]
MHZ = range(600, 1500, 15)


def once(command):
    """Wall and CPU seconds of a process, from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode not in (0, 3):
        sys.exit(f"{' '.join(command)}\n{ran.stderr.decode()}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def in_turns(command, repeats):
    """Medians of wall and CPU seconds, and the ratios of wall time to the peer's."""
    empty = [sys.executable, "-I", "-S", "-c", "pass"]
    once(command), once(empty)
    ours, peers = [], []
    for _ in range(repeats):
        ours.append(once(command))
        peers.append(once(empty)[0])
    ratios = [mine[0] / peer for mine, peer in zip(ours, peers)]
    return [statistics.median(column) for column in zip(*ours)], min(mine[0] for mine in ours), ratios


def line(what, command, limit_s, repeats):
    (wall, cpu), least, ratios = in_turns(command, repeats)
    print(f"| {what} | {limit_s * 1e3:.0f} ms | **{wall * 1e3:.1f} ms** | {least * 1e3:.1f} ms | {cpu * 1e3:.1f} ms |"
          f" {statistics.median(ratios):.1f} ({min(ratios):.1f}–{max(ratios):.1f}) |")


def microseconds(process, line):
    """From a line written to its answer read, and the answer."""
    start = time.perf_counter()
    process.stdin.write(line)
    process.stdin.flush()
    answer = process.stdout.readline()
    return 1e6 * (time.perf_counter() - start), answer


def answered(process, request):
    taken, text = microseconds(process, json.dumps(request) + "\n")
    answer = json.loads(text)
    if "error" in answer:
        sys.exit(answer["error"])
    return taken


def staying_loaded(program):
    """Microseconds from a request written to its answer read: networks that are new, then points of those known, then
    empty lines through the peer."""
    with subprocess.Popen([program, "predict", "--stdin", "--device", "a100"], text=True, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        runs = [(name, mode) for name in NETWORKS for mode in ("inference", "training")]
        request = lambda run, **more: {"model": run[0], "mode": run[1], "operations": False, **more}
        answered(process, request(runs[0]))
        first = [answered(process, request(run)) for run in runs[1:]]
        points = [answered(process, request(run, clock_mhz=mhz)) for mhz in MHZ if mhz <= 1410 for run in runs]
        process.stdin.close()
    echo = [sys.executable, "-I", "-S", "-c", "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"]
    with subprocess.Popen(echo, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        empty = [microseconds(process, "{}\n")[0] for _ in range(1000)]
        process.stdin.close()
    return first, points, empty


def on_one_core(work):
    """Both programs of an exchange on one core: without what a machine takes to wake another core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        return work()
    finally:
        os.sched_setaffinity(0, cores)


def median_and_quantile(taken):
    return f"{statistics.median(taken):.0f} ({statistics.quantiles(taken, n=10)[-1]:.0f}) µs"


def loaded_line(what, may_take, *columns):
    """A column for each place of who asks: what answers take there, and an empty line through the peer."""
    cells = " | ".join(f"**{median_and_quantile(taken)}** | {statistics.median(empty):.0f} µs" for taken, empty in columns)
    print(f"| {what} ({len(columns[0][0])}) | {may_take} | {cells} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    predict = [options.program, "predict", *NETWORKS, "--device", "a100", "--clocks", ",".join(map(str, CLOCKS)),
               "--mode", "inference,training"]
    recommend = [options.program, "recommend", "resnet50", "--clocks", ",".join(map(str, MHZ)), "--minimise", "energy",
                 "--set", "batch=" + ",".join(map(str, BATCHES))]
    for device in DEVICES:
        recommend += ["--device", device]
    print(f"""## Decisions

From process start to end on {os.cpu_count()} cores, file cache warm; median of {options.repeats} turns. Ratio: wall time to that of an
empty Python script in the same turns, median (smallest–largest).

| command | may take | takes | least | CPU time | ratio |
|---|---|---|---|---|---|""")
    line(f"`predict`: {len(NETWORKS)} networks × {len(CLOCKS)} clocks × 2 modes", predict, 0.05, options.repeats)
    line(f"`recommend`: {len(DEVICES)} devices × {len(MHZ)} clocks × {len(BATCHES)} batches", recommend, 1.0,
         options.repeats)
    print("""
`predict --stdin`, from a request written to its answer read, without lists of operations: median (90 % quantile), asked from the core that answers, and from another, which each answer wakes.

| request | may take | same core | an empty line through Python | another core | an empty line through Python |
|---|---|---|---|---|---|""")
    same, other = on_one_core(lambda: staying_loaded(options.program)), staying_loaded(options.program)
    loaded_line("a network not asked for before", "–", (same[0], same[2]), (other[0], other[2]))
    loaded_line("a clock of a network that is loaded", "100 µs", (same[1], same[2]), (other[1], other[2]))


if __name__ == "__main__":
    main()
