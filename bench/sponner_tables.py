#!/usr/bin/env python3
"""Tables 5 and 6 of Sponner et al. (Electronics 11, 2316): Darknet-19 at batch 16, layer by layer, measured and forecast, by engine.

usage: bench/sponner_tables.py JOULECAST --db FILE [--engines NAME...]

The database has the operations of other networks, and `darknet19@sponner` at batch 16 with its layers and as a whole (docs/seeds.md says
how to measure both). No layer of it is in any training. joulecast-lab lies beside joulecast.
Times are in ms, power in W, for one call of a layer. As in the paper the sum is given with and without conv2d_36.
"""

import argparse
import csv
import json
import pathlib
import sys
import tempfile

from commands import print_table, run

NETWORK, SIZES = "darknet19@sponner", "batch=16"
METHODS = {"joulecast": "joulecast", "sponner_ert": "ERT", "sponner_knn": "kNN", "template_matching": "template", "paleo": "PALEO"}
APART = "conv2d_36"
# Table 4 of the paper: its names of the layers, and which of the network's different operations each is.
LAYERS = {"conv2d_28": 0, "max_pooling2d_30": 1, "conv2d_29": 2, "max_pooling2d_31": 3, "conv2d_30": 4, "conv2d_31": 5, "conv2d_32": 4,
          "max_pooling2d_32": 6, "conv2d_33": 7, "conv2d_34": 8, "conv2d_35": 7, "max_pooling2d_33": 9, "conv2d_36": 10,
          "conv2d_37": 11, "conv2d_38": 12, "conv2d_39": 13, "conv2d_40": 14, "max_pooling2d_34": 15, "conv2d_41": 16}
METRICS = {"time_s": ("Table 5", "time, ms", 1e3), "power_w": ("Table 6", "power, W", 1)}


def signatures(joulecast):
    """Of the network's different operations, in the order of their first calls."""
    told = json.loads(run([joulecast, "extract", NETWORK, "--set", SIZES, "--format", "json"]))
    return [operation["signature"] for operation in told["models"][0]["operations"]]


def rows_by_engine(joulecast, database, folder):
    """{engine: rows of the database's CSV}, and the CSV's columns."""
    file = folder / "all.csv"
    run([joulecast, "export", "--db", database, "-o", file])
    with file.open(newline="") as lines:
        reader = csv.DictReader(lines)
        rows = list(reader)
    return parted(rows), reader.fieldnames


def parted(rows):
    """By engine, each with the rows that describe devices."""
    devices = [row for row in rows if row["kind"] == "device"]
    found = {}
    for row in rows:
        # Other networks as a whole would each be left out in turn.
        if row["kind"] != "device" and (row["kind"] != "network" or row["model"] == NETWORK):
            found.setdefault(row["engine"], list(devices)).append(row)
    return found


def forecasts(joulecast, rows, columns, folder):
    """(what validate says of the network, {(method, metric, signature): (measured, forecast)}) from the rows of one engine."""
    part = pathlib.Path(tempfile.mkdtemp(dir=folder))
    with (part / "rows.csv").open("w", newline="") as lines:
        writer = csv.DictWriter(lines, columns)
        writer.writeheader()
        writer.writerows(rows)
    run([joulecast, "import", "csv", part / "rows.csv", "--db", part / "rows.db"])
    methods = ",".join(name for name in METHODS if name != "joulecast")
    told = json.loads(run([joulecast.parent / "joulecast-lab", "validate", "--db", part / "rows.db", "--split", "network", "--baselines", methods,
                           "--predictions", part / "predictions.csv", "--format", "json"]))
    networks = [row for row in told["networks"] if row["network"] == NETWORK]
    with (part / "predictions.csv").open(newline="") as lines:
        found = {(row["model"], row["metric"], row["group"]): (float(row["measured"]), float(row["predicted"]))
                 for row in csv.DictReader(lines) if row["measured"] and row["predicted"]}
    return networks, found


def cells(values, scale):
    return [f"{scale * value:.3g}" if value is not None else "–" for value in values]


def columns_of(found, metric, signature):
    """Measured, and by each method; None where nobody says."""
    measured = next((pair[0] for (_, of, which), pair in found.items() if (of, which) == (metric, signature)), None)
    return [measured, *((found.get((method, metric, signature)) or (None, None))[1] for method in METHODS)]


def sums(lines):
    """Of each column, where all of its layers are told."""
    return [sum(column) if None not in column else None for column in zip(*lines)]


def print_metric(found, metric, operations, engine):
    title, unit, scale = METRICS[metric]
    if not any(of == metric for _, of, _ in found):
        print(f"{title}, {engine}: no {unit.partition(',')[0]} was measured on this device\n")
        return
    layers = {name: columns_of(found, metric, operations[number]) for name, number in LAYERS.items()}
    lines = [[name, *cells(values, scale)] for name, values in layers.items()]
    if metric == "time_s":
        lines.append(["sum", *cells(sums(layers.values()), scale)])
        lines.append([f"sum without {APART}", *cells(sums(values for name, values in layers.items() if name != APART), scale)])
        whole = sums(layers.values())
        off = [f"{100 * (value / whole[0] - 1):+.1f} %" if value and whole[0] else "–" for value in whole[1:]]
        lines.append(["sum over measured", "", *off])
    print(f"{title}, {engine}: {unit}\n")
    print_table(["layer", "measured", *METHODS.values()], lines, ">")
    print()


def print_whole(rows):
    """The network as a whole, by engine."""
    lines = []
    for row in rows:
        in_mib = [row[name] / 2**20 if row[name] else None for name in
                  ("measured_peak_bytes", "predicted_peak_bytes", "sponner_optimistic_bytes", "sponner_pessimistic_bytes")]
        times = [row[name] for name in ("measured_time_s", "predicted_time_s", "summed_time_s")]
        lines.append([row["engine"], *cells(times, 1e3), *cells([row["measured_energy_j"], row["predicted_energy_j"]], 1), *cells(in_mib, 1)])
    print("The whole network (ms, J, MiB beyond weights and inputs; section 7.4.1: twice the mean, the two largest added)\n")
    print_table(["engine", "measured", "joulecast", "Σ measured", "energy", "joulecast", "memory", "joulecast", "2 x mean", "two largest"], lines, ">")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("joulecast", type=pathlib.Path)
    parser.add_argument("--db", type=pathlib.Path, required=True)
    parser.add_argument("--engines", nargs="+", help="of the database (default: all)")
    options = parser.parse_args()
    joulecast = options.joulecast.resolve()
    operations, whole = signatures(joulecast), []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        rows, columns = rows_by_engine(joulecast, options.db, folder)
        for engine in options.engines or sorted(rows):
            if engine not in rows:
                sys.exit(f"{options.db} has no rows of the engine {engine}; it has {', '.join(sorted(rows))}")
            networks, found = forecasts(joulecast, rows[engine], columns, folder)
            if not networks:
                sys.exit(f"{options.db} has no measurement of {NETWORK} under {engine}, or nothing else to learn from")
            whole += [network for network in networks if network["symbols"] == SIZES]
            for metric in METRICS:
                print_metric(found, metric, operations, engine)
    print_whole(whole)


if __name__ == "__main__":
    main()
