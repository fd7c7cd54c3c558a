"""Speed of the learning side beside scikit-learn, as a section of Markdown on standard output.

usage: speed_results.py BUILD [quick]   BUILD: a release build with -DJOULECAST_BENCH=ON; `quick`: fewer repeats, no 10⁷ rows, no large tables

Every ratio compares programs that took turns in this run: each pair is repeated and the median of the ratios is printed
with the smallest and the largest. tools/make_bench_results.sh puts them into docs/results/speed.md.
"""

import csv
import json
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import sklearn
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.metrics import r2_score

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROWS, COLUMNS, TREES, FOLDS, THREADS = 5900, 57, 100, 5, 2


def run(*command):
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{ran.stderr}")
    return json.loads(ran.stdout)


def seconds(work, clock=time.perf_counter):
    start = clock()
    work()
    return clock() - start


def cpu_seconds(work):
    """Of this process: what a single thread needs, whoever else wants the core."""
    return seconds(work, time.process_time)


def spread(ratios, digits=0):
    low, middle, high = min(ratios), statistics.median(ratios), max(ratios)
    return f"**{middle:.{digits}f}** ({low:.{digits}f}–{high:.{digits}f})"


def table_of_operations(rows, columns, seed):
    """Made-up rows as operations have them: a third of the columns logarithms of sizes, a third whole numbers, a third
    flags, of which some are constant; the target is a logarithm with a tenth of noise."""
    random = np.random.default_rng(seed)
    x = np.zeros((rows, columns), dtype=np.float32)
    for c in range(columns):
        if c % 3 == 0:
            x[:, c] = np.log2(random.integers(1, 4096, rows))
        elif c % 3 == 1:
            x[:, c] = random.integers(0, 2 + c // 4, rows)
        else:
            x[:, c] = random.random(rows) < 0.02 * (c % 17)
    y = 0.3 * x[:, 0] + 0.2 * np.maximum(x[:, 3], x[:, 6]) + 0.1 * x[:, 1] * x[:, 9] / 12 + 0.1 * random.normal(size=rows)
    return x, y


def write_forest(path, model):
    """Our nodes of scikit-learn's trees: its depth-first builder numbers them in preorder as we do."""
    nodes, roots = [], []
    kind = np.dtype([("feature", "<i4"), ("value", "<f4"), ("right", "<i4")])
    count = 0
    for estimator in model.estimators_:
        tree = estimator.tree_
        inner = tree.children_left >= 0
        assert (tree.children_left[inner] == np.nonzero(inner)[0] + 1).all(), "not in preorder"
        # The largest float32 not above the threshold decides every float32 value as the threshold does.
        threshold = tree.threshold.astype(np.float32)
        threshold = np.where(threshold > tree.threshold, np.nextafter(threshold, np.float32(-np.inf)), threshold)
        ours = np.zeros(tree.node_count, dtype=kind)
        ours["feature"] = np.where(inner, tree.feature, -1)
        ours["value"] = np.where(inner, threshold, tree.value[:, 0, 0])
        ours["right"] = np.where(inner, tree.children_right + count, 0)
        nodes.append(ours)
        roots.append(count)
        count += tree.node_count
    with open(path, "wb") as out:
        np.array([len(roots), count, *roots], dtype="<i4").tofile(out)
        np.concatenate(nodes).tofile(out)
    return count


def write_rows(path, x, *columns):
    with open(path, "wb") as out:
        np.array(x.shape, dtype="<i4").tofile(out)
        x.astype("<f4").tofile(out)
        for column in columns:
            column.tofile(out)


def walker(bench, work, repeats):
    x, y = table_of_operations(ROWS, COLUMNS, 1)
    model = RandomForestRegressor(TREES, max_features=0.5, random_state=0, n_jobs=2).fit(x, y)
    model.n_jobs = 1
    fresh, _ = table_of_operations(ROWS, COLUMNS, 2)
    forest, rows = os.path.join(work, "forest"), os.path.join(work, "rows")
    nodes = write_forest(forest, model)
    write_rows(rows, fresh, model.predict(fresh).astype("<f8"))
    single, batch, ours, theirs = [], [], [], []
    for _ in range(repeats):
        theirs_single = cpu_seconds(lambda: [model.predict(fresh[i : i + 1]) for i in range(100)]) / 100
        theirs_batch = cpu_seconds(lambda: model.predict(fresh)) / ROWS
        mine = run(os.path.join(bench, "forest_speed"), forest, rows)
        assert mine["difference"] < 1e-6, mine
        single.append(1e9 * theirs_single / mine["single_ns"])
        batch.append(1e9 * theirs_batch / mine["batch_ns"])
        ours.append((mine["single_ns"] / 1e3, mine["batch_ns"] / 1e3))
        theirs.append((1e6 * theirs_single, 1e6 * theirs_batch))
    pickled = pickle.dumps(model)
    middle = lambda pairs, k: statistics.median(pair[k] for pair in pairs)
    print(f"""## One forest in two programs

{TREES} trees of {nodes / TREES:.0f} nodes on average, fitted by scikit-learn to {ROWS} made-up rows of {COLUMNS} features and loaded into
joulecast node by node; CPU time of one thread each. Predictions agree to {mine["difference"]:.0e}. Ratio: median of {repeats} turns (smallest–largest).

| | scikit-learn | joulecast | ratio |
|---|---|---|---|
| a row alone | {middle(theirs, 0):.0f} µs | {middle(ours, 0):.2f} µs | {spread(single)} |
| a row of a batch of {ROWS} | {middle(theirs, 1):.1f} µs | {middle(ours, 1):.2f} µs | {spread(batch, 1)} |
""")
    return pickled, nodes


def loading(bench, pickled, nodes, repeats):
    folder = os.path.join(ROOT, "predictors")
    lines = []
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".jcp"):
            continue
        ratios, first, median = [], [], []
        for _ in range(repeats):
            theirs = cpu_seconds(lambda: pickle.loads(pickled))
            mine = run(os.path.join(bench, "load_speed"), os.path.join(folder, name))
            ratios.append((theirs / nodes) / (mine["median_ms"] / 1e3 / mine["nodes"]))
            first.append(mine["first_ms"])
            median.append(mine["median_ms"])
        lines.append(
            f"| `{name}` | {mine['bytes'] / 1e6:.2f} MB | {mine['nodes']} | {statistics.median(first):.2f} ms |"
            f" {statistics.median(median):.2f} ms | {spread(ratios, 1)} |"
        )
    print(f"""## Opening a shipped predictor

CPU time in process, file cache warm: reading, checksums, every check of hostile files. "First" is the first opening of a process.
The ratio is per node, to `pickle.loads` of the forest above ({nodes} nodes, {len(pickled) / 1e6:.0f} MB).

| predictor | file | nodes | first | again | ratio per node |
|---|---|---|---|---|---|""")
    print("\n".join(lines) + "\n")


def searching(bench, visits):
    folder = os.path.join(ROOT, "predictors")
    print(f"""## A search

`ForecastCache`: every network of the zoo at eight batches of its own between 1 and 128, {visits} visits drawn at random; a
visit asks for the different operations of one network. CPU time of one thread, misses included.

| predictor | operations per second | calls of networks per second | misses | all known | without a cache |
|---|---|---|---|---|---|""")
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".jcp"):
            continue
        mine = run(os.path.join(bench, "search_speed"), os.path.join(folder, name), visits)
        print(
            f"| `{name}` | **{mine['operations_per_s'] / 1e6:.2f} million** | {mine['calls_per_s'] / 1e6:.2f} million |"
            f" {mine['miss_share']:.2%} of {mine['asked']:.0f} | {mine['known_per_s'] / 1e6:.2f} million |"
            f" {mine['misses_per_s'] / 1e3:.0f} thousand |"
        )
    print()


def train_scikit(x, y, folds):
    scores = {}
    for name, learner in (("random forest", RandomForestRegressor), ("extra trees", ExtraTreesRegressor)):
        out = np.zeros(len(y))
        for fold in range(FOLDS):
            inside = folds != fold
            model = learner(TREES, max_features=0.5, n_jobs=THREADS, random_state=0, bootstrap=name == "random forest")
            out[~inside] = model.fit(x[inside], y[inside]).predict(x[~inside])
        scores[name] = (r2_score(y, out), learner)
    best = max(scores.values(), key=lambda score: score[0])[1]
    best(TREES, max_features=0.5, n_jobs=THREADS, random_state=0).fit(x, y)
    return {name: score[0] for name, score in scores.items()}


def training(bench, work, repeats):
    x, y = table_of_operations(ROWS, COLUMNS, 1)
    folds = np.random.default_rng(3).integers(0, FOLDS, ROWS // 3 + 1)[np.arange(ROWS) // 3]  # groups of three rows
    path = os.path.join(work, "table")
    write_rows(path, x, y.astype("<f8"), folds.astype("<i4"))
    ratios, ours, theirs = [], [], []
    for _ in range(repeats):
        start = time.perf_counter()
        scores = train_scikit(x, y, folds)
        theirs.append(time.perf_counter() - start)
        mine = run(os.path.join(bench, "training_speed"), path, FOLDS, TREES, THREADS)
        ours.append(mine["seconds"])
        ratios.append(theirs[-1] / ours[-1])
    print(f"""## Choosing and training

{ROWS} rows of {COLUMNS} features, {FOLDS} grouped folds of random forest and of extra trees ({TREES} trees each, half of the features
a split, leaves of one row), then the better one on all rows: {2 * FOLDS + 1} forests, {THREADS} threads.

| | scikit-learn | joulecast | ratio |
|---|---|---|---|
| seconds | {statistics.median(theirs):.2f} | {statistics.median(ours):.2f} | {spread(ratios, 1)} |
| R² random forest | {scores["random forest"]:.4f} | {mine["r2_random_forest"]:.4f} | |
| R² extra trees | {scores["extra trees"]:.4f} | {mine["r2_extra_trees"]:.4f} | |
""")


def timed(*command):
    """Wall seconds, CPU seconds and peak bytes of a program that must do well."""
    start = time.perf_counter()
    program = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    messages = program.stderr.read()
    _, status, usage = os.wait4(program.pid, 0)
    program.returncode = os.waitstatus_to_exitcode(status)
    if program.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{messages.decode()}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def published(name):
    """A prepared published table, or nothing where $JOULECAST_DATA is unset or lacks it."""
    folder = os.environ.get("JOULECAST_DATA", "")
    path = os.path.join(folder, name)
    return path if folder and os.path.exists(path) else None


def rows_in(path):
    with open(path, newline="") as table:
        return sum(1 for _ in csv.reader(table)) - 1


def whole_training(build, work, repeats):
    """`joulecast train` as users call it: laws, choice by folds, intervals, file."""
    joulecast = os.path.join(build, "bin", "joulecast")
    database, predictor = os.path.join(work, "own.db"), os.path.join(work, "own.jcp")
    own = os.path.join(ROOT, "datasets", "cpu-amd-epyc-2c.csv")
    layers = published("nicolai_a30/ops.csv")
    subprocess.run([joulecast, "import", "csv", own, "--db", database], check=True, capture_output=True)
    rows, tables = rows_in(own), "`datasets/cpu-amd-epyc-2c.csv`"
    if layers:
        subprocess.run([joulecast + "-lab", "import", "nicolai", layers, "--db", database], check=True, capture_output=True)
        rows, tables = rows + rows_in(layers), tables + " and the published `nicolai_a30/ops.csv`"
    ran = [timed(joulecast, "train", "--db", database, "-o", predictor) for _ in range(repeats)]
    wall, cpu = [one[0] for one in ran], [one[1] for one in ran]
    print(f"""`joulecast train` on the {rows} measured rows of {tables} (laws, every learner of `auto` on every
family and metric over five grouped folds, intervals, networks, file): **{statistics.median(wall):.1f} s**
({min(wall):.1f}–{max(wall):.1f}), {statistics.median(cpu):.1f} s of CPU time on {os.cpu_count()} cores.
""")


def large_published(build, work):
    """The largest published tables, as users would import and learn them."""
    names = ("ops_gemm_train.csv", "ops_gemm_test.csv", "ops_vector.csv", "ops_conv2d.csv")
    files = [published("neusight/" + name) for name in names]
    if None in files:
        print("(The published tables of NeuSight are not there: $JOULECAST_DATA is unset or lacks them.)\n")
        return
    joulecast = os.path.join(build, "bin", "joulecast")
    database, predictor = os.path.join(work, "neusight.db"), os.path.join(work, "neusight.jcp")
    boosted = ("--learner", "xgboost")
    steps = {
        "import": ("import", "neusight", *files, "--db", database),
        "train by boosted trees: 5 grouped folds for the intervals, then on all rows": (
            "train", "--db", database, "-o", predictor, *boosted),
        "validate by boosted trees: 5 grouped folds, and in each of them 5 for its intervals": (
            "validate", "--db", database, "--folds", "5", *boosted, "-o", os.path.join(work, "validation")),
    }
    print(f"""{sum(map(rows_in, files)):,} rows of NeuSight's published tables (operations on five GPUs), once each:

| step | seconds | CPU seconds | most memory |
|---|---|---|---|""")
    for name, words in steps.items():
        wall, cpu, peak = timed(joulecast if words[0] == "train" else joulecast + "-lab", *words)
        print(f"| {name} | {wall:.0f} | {cpu:.0f} | {peak / 1e6:,.0f} MB |")
    print()


def startup(build, repeats):
    """From the start of the process to its end, answer written."""
    joulecast = os.path.join(build, "bin", "joulecast")
    networks = (
        "alexnet vgg16 resnet18 resnet50 resnet101 resnext50_32x4d wide_resnet50_2 densenet121 googlenet inception_v3"
        " mobilenet_v2 mobilenet_v3_large efficientnet_b0 efficientnet_b4 convnext_tiny swin_t vit_b_16 regnet_y_8gf"
    ).split()
    cases = {
        "joulecast --version": ("--version",),
        "predict resnet50": ("predict", "resnet50", "--device", "cpu"),
        f"predict {len(networks)} networks in two modes": (
            "predict", *networks, "--device", "cpu", "--mode", "inference,training", "--format", "json"),
    }
    print("""## From the start of the process to its answer

The predictor of the CPU that ships with joulecast, file cache warm. Median (smallest–largest).

| command | wall | CPU |
|---|---|---|""")
    for name, words in cases.items():
        ran = [timed(joulecast, *words) for _ in range(repeats)]
        wall, cpu = [1e3 * one[0] for one in ran], [1e3 * one[1] for one in ran]
        print(f"| {name} | {spread(wall)} ms | {spread(cpu)} ms |")
    print()


def growth(bench, sizes):
    print(f"""## Large tables: time and memory over rows

Random forest of {THREADS} trees on {THREADS} threads, half of ten features a split, leaves of one row; up to 65,536 rows every value is a
possible threshold, beyond it the edges of 256 bins. Beyond: the most memory the process held besides samples and targets,
trees included. scikit-learn grows as many trees on as many threads.

| rows | joulecast | per row and log2(rows) | samples | beyond | scikit-learn | ratio |
|---|---|---|---|---|---|---|""")
    for rows in sizes:
        mine = run(os.path.join(bench, "growth_speed"), rows, THREADS)
        theirs, ratio = "–", "–"
        if rows <= 10**6:
            random = np.random.default_rng(1)
            x = random.random((rows, 10), dtype=np.float32)
            y = np.sin(6 * x[:, 0]) + x[:, 1] + x[:, 2] * x[:, 3] + 0.1 * random.random(rows)
            model = RandomForestRegressor(THREADS, max_features=0.5, n_jobs=THREADS, random_state=0)
            elapsed = seconds(lambda: model.fit(x, y))
            theirs, ratio = f"{elapsed:.2f} s", f"{elapsed / mine['seconds']:.1f}"
        print(
            f"| {rows:,} | {mine['seconds']:.2f} s | {mine['ns_per_row_and_level']:.0f} ns | {mine['own_mb']:.0f} MB |"
            f" {mine['beyond_mb']:.0f} MB | {theirs} | {ratio} |"
        )
    print()


def main(build, *words):
    quick = "quick" in words
    repeats = 3 if quick else 7
    bench = os.path.join(build, "bench")
    with open("/proc/cpuinfo") as info:
        cpu = next(line.split(":")[1].strip() for line in info if line.startswith("model name"))
    print(f"""Written by `tools/make_bench_results.sh` on {time.strftime("%Y-%m-%d")}: {os.cpu_count()} cores of {cpu}, scikit-learn {sklearn.__version__},
load of the machine before the run {os.getloadavg()[0]:.1f}.
""")
    with tempfile.TemporaryDirectory() as work:
        pickled, nodes = walker(bench, work, repeats)
        loading(bench, pickled, nodes, repeats)
        searching(bench, 10000 if quick else 50000)
        training(bench, work, min(repeats, 3))
        whole_training(build, work, 3)
        startup(build, 3 * repeats)
        growth(bench, [10**4, 10**5, 10**6] + ([] if quick else [10**7]))
        if not quick:
            large_published(build, work)


if __name__ == "__main__":
    main(*sys.argv[1:])
