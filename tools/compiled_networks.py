#!/usr/bin/env python3
"""How far off forecasts of timm's networks are on GPUs that no predictor has seen: eager and compiled on an RTX 4090.

usage: tools/compiled_networks.py JOULECAST [FOLDER]
       tools/compiled_networks.py eager JOULECAST FOLDER     (on an RTX 4090 and an RTX 3090)
       tools/compiled_networks.py bounds JOULECAST FOLDER    (networks that no RTX 4090 can run as fast as was measured, by its sheet)
       tools/compiled_networks.py export FOLDER     (by a Python that has torch, torchvision and timm; half an hour on one core)
Reads $JOULECAST_DATA/timm_networks (docs/data.md). Networks are those of the zoo, and those in FOLDER, which `export` fills;
the latter with timm's fast norms, as they were measured (fast_norms.py).
"""

import collections
import csv
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import zlib

import published_networks
from fast_norms import with_fast_norms

TABLES = {"2.4": "pt240-cu124-rtx4090", "2.9": "pt291-cu128-4090"}  # torch: eager; compiled is the same with -dynamo
TABLES_OF_EAGER = {"2.1": "pt210-cu121-rtx3090", "2.4": "pt240-cu124-rtx3090"}  # of an RTX 3090
ZOO = """convnext_base convnext_tiny densenet121 densenet201 efficientnet_b0 inception_v3 resnet18 resnet34 resnet50 resnet101
resnet152 resnext50_32x4d vgg11 vgg16 wide_resnet50_2 mnasnet1_0=mnasnet_100 mobilenet_v2=mobilenetv2_100
mobilenet_v3_large=mobilenetv3_large_100 mobilenet_v3_small=mobilenetv3_small_100 regnet_y_400mf=regnety_004
regnet_y_8gf=regnety_080 vit_b_16=vit_base_patch16_224 vit_b_32=vit_base_patch32_224 swin_t=swin_tiny_patch4_window7_224
swin_b=swin_base_patch4_window7_224 swin_v2_t=swinv2_tiny_window8_256 swin_v2_b=swinv2_base_window8_256"""
ZOO_SIZES = {"inception_v3": 299, "swin_v2_t": 256, "swin_v2_b": 256}  # all others are of 224
FITTED = ("convolution/channels_last", "convolution/depthwise/channels_last", "triton")
# Networks whose branches timm made one before it measured them, in the table of torch 2.9 alone. `export` does, too.
MADE_ONE = {"mobileone", "ghostnetv", "repghostnet", "repvit", "fastvit", "repvgg"}
FOLDS = 8
PEAK, BANDWIDTH = 165.2e12, 1008e9  # of an RTX 4090's sheet: products of 16 bits added in float32, bytes a second
SAME_NETWORK = 0.01  # of the number of parameters
# Eager networks this many times faster or slower than forecast are looked at apart.
ODD = 2.5


def table(part, images="nchw", what="infer"):
    """Of each network and image size: images a second, at which batch, and millions of parameters."""
    folder = os.path.join(os.environ.get("JOULECAST_DATA") or sys.exit("JOULECAST_DATA is not set: docs/data.md"), "timm_networks")
    rows = {}
    with open(os.path.join(folder, f"benchmark-{what}-amp-{images}-{part}.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row[f"{what}_samples_per_sec"] and row[f"{what}_img_size"]:
                batch = int(float(row[f"{what}_batch_size"]))
                key = (row["model"], int(float(row[f"{what}_img_size"])))
                rows[key] = (float(row[f"{what}_samples_per_sec"]), batch, float(row["param_count"]))
    return rows


def family(model):
    return re.split(r"[_\d.]", model)[0]


def rewritten(name):
    """The same file with fast norms."""
    with open(name, encoding="utf-8") as file:
        graph = json.load(file)
    with open(name, "w", encoding="utf-8") as file:
        json.dump(with_fast_norms(graph), file)
    return name


def bound(joulecast, name):
    done = subprocess.run([joulecast, "extract", name, "--format", "json"], capture_output=True, text=True, check=True)
    calls = json.loads(done.stdout)["models"][0]["operations"]
    return sum(max(c["flops"] / PEAK, (c["bytes_read"] + c["bytes_written"]) / BANDWIDTH) for c in calls)


class Network:
    def __init__(self, name, key):
        self.name, self.key, self.family = name, key, family(key[0])
        self.measured = {}  # by torch: seconds an image, eager and compiled
        self.measured_on_3090 = {}  # by torch: seconds an image, eager

    def graph(self, joulecast, batch, folder):
        """As it runs in mixed precision, of that many images: a file in the folder."""
        name = os.path.join(folder, "network.graph.json")
        command = [joulecast, "extract", self.name, "--precision", "amp-fp16", "--set", f"batch={batch}", "--graph", name, "--top", "1"]
        subprocess.run(command, capture_output=True, check=True)
        return name

    def is_another(self, joulecast, millions):
        """Whether timm has another network by that name now than the one that was measured."""
        with tempfile.TemporaryDirectory() as folder:
            with open(self.graph(joulecast, 1, folder), encoding="utf-8") as file:
                inputs = json.load(file)["inputs"]
        sizes = [re.findall(r"\d+", given["type"].partition("[")[2]) for given in inputs if given["kind"] == "parameter"]
        own = sum(math.prod(map(int, size)) for size in sizes) / 1e6
        if abs(own / millions - 1) < SAME_NETWORK:
            return False
        print(f"{self.name}: left out, another network was measured: {millions} million parameters, here {own:.2f}", file=sys.stderr)
        return True

    def predictions(self, joulecast, batch, *asked):
        """By joulecast, of the network in mixed precision; None, with the reason printed, where it has no answer."""
        with tempfile.TemporaryDirectory() as folder:
            network = [self.name, "--precision", "amp-fp16", "--set", f"batch={batch}"]
            if self.name.endswith(".pt2"):
                network = [rewritten(self.graph(joulecast, batch, folder))]
            command = [joulecast, "predict", *network, *asked, "--per-operation", "--format", "json"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode in (0, 3):
            return json.loads(done.stdout)["predictions"]
        print(f"{self.name}: {done.stderr.strip()[-200:]}", file=sys.stderr)
        return None

    def bounds(self, joulecast, batch):
        """With norms in float32 and with fast ones: what all calls take, each at the sheet's peak or bandwidth."""
        with tempfile.TemporaryDirectory() as folder:
            name = self.graph(joulecast, batch, folder)
            return [bound(joulecast, name), bound(joulecast, rewritten(name))]

    def forecast(self, joulecast, batch):
        both = self.predictions(joulecast, batch, "--device", "rtx4090", "--engine", "torch,torch-compile")
        if both is None:
            return False
        eager, compiled = both
        self.eager, self.compiled = (told["time_s"]["value"] / batch for told in (eager, compiled))
        self.eager_from_to = [eager["time_s"][end] / batch for end in ("low", "high")]
        self.low, self.high = (compiled["time_s"][end] / batch for end in ("low", "high"))
        parts = collections.Counter()
        for operation in compiled["operations"]:
            parts[operation.get("role", "")] += operation["count"] * operation["time_s"]["value"] / batch
        self.parts = [parts[role] for role in FITTED]
        self.rest = self.compiled - sum(self.parts)
        if self.measured_on_3090:
            time = self.predictions(joulecast, batch, "--device", "rtx3090")[0]["time_s"]
            self.on_3090 = [time[end] / batch for end in ("value", "low", "high")]
        return True

    def with_factors(self, factors):
        return self.rest + sum(factor * part for factor, part in zip(factors, self.parts))

    def ratio(self, torch):
        eager, compiled = self.measured[torch]
        return compiled / eager

    def is_odd(self, torch):
        return not 1 / ODD < self.eager / self.measured[torch][0] < ODD


def networks(joulecast, folder):
    tables = {torch: (table(part), table(part + "-dynamo")) for torch, part in TABLES.items()}
    on_3090 = {torch: table(part) for torch, part in TABLES_OF_EAGER.items()}
    zoo = [pair.partition("=") for pair in ZOO.split()]
    asked = [(name, (timm or name, ZOO_SIZES.get(name, 224))) for name, _, timm in zoo]
    if folder:
        for file in sorted(os.listdir(folder)):
            model, _, size = file.removesuffix(".pt2").partition("@")
            if file.endswith(".pt2"):
                asked.append((os.path.join(folder, file), (model, int(size))))
    found = []
    for name, key in asked:
        network = Network(name, key)
        is_made_one = network.family in MADE_ONE
        for torch, (eager, compiled) in tables.items():
            if key in eager and key in compiled and (torch == "2.9" or not is_made_one):
                network.measured[torch] = (1 / eager[key][0], 1 / compiled[key][0])
                _, batch, millions = compiled[key]
        network.measured_on_3090 = {torch: 1 / eager[key][0] for torch, eager in on_3090.items() if key in eager and not is_made_one}
        if not network.measured or (network.name.endswith(".pt2") and network.is_another(joulecast, millions)):
            continue
        if network.forecast(joulecast, batch):
            found.append(network)
    return found


COLUMNS = {"": 44, "networks": 8, "mean": 7, "median": 7, "bias": 7, "in 20 %": 7}


def row_of(cells):
    rest = [cell.rjust(width) for cell, width in list(zip(cells, COLUMNS.values()))[1:]]
    return "  ".join([cells[0].ljust(COLUMNS[""])] + rest).rstrip()


def print_errors(name, pairs):
    """pairs: told and measured."""
    errors = [abs(told / measured - 1) for told, measured in pairs]
    bias = math.exp(statistics.mean(math.log(told / measured) for told, measured in pairs)) - 1
    shares = (statistics.mean(errors), statistics.median(errors), bias, statistics.mean(error < 0.2 for error in errors))
    print(row_of([name, str(len(pairs))] + [f"{100 * share:.1f} %" for share in shares]))


def fold(network):
    return zlib.crc32(network.family.encode()) % FOLDS


def fitted(some, torch):
    """Factors of the parts in FITTED for which the ratios are off least."""

    def off(factors):
        logs = [math.log(n.with_factors(factors) / n.eager / n.ratio(torch)) for n in some]
        return statistics.mean(math.sqrt(log * log + 0.003) for log in logs)

    factors, step = [1.0] * len(FITTED), 1.3
    best = off(factors)
    while step > 1.01:
        tries = [[f * (s if i == k else 1) for i, f in enumerate(factors)] for k in range(len(factors)) for s in (step, 1 / step)]
        value, better = min((off(factors), factors) for factors in tries)
        if value < best:
            best, factors = value, better
        else:
            step = math.sqrt(step)
    return factors


def median_of_family(network, others, torch):
    """Without the network; of all families where it is alone in its own."""
    kin = [n.ratio(torch) for n in others if n.family == network.family and n.key != network.key]
    return statistics.median(kin or [n.ratio(torch) for n in others if n.key != network.key])


def print_scores(title, some):
    print(row_of([title] + list(COLUMNS)[1:]))
    print(row_of(["─" * width for width in COLUMNS.values()]))
    for torch in TABLES:
        timed = [n for n in some if torch in n.measured]
        usual = [n for n in timed if not n.is_odd(torch)]
        learnt = {f: [n for n in usual if fold(n) != f] for f in range(FOLDS)}
        factors = {f: fitted(others, torch) for f, others in learnt.items()}
        middle = {f: statistics.median(n.ratio(torch) for n in others) for f, others in learnt.items()}
        print_errors(f"torch {torch}: ratio, by rule", [(n.compiled / n.eager, n.ratio(torch)) for n in usual])
        told = [(n.with_factors(factors[fold(n)]) / n.eager, n.ratio(torch)) for n in usual]
        print_errors("  its constants fitted, family left out", told)
        print_errors("  one ratio for all, family left out", [(middle[fold(n)], n.ratio(torch)) for n in usual])
        print_errors("  ratio of the family, network left out", [(median_of_family(n, usual, torch), n.ratio(torch)) for n in usual])
        print_errors("  time compiled", [(n.compiled, n.measured[torch][1]) for n in usual])
        print_errors("  time eager", [(n.eager, n.measured[torch][0]) for n in usual])
        print_errors("  ratio, by rule, odd eager times too", [(n.compiled / n.eager, n.ratio(torch)) for n in timed])
        inside = statistics.mean(n.low <= n.measured[torch][1] <= n.high for n in usual)
        print(f"  90 % intervals of the time compiled hold {100 * inside:.1f} %", end="")
        odd = sorted({n.key[0] for n in timed if n.is_odd(torch)})
        print("; odd: " + ", ".join(odd) if odd else "")
    print()


def print_eager(some):
    """All of them, whatever they are off by."""
    cases = {}
    for torch in TABLES:
        timed = [n for n in some if torch in n.measured]
        cases[f"timm, RTX 4090, torch {torch}"] = [(n.eager, *n.eager_from_to, n.measured[torch][0]) for n in timed]
    for torch in TABLES_OF_EAGER:
        timed = [n for n in some if torch in n.measured_on_3090]
        cases[f"timm, RTX 3090, torch {torch}"] = [(*n.on_3090, n.measured_on_3090[torch]) for n in timed]
    print(published_networks.row_of(published_networks.COLUMNS))
    print(published_networks.row_of(["─" * width for width in published_networks.COLUMNS.values()]))
    for name, timed in cases.items():
        errors = [(math.log(told / published), low <= published <= high) for told, low, high, published in timed]
        print(published_networks.line(name, errors))


def print_bounds(joulecast, folder):
    eager = table(TABLES["2.4"])
    print(f"{'torch 2.4':28}  measured  float32 norms  fast norms")
    for file in sorted(os.listdir(folder)):
        model, _, size = file.removesuffix(".pt2").partition("@")
        key = (model, int(size))
        if key not in eager or family(model) in MADE_ONE:
            continue
        speed, batch, _ = eager[key]
        in_float32, fast = (least / batch * speed for least in Network(os.path.join(folder, file), key).bounds(joulecast, batch))
        if in_float32 >= 0.95:
            print(f"{model:28}  {1e3 * batch / speed:5.0f} ms  {in_float32:13.2f}  {fast:10.2f}")


def print_families(some, torch):
    kin = collections.defaultdict(list)
    for network in some:
        if torch in network.measured and not network.is_odd(torch):
            kin[network.family].append(network)
    print(f"{'family, torch ' + torch:28}  networks  measured  by rule   error")
    print("  ".join(["─" * 28, "─" * 8, "─" * 8, "─" * 7, "─" * 6]))
    for name in sorted((f for f in kin if len(kin[f]) > 2), key=lambda f: -len(kin[f])):
        measured = statistics.median(n.ratio(torch) for n in kin[name])
        told = statistics.median(n.compiled / n.eager for n in kin[name])
        error = statistics.mean(abs(n.compiled / n.eager / n.ratio(torch) - 1) for n in kin[name])
        print(f"{name:28}  {len(kin[name]):8}  {measured:8.2f}  {told:7.2f}  {100 * error:4.1f} %")


def chosen(known):
    """Of each family one to five networks, from small ones to large ones: (model, image size)."""
    eager, compiled = table(TABLES["2.9"]), table(TABLES["2.9"] + "-dynamo")
    kin = collections.defaultdict(list)
    for key, (speed, _, _) in eager.items():
        if key in compiled and key[0] in known and not key[0].startswith("test_"):
            kin[family(key[0])].append((-speed, key))
    found = []
    for some in kin.values():
        some.sort()
        count = next(c for most, c in ((3, 1), (14, 2), (59, 3), (math.inf, 5)) if len(some) <= most)
        found += [some[int((i + 0.3) * len(some) / count * 0.85)][1] for i in range(count)]
    return found


def export(folder):
    import timm
    import torch
    from timm.utils import reparameterize_model

    os.makedirs(folder, exist_ok=True)
    for model, size in chosen(set(timm.list_models())):
        path = os.path.join(folder, f"{model}@{size}.pt2")
        if os.path.exists(path):
            continue
        try:
            try:
                network = timm.create_model(model, img_size=size)
            except TypeError:  # takes images of every size
                network = timm.create_model(model)
            network = reparameterize_model(network.eval())  # as timm does before it measures
            images = torch.randn(2, 3, size, size)
            batch = {0: torch.export.Dim("batch", min=1, max=4096)}
            with torch.no_grad():
                exported = torch.export.export(network, (images,), dynamic_shapes=(batch,), strict=False)
            for name, weight in exported.state_dict.items():  # the graph alone is wanted
                if isinstance(weight, torch.nn.Parameter):
                    exported.state_dict[name] = torch.nn.Parameter(weight.to("meta"), requires_grad=False)
            torch.export.save(exported, path)
        except Exception as error:  # of a thousand networks, some cannot be exported
            print(f"{model}: {str(error).splitlines()[0][:120]}", file=sys.stderr)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "export":
        return export(sys.argv[2])
    if len(sys.argv) == 4 and sys.argv[1] == "bounds":
        return print_bounds(*sys.argv[2:])
    if len(sys.argv) == 4 and sys.argv[1] == "eager":
        return print_eager([n for n in networks(*sys.argv[2:]) if n.name.endswith(".pt2")])
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = sys.argv[2] if len(sys.argv) == 3 else None
    all_of_them = networks(sys.argv[1], folder)
    print_scores("networks of the zoo", [n for n in all_of_them if not n.name.endswith(".pt2")])
    if folder:
        exported = [n for n in all_of_them if n.name.endswith(".pt2")]
        print_scores("networks of timm", exported)
        print_families(exported, "2.9")


if __name__ == "__main__":
    main()
