#!/usr/bin/env python3
"""Transformers forecast from measurements of convolutional networks alone, beside what they took: docs/decisions/0052.

    bench/untold_products.py build/release/bin/joulecast datasets/cpu-amd-epyc-2c-engines.csv

Left out of the training are the transformers, and every product but linear layers of one row, attention, softmax, layer norm and
gelu. Prints each engine's forecasts of the networks that it was measured with.
"""
import csv
import json
import pathlib
import re
import sys
import tempfile

from commands import print_table, run

TRANSFORMERS = ("bert", "gpt2", "vit", "swin", "convnext")
THEIRS = re.compile(r"aten::(linear|addmm|matmul|mm|bmm|scaled_dot_product_attention|layer_norm|gelu|softmax)\b")
ASKED = ("bert-base", "vit_b_32", "gpt2", "swin_t", "convnext_tiny")


def is_kept(row):
    if row["kind"] == "network":
        return not row["model"].startswith(TRANSFORMERS)
    found = THEIRS.match(row["operation"])
    if not found:
        return True
    sizes = re.search(r"\[([\d,]*)\]", row["operation"]).group(1).split(",")
    return found.group(1) == "linear" and all(size == "1" for size in sizes[:-1])


def main():
    program, table = sys.argv[1:]
    csv.field_size_limit(1 << 30)
    with open(table, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        rows, names = list(reader), reader.fieldnames
    measured = {(row["engine"] or "torch", row["model"]): float(row["time_median_s"]) for row in rows if row["kind"] == "network"}
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        kept, database, predictor = (str(pathlib.Path(folder) / name) for name in ("kept.csv", "kept.db", "kept.jcp"))
        with open(kept, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(filter(is_kept, rows))
        run([program, "import", "csv", kept, "--db", database])
        run([program, "train", "--db", database, "-o", predictor])
        for (engine, model), seconds in sorted(measured.items()):
            if model not in ASKED or engine == "tvm":
                continue
            told = json.loads(run([program, "predict", model, "--device", "cpu-amd-epyc-2c", "--engine", engine, "--predictor", predictor,
                                   "--format", "json"]))["predictions"][0]["time_s"]
            inside = "yes" if told["low"] <= seconds <= told["high"] else "no"
            lines.append([engine, model, f"{1e3 * seconds:.0f}", f"{1e3 * told['value']:.0f}",
                          f"{1e3 * told['low']:.0f} - {1e3 * told['high']:.0f}", f"{told['value'] / seconds:.2f}", inside])
    print_table(["engine", "network", "measured, ms", "told", "90 %", "told / measured", "inside"], lines, ">")


if __name__ == "__main__":
    main()
