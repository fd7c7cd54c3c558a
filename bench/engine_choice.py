#!/usr/bin/env python3
"""How often forecasts choose the right engine: each network is left out with all its operations and forecast under every engine.

usage: bench/engine_choice.py JOULECAST --db FILE [--measure WORKER...] [--networks NAME...] [--budget 200s]

Without --measure the database has the networks already. With it they and their operations are measured first, a few networks
under one engine after the other, so that what else happens on the machine meets all engines alike; --threads 1 by default.
Printed are measured times with the error of the forecast, the engine that the forecast chooses, and the regret: how much longer it takes
than the best engine. Beside it stand the rules that always take one engine. Times are of one host each (docs/worker-protocol.md).
"""

import argparse
import json
import pathlib
import statistics
import sys

from commands import print_table, run

NETWORKS = """resnet18 mobilenet_v2 squeezenet1_1 vit_b_32 resnet50 mnasnet1_0 googlenet bert-base densenet121 efficientnet_b0
    darknet19 convnext_tiny mobilenet_v3_small regnet_y_400mf gpt2 shufflenet_v2_x1_0 alexnet vgg11 swin_t mobilenet_v3_large""".split()
TOGETHER = 4


def measure(options, joulecast):
    for first in range(0, len(options.networks), TOGETHER):
        for worker in options.measure:
            command = [joulecast, "profile", *options.networks[first:first + TOGETHER], "--networks", "--no-hot", "--worker", worker]
            run([*command, "--threads", str(options.threads), "--budget", options.budget, "--db", options.db])


def times_of(networks):
    """{(network, sizes, mode, precision, device): {engine: (measured, forecast)}} of those that several engines ran."""
    found = {}
    for row in networks:
        if row["predicted_time_s"]:
            key = tuple(row[name] for name in ("network", "symbols", "mode", "precision", "device"))
            found.setdefault(key, {})[row["engine"]] = (row["measured_time_s"], row["predicted_time_s"])
    return {key: engines for key, engines in sorted(found.items()) if len(engines) > 1}


def regret(engines, chosen):
    return engines[chosen][0] / min(measured for measured, _ in engines.values()) - 1


def choice(engines, which):
    """The engine with the least measured (0) or forecast (1) time."""
    return min(engines, key=lambda engine: engines[engine][which])


def show(measured, forecast):
    return f"{1000 * measured:.3g} ms {100 * (forecast / measured - 1):+.0f} %"


def print_networks(times, engines):
    lines = []
    for (network, sizes, *_), of_network in times.items():
        cells = [show(*of_network[engine]) if engine in of_network else "–" for engine in engines]
        chosen = choice(of_network, 1)
        lines.append([network, sizes, *cells, chosen, "yes" if regret(of_network, chosen) == 0 else "no", f"{100 * regret(of_network, chosen):.1f} %"])
    print_table(["network", "sizes", *engines, "chosen", "right", "regret"], lines)


def print_rules(times, engines):
    rules = {"forecast": lambda of_network: choice(of_network, 1)}
    for engine in engines:
        rules[f"always {engine}"] = lambda of_network, engine=engine: engine
    lines = []
    for name, rule in rules.items():
        regrets = [regret(of_network, rule(of_network)) for of_network in times.values() if rule(of_network) in of_network]
        right = sum(cost == 0 for cost in regrets)
        lines.append([name, f"{right} of {len(regrets)}", f"{100 * right / len(regrets):.0f} %", f"{100 * statistics.mean(regrets):.1f} %",
                      f"{100 * max(regrets):.1f} %"])
    print_table(["engine by", "right", "share", "mean regret", "worst"], lines)


def print_errors(times, engines):
    """Errors of the forecasts, and of their ratios to torch's, where errors of both engines may cancel or add up."""
    def off(errors):
        return f"{100 * statistics.median(errors):.1f} %" if errors else "–"

    lines = []
    for engine in engines:
        found = [of_network for of_network in times.values() if engine in of_network]
        errors = [abs(of_network[engine][1] / of_network[engine][0] - 1) for of_network in found]
        both = [of_network for of_network in found if "torch" in of_network and engine != "torch"]
        ratios = [abs(of_network[engine][1] / of_network["torch"][1] / (of_network[engine][0] / of_network["torch"][0]) - 1)
                  for of_network in both]
        lines.append([engine, str(len(found)), off(errors), off(ratios)])
    print_table(["engine", "networks", "time", "over torch"], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("joulecast", type=pathlib.Path)
    parser.add_argument("--db", type=pathlib.Path, required=True)
    parser.add_argument("--measure", nargs="+", metavar="WORKER", default=[])
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--budget", default="200s")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    joulecast = options.joulecast.resolve()
    measure(options, joulecast)
    told = json.loads(run([joulecast, "validate", "--db", options.db, "--split", "network", "--format", "json"]))
    times = times_of(told["networks"])
    if not times:
        sys.exit(f"{options.db} has no network that two engines ran and that can be forecast from the others. Measure more: --measure joulecast-torch "
                 "joulecast-onnxruntime")
    engines = sorted({engine for of_network in times.values() for engine in of_network})
    print_networks(times, engines)
    print()
    print_rules(times, engines)
    print()
    print_errors(times, engines)


if __name__ == "__main__":
    main()
