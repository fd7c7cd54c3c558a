#!/usr/bin/env bash
# Writes docs/results.md: every table there is what the command above it printed. About twenty minutes. Published tables
# are read from $JOULECAST_DATA (docs/data.md).
# usage: tools/make_results.sh [JOULECAST]   (default: build/release/bin/joulecast)
set -euo pipefail
data=${JOULECAST_DATA:?set it to the folder of published tables, docs/data.md}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
joulecast=$(realpath "${1:-build/release/bin/joulecast}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
result=$work/results.md

# table COMMAND... : the command as a reader types it, and what it prints.
table() {
    {
        printf '\n    joulecast %s\n\n```text\n' "${*//$work\//}"
        "$joulecast" "$@" 2>>"$work/messages"
        printf '```\n'
    } >>"$result"
}

# The section that tools/make_bench_results.sh measures stays as it is, at the end of the page.
awk '/^## /{speed = ($0 == "## Speed")} speed' docs/results.md >"$work/speed.md"

cat >"$result" <<TEXT
# Results

Every table is what the command above it printed; \`tools/make_results.sh\` writes this page. Last written
$(date -u +%F), joulecast $("$joulecast" --version | tail -n 1).

## A CPU: two cores of an AMD EPYC, float32

Data: \`datasets/cpu-amd-epyc-2c.csv\` (its README says how it was measured): twelve networks at batch 1 and 8, inference
and training. First into a database:

    joulecast import csv datasets/cpu-amd-epyc-2c.csv --db own.db

### Whole networks, each left out in turn

Forecasts: no operation of the network is in training, not even one that it shares with others, and its own measurement
calibrates nothing. "Σ measured" is the sum of its *measured* operations: what composition costs by itself. Memory is the
peak above parameters and inputs. The table of operations that comes first scores the same held-out operations.
TEXT
"$joulecast" import csv datasets/cpu-amd-epyc-2c.csv --db "$work/own.db" >/dev/null
table validate --db "$work/own.db" --split network
cat >>"$result" <<'TEXT'

### Operations, folds grouped by operation, with baselines

The same operation never stands in training and test. `thesis_forest` is a random forest on raw seconds and layer
attributes; `roofline` and `paleo` know the data sheet only, here peak and bandwidth estimated from cores and clock.
TEXT
table validate --db "$work/own.db" --split operation --baselines
cat >>"$result" <<'TEXT'

### Sums of measured operations against networks

Data: `datasets/cpu-amd-epyc-2c-batch4.csv`: fifteen networks, each measured right after its own operations. Only the columns
"measured" and "Σ measured" are about that; the forecasts beside are the shipped predictor's, which knows eight of these
networks at other batches and seven not at all.

    joulecast import csv datasets/cpu-amd-epyc-2c-batch4.csv --db batch4.db
TEXT
"$joulecast" import csv datasets/cpu-amd-epyc-2c-batch4.csv --db "$work/batch4.db" >/dev/null
table validate --db "$work/batch4.db" --predictor predictors/cpu-amd-epyc-2c.jcp
cat >>"$result" <<'TEXT'

The same two hours later (`datasets/cpu-amd-epyc-2c-batch4-again.csv`; all fifteen in training, nine in inference). Others are
the worst this time: the machine was not the same under the operations and under the network.

    joulecast import csv datasets/cpu-amd-epyc-2c-batch4-again.csv --db again.db
TEXT
"$joulecast" import csv datasets/cpu-amd-epyc-2c-batch4-again.csv --db "$work/again.db" >/dev/null
table validate --db "$work/again.db" --predictor predictors/cpu-amd-epyc-2c.jcp
cat >>"$result" <<'TEXT'

### The same with random folds: it leaks

Printed to compare with papers that split this way. An operation that several measurements share stands on both sides.
TEXT
table validate --db "$work/own.db" --split random --folds 15 --baselines
cat >>"$result" <<'TEXT'

## An NVIDIA A30: the layers of the thesis

Data: `nicolai` ([data.md](data.md)), which has no licence: for development, nothing trained on it is shipped. Layers in
TF32 inference, fp32 inference and fp32 training, each a setting with a model of its own; time and power.

    joulecast import nicolai $JOULECAST_DATA/nicolai_a30/*.csv --db a30.db

### Layers, folds grouped by operation
TEXT
"$joulecast" import nicolai "$data"/nicolai_a30/*.csv --db "$work/a30.db" >/dev/null
table validate --db "$work/a30.db" --split operation --baselines
cat >>"$result" <<'TEXT'

### Networks, each left out in turn

The logs hold no functional operations (add, cat, softmax, matmul): forecasts take those from the graph, with evidence
`analytic`.
TEXT
table validate --db "$work/a30.db" --split network
cat >>"$result" <<'TEXT'

### The layers with random folds, as the thesis split them: it leaks
TEXT
table validate --db "$work/a30.db" --split random --folds 15 --baselines thesis_forest,thesis_xgboost
cat >>"$result" <<'TEXT'

## GPUs left out: forecasts from data sheets

Data: `neusight` and `aiconfigurator` ([data.md](data.md)). Each GPU in turn is forecast by a model over the others, first
from its data sheet alone, then with ten of its operations measured. Choices in the model (how devices are combined, the
prior of their errors) are made without the GPU left out; its structure was changed twice with V100 and A100 results in
sight, so other GPUs may do worse.

    joulecast import neusight $JOULECAST_DATA/neusight/ops_*.csv $JOULECAST_DATA/neusight/networks_*.csv --db gpus.db

### NeuSight: fp32 operations and networks
TEXT
"$joulecast" import neusight "$data"/neusight/ops_*.csv "$data"/neusight/networks_*.csv --db "$work/gpus.db" >/dev/null
table validate --db "$work/gpus.db" --split device
table validate --db "$work/gpus.db" --split device --probes 10
cat >>"$result" <<'TEXT'

## Clocks: from one clock to the others

Data: `energaizer` (networks at 900 MHz, their kernels, idle power and voltage over the clock), and sweeps that
`bench/published/clock_sweeps.py` brings into the form of `joulecast import sweep` ([data.md](data.md)); of the latter
nothing says which arithmetic and bytes the kernels have, so that their compute share is guessed from the other workloads. Workloads of
other models calibrate; folds of models.

    bench/published/clock_sweeps.py nv_dvfs $JOULECAST_DATA/nv_dvfs_kernels >v100.csv
    bench/published/clock_sweeps.py dlbench $JOULECAST_DATA/dlbench_dvfs >dlbench.csv
    bench/published/clock_sweeps.py zeus $JOULECAST_DATA/zeus_powerlimit >zeus.csv
    bench/published/clock_sweeps.py ulisboa $JOULECAST_DATA/ulisboa_gpu_dvfs >titanx.csv
    joulecast import sweep v100.csv --db v100.db
    joulecast import sweep dlbench.csv --db dlbench.db
    joulecast import sweep titanx.csv --db titanx.db
    joulecast import sweep zeus.csv --db zeus.db
    joulecast import energaizer $JOULECAST_DATA/energaizer_dvfs_networks/*.csv --db energaizer.db
TEXT
clock_sweep() { python3 bench/published/clock_sweeps.py "$1" "$data/$2" >"$work/$3.csv" 2>>"$work/messages" &&
    "$joulecast" import sweep "$work/$3.csv" --db "$work/$3.db" >/dev/null; }
clock_sweep nv_dvfs nv_dvfs_kernels v100
clock_sweep dlbench dlbench_dvfs dlbench
clock_sweep ulisboa ulisboa_gpu_dvfs titanx
clock_sweep zeus zeus_powerlimit zeus
"$joulecast" import energaizer "$data"/energaizer_dvfs_networks/*.csv --db "$work/energaizer.db" >/dev/null
for swept in v100 dlbench titanx zeus energaizer; do table validate --db "$work/$swept.db" --split clock --folds 10; done
cat >>"$result" <<'TEXT'

## Studies

### What more rows bring

    joulecast import csv datasets/cpu-amd-epyc-2c.csv --db own.db
TEXT
table study dataset-size --db "$work/own.db"
printf '\n### Learners, family by family\n' >>"$result"
table study learners --db "$work/own.db"
printf '\n## Speed of decisions\n\n' >>"$result"
python3 bench/decision_speed.py "$joulecast" >>"$result"
if [[ -s $work/speed.md ]]; then
    printf '\n' >>"$result"
    cat "$work/speed.md" >>"$result"
fi
mv "$result" docs/results.md
