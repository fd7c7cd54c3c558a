#!/usr/bin/env python3
"""Writes docs/results.md, a page for a person, from the full tables in docs/results/.

usage: tools/summarise_results.py [--check] [FOLDER_OF_DOCS]
--check writes nothing and fails where the page is not what the tables say.

Nothing is typed: every number stands in a table of docs/results/, which says the command that printed it.
"""

import re
import sys
from pathlib import Path

# In the order of the page.
SECTIONS = ["cpu", "engines", "darknet19", "boards", "a30", "h100", "h200", "gpus", "sheets", "clocks", "pretended", "drawn"]
SECTIONS += ["decisions", "speed"]
RULE = re.compile(r"^─+( +─+)*$")
MOST_LINES = 300
FEWEST_ROWS = 30  # with fewer, scores over a table's rows say little

INTRODUCTION = """# Results

How far forecasts are off, what stands beside them, and where to see everything. Each heading leads to a file with the full tables and their
commands; this page is made of them by `tools/summarise_results.py`. [Studies](results/studies.md) have a page of their own.

- **MAPE**, **median**: of |forecast - measured| / measured. **in 90 %**: share inside the 90 % interval, whose width over its value has the median **width**.
- No operation stands in both training and test, and a network left out takes all of its operations along. A split named `random` leaks: it stands for papers that split so.
"""


class Table:
    """One printed table: what it is of, its columns and its rows."""

    def __init__(self, of, header, rule, lines):
        spans = [(run.start(), run.end()) for run in re.finditer("─+", rule)]
        # The last column of a row may be longer than its rule.
        cells = lambda line: [line[a : (None if i + 1 == len(spans) else b)].strip() for i, (a, b) in enumerate(spans)]
        self.of = of
        self.columns = cells(header)
        self.rows = [dict(self._firsts(cells(line))) for line in lines]

    def _firsts(self, values):
        """Names may stand twice (median of time, median of energy): the first is meant."""
        seen = set()
        for name, value in zip(self.columns, values):
            if name not in seen:
                seen.add(name)
                yield name, value


def what(command, caption, heading):
    """A few words: the line above the command, else the heading, else the database; and what sets it apart."""
    if caption:
        return re.sub(r" at \S+ MHz.*", "", caption)
    database = re.search(r"--db (\S+)\.db", command)
    words = heading.split(":")[0] or (database[1] if database else "")
    apart = re.search(r"--probes \d+|--mode \w+|--start-from \S+", command)
    if heading and "--predictor" in command and database:
        words += f" ({database[1]})"
    return ", ".join([words] * bool(words) + ([apart[0].removeprefix("--")] if apart else []))


def tables_of(text):
    """All tables of a file, each with the command or the caption that it belongs to."""
    lines = text.split("\n")
    caption = command = heading = ""
    for i, line in enumerate(lines):
        if line.startswith("## "):
            heading, caption = line.removeprefix("## "), ""
        elif line.startswith(("    joulecast ", "    joulecast-lab ", "    bench/")):
            command = line.strip()
        elif line.endswith(":") and line.startswith("pretend-"):
            caption = line
        elif RULE.match(line) and i > 0:
            end = i + 1
            while end < len(lines) and lines[end].strip() and not lines[end].startswith("```"):
                end += 1
            yield Table(what(command, caption, heading), lines[i - 1], line, lines[i + 1 : end])


def scores(table):
    """Ours for time and power, whose product energy is; of the others the nearest in time, which is what most forecast."""
    if table.of.startswith("Sums of measured operations"):
        return  # told by its networks
    rows = [row for row in table.rows if row["family"] == "all" and row["metric"] in ("time_s", "power_w")]
    # A table of one mode has no line of all. Where a few devices ran in both modes, these alone would stand for the others.
    of_all = [row for row in rows if row["mode"] == "all"]
    if {row["device"] for row in rows} != {row["device"] for row in of_all}:
        of_all = [row for row in of_all if row["device"] == "all"]
    rows = of_all or rows
    devices = {}
    for row in table.rows:
        if row["family"] == "all" and row["device"] != "all":
            devices.setdefault(row["metric"], set()).add(row["device"])
    # Of one device the line of all says the same again. What probes bring is told in time, over all devices.
    several = {metric for metric, of_metric in devices.items() if len(of_metric) > 1}
    rows = [row for row in rows if row["device"] != "all" or row["metric"] in several]
    if "probes" in table.of:
        rows = [row for row in rows if row["metric"] == "time_s" and (row["device"] == "all") == ("time_s" in several)]
    ours = [row for row in rows if row["model"] == "joulecast" and int(row["rows"]) >= FEWEST_ROWS]

    def miss(row):
        number = re.match(r"[\d.]+", row["MAPE"])
        return float(number[0]) if number else float("inf")

    for row in ours:
        yield row
        if row["metric"] != "time_s":
            continue
        peers = [peer for peer in rows if peer["metric"] == "time_s" and not peer["model"].startswith("joulecast")]
        alike = [peer for peer in peers if (peer["device"], peer["math"]) == (row["device"], row["math"])]
        yield from sorted(alike, key=miss)[:1]


def choices(table):
    """One row for each device: what its choice costs by each objective."""
    by_device = {}
    for row in table.rows:
        if row["chosen by"] == "joulecast" and " within " not in row["objective"]:
            of_device = by_device.setdefault(row["device"], {"device": row["device"], "workloads": row["workloads"]})
            of_device[row["objective"]] = f"{row['regret']} ({row['worst']})"
    return [row for row in by_device.values() if int(row["workloads"]) > 1]


def choice_and_best(rows):
    """The choice by forecasts and the best of always taking one engine."""
    return [rows[0], min(rows[1:], key=lambda row: float(row["mean regret"].split()[0]))]


def engine_choices(table):
    """Both of each round."""
    for campaign in sorted({row["round"] for row in table.rows}):
        yield from choice_and_best([row for row in table.rows if row["round"] == campaign])


def networks(table):
    """Where two ways of training stand beside each other, of each the line of all."""
    if len(table.rows) == 1:
        return table.rows
    return [row for row in table.rows if (row["mode"] == "all") == ("start-from" in table.of)]


# What is shown of a table with these columns: a heading, its rows, its columns.
KINDS = [
    (
        {"model", "metric", "family", "mode", "MAPE"},
        "Operations or workloads, all families and modes; below our time the nearest of the other methods",
        scores,
        ["model", "metric", "device", "math", "rows", "R²", "MAPE", "median", "in 90 %", "width"],
    ),
    (
        {"networks", "forecast MAPE"},
        "Networks; Σ measured: the sum of their measured operations",
        networks,
        ["mode", "precision", "host", "networks", "forecast MAPE", "median", "in 90 %", "width", "Σ measured MAPE",
         "power MAPE", "energy MAPE"],
    ),
    (
        {"round", "engine", "sum of layers"},
        "Networks left out, over all engines and precisions",
        lambda table: [row for row in table.rows if row["engine"] == "all"],
        ["round", "metric", "runs", "mean error", "median", "worst", "sum of layers", "power law"],
    ),
    (
        {"chosen by", "mean regret"},
        "Energy of the engine that was chosen, over the best one's",
        engine_choices,
        ["round", "chosen by", "networks", "right", "mean regret", "worst"],
    ),
    (
        {"engine by", "mean regret"},
        "Choice of the engine, networks left out, beside always taking the best one",
        lambda table: choice_and_best(table.rows),
        ["engine by", "right", "share", "mean regret", "worst"],
    ),
    (
        {"engine", "over torch"},
        "Forecasts under an engine, networks left out: median error of the time, and of its ratio to torch's",
        lambda table: [] if table.of.startswith("The same") else table.rows,
        ["engine", "networks", "time", "over torch"],
    ),
    (
        {"engine", "Σ measured", "2 x mean"},
        "The whole network, ms; memory in MiB beyond weights and inputs",
        lambda table: table.rows,
        ["engine", "measured", "joulecast", "Σ measured", "memory"],
    ),
    (
        {"published networks", "MAPE"},
        "Published times of whole networks, over all cards",
        lambda table: [row for row in table.rows if len(row["published networks"].split()) < 3 or "timm" in row["published networks"]],
        ["published networks", "networks", "MAPE", "median", "bias", "in 90 %"],
    ),
    (
        {"card", "way", "energy regret"},
        "Means over cards drawn at random, in percent",
        lambda table: [row for row in table.rows if row["card"] == "mean"],
        ["way", "time", "power", "energy", "inside", "width", "energy regret", "EDP regret"],
    ),
    (
        {"chosen by", "regret"},
        "Regret of the choice that the forecast makes, over the best that was measured: mean (worst)",
        choices,
        ["device", "workloads", "time", "energy", "edp"],
    ),
]  # fmt: skip


def markdown(columns, rows):
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for row in rows:
        lines.append("| " + " | ".join(row) + " |")
    return lines


def summary_of(tables, known):
    """One table for each kind, of all that a file has of it. A kind whose heading is `known` by now goes without."""
    lines = []
    for needed, heading, choose, columns in KINDS:
        rows = []
        for table in tables:
            if needed <= set(table.columns):
                rows += [[table.of] + [row.get(column, "–") for column in columns] for row in choose(table)]
        if not rows:
            continue
        used = [i for i in range(len(columns) + 1) if any(row[i] not in ("–", "") for row in rows)]
        lines += [""] if heading in known else ["", heading + ":", ""]
        known.add(heading)
        lines += markdown([(["of"] + columns)[i] for i in used], [[row[i] for i in used] for row in rows])
    return lines


def first_part(text):
    """Of a file that has none of these tables: its own are short already."""
    return re.split(r"^## ", text, maxsplit=2, flags=re.M)[1].split("\n")[1:]


def page(folder):
    lines = INTRODUCTION.rstrip("\n").split("\n")
    known = set()
    for section in SECTIONS:
        path = folder / "results" / (section + ".md")
        text = path.read_text(encoding="utf-8")
        title = text.split("\n", 1)[0].removeprefix("# ")
        written = re.search(r"^Written (\d{4}-\d\d-\d\d)", text, flags=re.M)
        lines += ["", f"## [{title}](results/{section}.md)" + (f", {written[1]}" if written else "")]
        # The same rows with less told of them (clocks.md) are for the full page, and so are a card's single operations
        # where its networks stand, and pretended cards with their networks measured as well.
        hidden = {"family"} if section in ("sheets", "h100", "h200") else set()
        told_twice = ("-untold", "operations and networks") if section in ("clocks", "pretended") else ("-untold",)
        shown = [t for t in tables_of(text) if not t.of.endswith(told_twice) and not hidden & set(t.columns)]
        lines += summary_of(shown, known) or first_part(text)
        while lines[-1] == "":
            lines.pop()
    return "\n".join(lines) + "\n"


def main():
    arguments = sys.argv[1:]
    check = "--check" in arguments
    folders = [argument for argument in arguments if not argument.startswith("--")]
    folder = Path(folders[0]) if folders else Path(__file__).resolve().parent.parent / "docs"
    text = page(folder)
    if text.count("\n") > MOST_LINES:
        sys.exit(f"docs/results.md would have {text.count(chr(10))} lines; a page for a person has {MOST_LINES} at most")
    target = folder / "results.md"
    if not check:
        target.write_text(text, encoding="utf-8")
    elif target.read_text(encoding="utf-8") != text:
        sys.exit("docs/results.md is not what docs/results/ says: run tools/summarise_results.py")


if __name__ == "__main__":
    main()
