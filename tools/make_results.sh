#!/usr/bin/env bash
# Writes docs/results/SECTION.md: every table there is what the command above it printed. About twenty minutes. Published
# tables are read from $JOULECAST_DATA (docs/data.md). Then tools/summarise_results.py makes docs/results.md of them.
# Networks of timm that tools/compiled_networks.py exported are taken from $JOULECAST_TIMM_GRAPHS, where it is set.
# usage: tools/make_results.sh [JOULECAST [SECTION...]]   (default: build/release/bin/joulecast, all of them); joulecast-lab lies beside it
# SECTION is cpu, engines, darknet19, boards, a30, h100, h200, gpus, sheets, clocks, pretended, drawn, studies or decisions; the others stay as they are, with their dates.
set -euo pipefail
data=${JOULECAST_DATA:?set it to the folder of published tables, docs/data.md}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
joulecast=$(realpath "${1:-build/release/bin/joulecast}")
laboratory=${joulecast%/*}/joulecast-lab
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
result=$work/section.md
version=$("$joulecast" --version | tail -n 1)
version=${version#joulecast }

# table_of PROGRAM COMMAND... : the command as a reader types it, and what it prints.
table_of() {
    local program=$1
    shift
    {
        printf '\n    %s %s\n\n```text\n' "${program##*/}" "${*//$work\//}"
        "$program" "$@" 2>>"$work/messages"
        printf '```\n'
    } >>"$result"
}

# table COMMAND... : of joulecast; lab_table COMMAND... : of joulecast-lab.
table() { table_of "$joulecast" "$@"; }
lab_table() { table_of "$laboratory" "$@"; }

# begin TITLE : a section.
begin() { printf '# %s\n\nWritten %s, joulecast %s.\n\n' "$1" "$(date -u +%F)" "$version" >>"$result"; }

engines() {
    begin "${titles[engines]}"
    cat >>"$result" <<'TEXT'
Data: `datasets/cpu-amd-epyc-2c-onnxruntime.csv` (its README says how it was measured). Groups are calls that run in one kernel;
rules and factors are learnt from all networks of another name (docs/onnxruntime.md). "calls" is the sum over all calls, each
alone, over the measured time, "groups" that of the groups. Calls take what was measured of them, and others what the
predictor of these operations says.

    joulecast import csv datasets/cpu-amd-epyc-2c-onnxruntime.csv --db engine.db
TEXT
    "$joulecast" import csv datasets/cpu-amd-epyc-2c-onnxruntime.csv --db "$work/engine.db" >/dev/null
    lab_table study fusion --db "$work/engine.db"
    cat >>"$result" <<'TEXT'

## Forecasts of networks left out with all their operations
TEXT
    table validate --db "$work/engine.db" --split network
    {
        cat <<'TEXT'

## Five engines on one CPU: what shares a kernel

Data: `datasets/cpu-amd-epyc-2c-engines.csv` (its README says how it was measured): twenty networks at batch 1 and their operations under
PyTorch, torch.compile, ONNX Runtime and OpenVINO, thirteen of them and three small ones under TVM, untuned, and eight more networks as wholes under the
three that fuse. One thread. Columns as above.

    joulecast import csv datasets/cpu-amd-epyc-2c-engines.csv --db engines.db
TEXT
    } >>"$result"
    "$joulecast" import csv datasets/cpu-amd-epyc-2c-engines.csv --db "$work/engines.db" >/dev/null
    lab_table study fusion --db "$work/engines.db"
    {
        cat <<'TEXT'

## Which engine is faster: forecast for networks left out

The same data, each network left out with all its operations. In a cell: the time as measured, and how far the forecast is off. Regret: how much
longer the chosen engine takes than the best one.

    bench/engine_choice.py build/release/bin/joulecast --db engines.db

```text
TEXT
        bench/engine_choice.py "$joulecast" --db "$work/engines.db"
        cat <<'TEXT'
```

## The same with what ONNX Runtime took on another day

The networks and operations of the first file beside those of the second: ONNX Runtime ran more networks there, with ResNeXt's groups of
channels among them. What both measured counts as their mean.

    joulecast import csv datasets/cpu-amd-epyc-2c-engines.csv datasets/cpu-amd-epyc-2c-onnxruntime.csv --db both.db

    bench/engine_choice.py build/release/bin/joulecast --db both.db

```text
TEXT
        "$joulecast" import csv datasets/cpu-amd-epyc-2c-engines.csv datasets/cpu-amd-epyc-2c-onnxruntime.csv \
            --db "$work/both.db" >/dev/null
        bench/engine_choice.py "$joulecast" --db "$work/both.db"
        cat <<'TEXT'
```

## torch.compile on a GPU that was never measured: timm's networks on an RTX 4090

By the predictor that ships, which knows no kernel of this card and none of generated code. Mixed precision with float16, batches
of 64 to 1024, torch 2.4 and 2.9; timm's own with the fast norms that they were measured with (tools/fast_norms.py). "ratio": time
compiled over time eager, of which both are forecast. "by rule": as `predict --engine torch-compile` says. Six constants of it were found on these networks; "its constants fitted" takes three of them from
other families (networks whose names begin alike) in eight folds. "odd": eager times that are more than 2.5 times off, which
decide means of ratios; they are left out but where a line says so. No other GPU's tables have both times, so no card is left out.

    tools/compiled_networks.py export timm-graphs

    tools/compiled_networks.py build/release/bin/joulecast timm-graphs

```text
TEXT
        tools/compiled_networks.py "$joulecast" ${JOULECAST_TIMM_GRAPHS:+"$JOULECAST_TIMM_GRAPHS"}
        printf '```\n'
    } >>"$result"
}

darknet19() {
    begin "${titles[darknet19]}"
    {
        cat <<'TEXT'
Data: `datasets/cpu-amd-epyc-2c-darknet19.csv` and `datasets/cpu-amd-epyc-2c-engines.csv`, one thread. Learnt from the operations of
other networks, at batch 1 and under TVM thirteen at batch 8 and 16, too; no layer of this one at this batch is among them. TVM's
kernels are untuned.

    joulecast import csv datasets/cpu-amd-epyc-2c-engines.csv datasets/cpu-amd-epyc-2c-darknet19.csv --db darknet19.db

    bench/sponner_tables.py build/release/bin/joulecast --db darknet19.db

```text
TEXT
        "$joulecast" import csv datasets/cpu-amd-epyc-2c-engines.csv datasets/cpu-amd-epyc-2c-darknet19.csv \
            --db "$work/darknet19.db" >/dev/null
        bench/sponner_tables.py "$joulecast" --db "$work/darknet19.db"
        printf '```\n'
    } >>"$result"
}

boards() {
    begin "${titles[boards]}"
    cat >>"$result" <<'TEXT'
Data: MLPerf Inference v2.1 and v3.0, open division but for resnet50, Firefly boards with an RK3588S; energy of one sample is wall power of
the whole board over throughput, derived, not verified by MLCommons (docs/data.md). 94 variants of MobileNets and EfficientNet-lites,
49 in float32 and 45 in int8, and resnet50. Engines: TFLite on the CPU (2.7.1 in v2.1, 2.11 in v3.0), ArmNN on the CPU (neon) and on the Mali GPU
(opencl). Each network is left out in all its precisions; resnet50 is larger than all others. How far near networks reach was
chosen with these tables in sight; the weights were not.

TFLite in v2.1: most MobileNets v1 of width 0.75 and 1.0 took 1.9 to 5.3 times as long as in v3.0, other networks about 0.9 to 1.5
times. Nothing in the table says why, and no other network tells it: most of that round's mean error is theirs.

    joulecast-lab import mlperf-power wall_power.csv --db boards.db
TEXT
    "$laboratory" import mlperf-power "$data/mlperf_inference_power/wall_power.csv" --db "$work/boards.db" >/dev/null
    lab_table study boards --db "$work/boards.db"
}

own_database() {
    if [[ ! -f $work/own.db ]]; then
        "$joulecast" import csv datasets/cpu-amd-epyc-2c.csv --db "$work/own.db" >/dev/null
    fi
}

cpu() {
    begin "${titles[cpu]}"
    cat >>"$result" <<'TEXT'
Data: `datasets/cpu-amd-epyc-2c.csv` (its README says how it was measured): twelve networks at batch 1 and 8, inference
and training. First into a database:

    joulecast import csv datasets/cpu-amd-epyc-2c.csv --db own.db

## Whole networks, each left out in turn

Forecasts: no operation of the network is in training, not even one that it shares with others, and its own measurement
calibrates nothing. "Σ measured" is the sum of its *measured* operations: what composition costs by itself. Memory is the
peak above parameters and inputs. The table of operations that comes first scores the same held-out operations.
TEXT
    own_database
    table validate --db "$work/own.db" --split network
    cat >>"$result" <<'TEXT'

## Operations, folds grouped by operation, with baselines

The same operation never stands in training and test. `thesis_forest` is a random forest on raw seconds and layer
attributes; `roofline` and `paleo` know the data sheet only, here peak and bandwidth estimated from cores and clock.
TEXT
    lab_table validate --db "$work/own.db" --split operation --baselines
    cat >>"$result" <<'TEXT'

## Sums of measured operations against networks

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

## The same with random folds: it leaks

Printed to compare with papers that split this way. An operation that several measurements share stands on both sides.
TEXT
    lab_table validate --db "$work/own.db" --split random --folds 15 --baselines
}

a30() {
    begin "${titles[a30]}"
    cat >>"$result" <<'TEXT'
Data: `nicolai` ([data.md](../data.md)), which has no licence: for development, nothing trained on it is shipped. Layers in
TF32 inference, fp32 inference and fp32 training, each a setting with a model of its own; time and power.

    joulecast-lab import nicolai $JOULECAST_DATA/nicolai_a30/*.csv --db a30.db

## Layers, folds grouped by operation
TEXT
    "$laboratory" import nicolai "$data"/nicolai_a30/*.csv --db "$work/a30.db" >/dev/null
    lab_table validate --db "$work/a30.db" --split operation --baselines
    cat >>"$result" <<'TEXT'

## Networks, each left out in turn

The logs hold no functional operations (add, cat, softmax, matmul): forecasts take those from the graph, with evidence
`analytic`.
TEXT
    table validate --db "$work/a30.db" --split network
    cat >>"$result" <<'TEXT'

## The layers with random folds, as the thesis split them: it leaks
TEXT
    lab_table validate --db "$work/a30.db" --split random --folds 15 --baselines thesis_forest,thesis_xgboost
}

gpus() {
    begin "${titles[gpus]}"
    cat >>"$result" <<'TEXT'
Data: `neusight`, `aiconfigurator` and `llmservingsim` ([data.md](../data.md)). Each GPU in turn is forecast by a model over the others, first
from its data sheet alone, then with ten of its operations measured. Choices in the model (how devices are combined, which
rules of physics/sustained_peak.h hold, the prior of their errors) are made without the GPU left out; its structure was
changed three times with V100 and A100 results in sight, last when memories of different kinds and ages got a share of
their bandwidth each and probes were chosen for the networks to be forecast, so other GPUs may do worse.

    joulecast-lab import neusight $JOULECAST_DATA/neusight/ops_*.csv $JOULECAST_DATA/neusight/networks_*.csv --db gpus.db

## NeuSight: fp32 operations and networks
TEXT
    "$laboratory" import neusight "$data"/neusight/ops_*.csv "$data"/neusight/networks_*.csv --db "$work/gpus.db" >/dev/null
    table validate --db "$work/gpus.db" --split device
    table validate --db "$work/gpus.db" --split device --probes 10
    cat >>"$result" <<'TEXT'

## Serving engines: bf16 and fp8 matrix products

    joulecast-lab import aiconfigurator $JOULECAST_DATA/aiconfigurator/gemm_*.csv.gz --db products.db
    joulecast-lab import llmservingsim $JOULECAST_DATA/llmservingsim_vllm/ops_torch_profiler_v0.csv --db products.db
TEXT
    "$laboratory" import aiconfigurator "$data"/aiconfigurator/gemm_*.csv.gz --db "$work/products.db" >/dev/null
    "$laboratory" import llmservingsim "$data"/llmservingsim_vllm/ops_torch_profiler_v0.csv --db "$work/products.db" >/dev/null
    table validate --db "$work/products.db" --split device
    table validate --db "$work/products.db" --split device --probes 10
    table validate --db "$work/products.db" --split device --probes 50
    cat >>"$result" <<'TEXT'

## Attention of serving engines: bf16, prefill, decode and encoder

With the products of one more card, the RTX PRO 6000.

    joulecast-lab import aiconfigurator $JOULECAST_DATA/aiconfigurator/*attention*.csv.gz \\
        $JOULECAST_DATA/aiconfigurator_hopper/*attention*.csv.gz --db attention.db
    joulecast-lab import llmservingsim $JOULECAST_DATA/llmservingsim_vllm/ops_vllm_0.19.csv --db attention.db
TEXT
    "$laboratory" import aiconfigurator "$data"/aiconfigurator/*attention*.csv.gz \
        "$data"/aiconfigurator_hopper/*attention*.csv.gz --db "$work/attention.db" >/dev/null
    "$laboratory" import llmservingsim "$data"/llmservingsim_vllm/ops_vllm_0.19.csv --db "$work/attention.db" >/dev/null
    table validate --db "$work/attention.db" --split device
}

sheets() {
    begin "${titles[sheets]}"
    {
        cat <<'TEXT'
By the predictor that ships. It was trained on published operations alone: of none of these cards in mixed precision or TF32
with convolutions, and of no network. The rules it follows were chosen in sight of some of these tables (docs/decisions/0027 to
0030, 0034 say which).

## Networks whose times others published

Six cards; of these the predictor has float32 operations of the A100 and of another V100. Mixed sources and libraries
(eager PyTorch 1.12 to 2.4, some with channels last, which are forecast so): good for the bias over cards and precisions, not for one per cent.

    tools/published_networks.py build/release/bin/joulecast

```text
TEXT
        tools/published_networks.py "$joulecast"
        cat <<'TEXT'
```

## Networks of timm

Tables of one author, mixed precision with float16: one to five networks of each family that timm has, eager, images contiguous. With the
fast norms that they were measured with (tools/fast_norms.py): layer norms in float32 would have to move bytes faster than the cards
can. Nothing is trained on them; constants of rules were found in sight of them (docs/decisions/0029, 0035 and 0057).

    tools/compiled_networks.py export timm-graphs

    tools/compiled_networks.py eager build/release/bin/joulecast timm-graphs

```text
TEXT
        if [ -n "${JOULECAST_TIMM_GRAPHS:-}" ]; then
            tools/compiled_networks.py eager "$joulecast" "$JOULECAST_TIMM_GRAPHS"
        else
            echo "Not made: JOULECAST_TIMM_GRAPHS is not set."
        fi
        cat <<'TEXT'
```

## Channels last, and training

The same networks as torch.channels_last lays them, beside contiguous ones, each with the batch that its table has; "taken as 1": as if how
images lie made no difference. In training, with SGD and momentum, torch 1.12: the constants for batch norms and for backward passes of
convolutions with one or several channels a group were chosen in sight of its table (docs/decisions/0061); no constant was chosen in sight of
the others. Networks with attention are exported with the fused one, which that torch had not.

    tools/memory_formats.py build/release/bin/joulecast timm-graphs

```text
TEXT
        if [ -n "${JOULECAST_TIMM_GRAPHS:-}" ]; then
            tools/memory_formats.py "$joulecast" "$JOULECAST_TIMM_GRAPHS"
        else
            echo "Not made: JOULECAST_TIMM_GRAPHS is not set."
        fi
        cat <<'TEXT'
```

## Networks with power and energy

EnergAIzer's networks at 900 MHz: no network and no power of either card is in the predictor, and no bf16 operation of the A10.
The power model's numbers were fitted with these networks' power among others (docs/energy.md has each card left out).

    joulecast-lab import energaizer $JOULECAST_DATA/energaizer_dvfs_networks/*.csv --db energaizer.db
TEXT
    } >>"$result"
    "$laboratory" import energaizer "$data"/energaizer_dvfs_networks/*.csv --db "$work/energaizer.db" >/dev/null
    table validate --predictor predictors/nvidia.jcp --db "$work/energaizer.db"
    cat >>"$result" <<'TEXT'

## A card of which the predictor has nothing: the A30 of the thesis

Its layers and networks in TF32 and in float32. `tf32` is PyTorch's default there: matrix products ran in float32 (they take as
long in both campaigns), so ConvNeXt and single linear layers are forecast too fast.

    joulecast-lab import nicolai $JOULECAST_DATA/nicolai_a30/ops.csv $JOULECAST_DATA/nicolai_a30/networks.csv --db a30.db
TEXT
    "$laboratory" import nicolai "$data"/nicolai_a30/ops.csv "$data"/nicolai_a30/networks.csv --db "$work/a30.db" >/dev/null
    table validate --predictor predictors/nvidia.jcp --db "$work/a30.db"
    {
        cat <<'TEXT'

## A transformer's layers in f16 on two cards: Vidur

Nothing of Vidur is in the predictor, of the A40 nothing at all, of the A100 products and attention of another board. Kernel times of
a serving engine of 2023: its norms are kernels of its own, and on the A100 take twice what PyTorch's take today; its embedding is that of an older
PyTorch, seven times as slow as what an H200 was measured to take (docs/decisions/0053). Times are in steps of 0.5 us, so that the shortest say little.

    joulecast-lab import vidur $JOULECAST_DATA/vidur_llm_ops/mlp_ops_median_ms.csv --db vidur.db
TEXT
    } >>"$result"
    "$laboratory" import vidur "$data"/vidur_llm_ops/mlp_ops_median_ms.csv --db "$work/vidur.db" >/dev/null
    table validate --predictor predictors/nvidia.jcp --db "$work/vidur.db"
    {
        cat <<'TEXT'

## More work, better cards and faster ways, in order

Every network of the zoo at batch 1, 2, 4 ... 64: of each pair of neighbours the larger batch must not cost less; a card that is as new
as another of its vendor and has no lower figure on its sheet must not take longer. Operations were measured on the
H200 and the H100 SXM alone. Their forecasts follow these, so a card of the same chip, told from its sheet, may come out before or behind them.
Nor must TF32 take longer than float32, bf16 than TF32, a compiled network than an eager one, or a graph than Python (docs/decisions/0053); products with an
odd number of columns, GPT-2's last layer, are slower in bf16 by right.

    bench/forecast_order.py build/release/bin/joulecast

```text
TEXT
        bench/forecast_order.py "$joulecast"
        printf '```\n'
    } >>"$result"
}

clocks() {
    begin "${titles[clocks]}"
    cat >>"$result" <<'TEXT'
Data: `energaizer` (networks at 900 MHz, their kernels, idle power and voltage over the clock), and sweeps that
`bench/published/clock_sweeps.py` brings into the form of `joulecast import sweep` ([data.md](../data.md)). `v100` and `older`
(but for RTX 2070 Super) tell how busy the memory was, by DCGM or from nvprof's counters; `v100-untold` and `older-untold`
are the same rows without it, and of the rest nothing says what the workloads consist of, so that their compute share is
guessed from the others. Workloads of other models calibrate and teach trees (decision 0021); folds of models. Zeus' are whole epochs of training under
power limits, the others ran at locked clocks. How it is done: [clocks-model.md](../clocks-model.md). Its forms were chosen in
sight of these tables (how power limits make programs work and wait on Zeus', the bytes of CNNs on EnergAIzer's, how the
activity of the memory and residuals are used on V100 and older GPUs), so that other devices may do worse. Noise
alone costs on Zeus' V100 1.5 % of the mean regret of energy, on its P100 1.7 %: workloads that draw less than the lowest limit
(`bench/published/limit_noise.py zeus.csv`), and even the limit that is best for the same program at the batches beside it,
measured under every limit, costs 1.7 and 1.8 % there: a forecast that stays below had luck.

    bench/published/clock_sweeps.py nv_dvfs $JOULECAST_DATA/nv_dvfs_kernels >v100.csv
    bench/published/clock_sweeps.py dlbench $JOULECAST_DATA/dlbench_dvfs >dlbench.csv
    bench/published/clock_sweeps.py zeus $JOULECAST_DATA/zeus_powerlimit >zeus.csv
    bench/published/clock_sweeps.py ulisboa $JOULECAST_DATA/ulisboa_gpu_dvfs >titanx.csv
    bench/published/clock_sweeps.py nv_dvfs_older $JOULECAST_DATA/nv_dvfs_kernels >older.csv
    cut -d, -f1-10 v100.csv >v100-untold.csv
    cut -d, -f1-10 older.csv >older-untold.csv
    joulecast import sweep v100.csv --db v100.db
    joulecast import sweep v100-untold.csv --db v100-untold.db
    joulecast import sweep dlbench.csv --db dlbench.db
    joulecast import sweep titanx.csv --db titanx.db
    joulecast import sweep zeus.csv --db zeus.db
    joulecast import sweep older.csv --db older.db
    joulecast import sweep older-untold.csv --db older-untold.db
    joulecast-lab import energaizer $JOULECAST_DATA/energaizer_dvfs_networks/*.csv --db energaizer.db
TEXT
    clock_sweep() { python3 bench/published/clock_sweeps.py "$1" "$data/$2" >"$work/$3.csv" 2>>"$work/messages" &&
        "$joulecast" import sweep "$work/$3.csv" --db "$work/$3.db" >/dev/null; }
    clock_sweep nv_dvfs nv_dvfs_kernels v100
    clock_sweep dlbench dlbench_dvfs dlbench
    clock_sweep ulisboa ulisboa_gpu_dvfs titanx
    clock_sweep zeus zeus_powerlimit zeus
    clock_sweep nv_dvfs_older nv_dvfs_kernels older
    for told in v100 older; do
        cut -d, -f1-10 "$work/$told.csv" >"$work/$told-untold.csv"
        "$joulecast" import sweep "$work/$told-untold.csv" --db "$work/$told-untold.db" >/dev/null
    done
    "$laboratory" import energaizer "$data"/energaizer_dvfs_networks/*.csv --db "$work/energaizer.db" >/dev/null
    for swept in v100 v100-untold older older-untold dlbench titanx zeus energaizer; do table validate --db "$work/$swept.db" --split clock --folds 10; done
}

studies() {
    begin "${titles[studies]}"
    cat >>"$result" <<'TEXT'
## What more rows bring

    joulecast import csv datasets/cpu-amd-epyc-2c.csv --db own.db
TEXT
    own_database
    lab_table study dataset-size --db "$work/own.db"
    printf '\n## Learners, family by family\n' >>"$result"
    lab_table study learners --db "$work/own.db"
    cat >>"$result" <<'TEXT'

## Training rows without what an isolation forest finds odd

Off by default; the operations table of "A CPU" has the same folds with all rows in training.
TEXT
    lab_table validate --db "$work/own.db" --outliers drop
}

decisions() {
    begin "${titles[decisions]}"
    python3 bench/decision_speed.py "$joulecast" >>"$result"
}

# part_of_table HEADINGS COMMAND... : of what a validation prints, the tables that begin so.
part_of_table() {
    local headings=$1
    shift
    {
        printf '\n    joulecast %s\n\n```text\n' "${*//$work\//}"
        "$joulecast" "$@" 2>>"$work/messages" | awk -v headings="$headings" '
            $0 ~ headings { inside = 1; blanks = /^mode/; if (tables++) print "" }
            inside && /^$/ && blanks++ { inside = 0 }
            inside && !/ within 1/'
        printf '```\n'
    } >>"$result"
}

# pretended_card CARD CLOCKS OTHER_CLOCKS ALL_CLOCKS MODE
pretended_card() {
    local card=$1 clocks=$2 others=$3 all=$4 mode=$5 name=$1-$5
    local worker=${joulecast%/*}/joulecast-pretend
    local seen=(resnet18 mobilenet_v2 vgg11 densenet121 vit_b_32)
    local unseen=(resnet50 efficientnet_b0 vit_b_16 mobilenet_v3_large resnet34)
    local truth
    for truth in "$others" "$all"; do
        local truth_db=$name-truth
        if [[ $truth == "$all" ]]; then truth_db=$name-choices; fi
        "$joulecast" profile "${unseen[@]}" --networks --no-operations --db "$work/$truth_db.db" --device "$card" \
            --worker "$worker --truth" --clocks "$truth" --mode "$mode" --set batch=1,8 >/dev/null 2>>"$work/messages"
    done
    local with
    for with in '' --networks; do
        local db=$name${with:+-networks}
        # shellcheck disable=SC2086 # empty or one word
        "$joulecast" profile "${seen[@]}" $with --db "$work/$db.db" --device "$card" --worker "$worker --seed 1" \
            --clocks "$clocks" --mode "$mode" --set batch=1,8 >/dev/null 2>>"$work/messages"
        "$joulecast" train --db "$work/$db.db" -o "$work/$db.jcp" >/dev/null 2>>"$work/messages"
        printf '\n%s, %s, operations%s at %s MHz; other networks at %s MHz, clocks chosen among %s MHz:\n' "$card" \
            "$mode" "${with:+ and networks}" "$clocks" "$others" "$all" >>"$result"
        part_of_table '^(mode  |Ratios over)' validate --predictor "$work/$db.jcp" --db "$work/$name-truth.db"
        part_of_table '^Extra cost of the chosen clock' validate --predictor "$work/$db.jcp" --db "$work/$name-choices.db"
    done
}

pretended() {
    begin "${titles[pretended]}"
    cat >>"$result" <<'TEXT'
Not real hardware: three pretended cards whose laws docs/pretend.md states, and which differ from those of joulecast's own
physics. Trained on operations of resnet18, mobilenet_v2, vgg11, densenet121 and vit_b_32 at four clocks; forecast are resnet50,
efficientnet_b0, vit_b_16, mobilenet_v3_large and resnet34 at eight clocks, batch 1 and 8, against the cards' laws without noise;
last, what the clock that the forecast prefers costs more than the best one, among clocks in steps of 30 MHz. The model was
changed with these cards in sight.

    joulecast profile resnet18 mobilenet_v2 vgg11 densenet121 vit_b_32 --set batch=1,8 --clocks ... --device pretend-a \
        --worker "joulecast-pretend --seed 1" --db pretend-a-inference.db
    joulecast train --db pretend-a-inference.db -o pretend-a-inference.jcp
    joulecast profile resnet50 ... --networks --no-operations --worker "joulecast-pretend --truth" --db pretend-a-inference-truth.db
TEXT
    local mode
    for mode in inference training; do
        pretended_card pretend-a 600,900,1200,1500 650,750,850,1000,1100,1250,1350,1450 300:1500:30 "$mode"
        pretended_card pretend-b 570,870,1170,1530 630,690,750,990,1050,1290,1350,1470 450:1530:30 "$mode"
        pretended_card pretend-c 540,960,1380,1800 600,720,840,1080,1200,1500,1620,1740 360:1980:30 "$mode"
    done
}

drawn() {
    begin "${titles[drawn]}"
    cat >>"$result" <<'TEXT'
Not real hardware: six pretended cards whose size, clocks, memory, host, voltage and power were drawn at random
(`bench/drawn_cards.py` says from where). Networks as on the cards of [pretended.md](pretended.md), no clock and no network of them
in training. Operations at four clocks, with networks too, or operations at the highest clock alone. In percent: mean errors of
time, power and energy, times inside the 90 % interval, the interval's median width, and what the chosen clock costs more
than the best one. How the voltage's knee is told was changed in sight of these cards (docs/decisions/0019), nothing else.
TEXT
    local mode
    for mode in inference training; do
        {
            printf '\n    bench/drawn_cards.py build/release/bin/joulecast --mode %s\n\n```text\n' "$mode"
            bench/drawn_cards.py "$joulecast" --mode "$mode"
            printf '```\n'
        } >>"$result"
    done
}

# with_own_operations CARD : networks left out and plain PyTorch, by a predictor trained on the card's operations, two ways.
with_own_operations() {
    local id=$1 database=$work/${1%-sxm}.db way runs
    local -a all_runs=("datasets/$id-plain-torch.csv")
    if [[ -e datasets/$id-families.csv ]]; then
        database=$work/both.db
        all_runs+=("datasets/$id-families-plain-torch.csv")
    fi
    cat >>"$result" <<'TEXT'

## With its operations: from the shipped model, and by models of its own

A predictor trained on these operations starts from the model for GPUs never measured (docs/decisions/0042, 0049). Networks left out
with all of their operations, forecast so and by models of the card's own:
TEXT
    if [[ $database == "$work/both.db" ]]; then
        printf '\n    joulecast import csv datasets/%s.csv datasets/%s-families.csv --db both.db\n' "$id" "$id" >>"$result"
        "$joulecast" import csv "datasets/$id.csv" "datasets/$id-families.csv" --db "$database" >/dev/null
    fi
    table validate --db "$database" --split network --start-from predictors/nvidia.jcp
    table validate --db "$database" --split network --start-from none
    {
        printf '\nBeside plain PyTorch. Many of the operations of its inference are among the measured ones, of its training none:\n'
        for way in predictors/nvidia.jcp none; do
            printf '\n    joulecast train --db %s --start-from %s -o trained.jcp\n' "${database#"$work"/}" "$way"
            "$joulecast" train --db "$database" --start-from "$way" -o "$work/trained.jcp" >/dev/null 2>>"$work/messages"
            for runs in "${all_runs[@]}"; do
                printf '\n    tools/against_plain_torch.py build/release/bin/joulecast %s --device %s --predictor trained.jcp\n' "$runs" "$id"
                printf '\n```text\n'
                tools/against_plain_torch.py "$joulecast" "$runs" --device "$id" --predictor "$work/trained.jcp"
                printf '```\n'
            done
        done
    } >>"$result"
}

# of_card ID : networks and operations that the card measured, what plain PyTorch took there, and how well two runs agree.
of_card() {
    local id=$1
    printf '\n    joulecast import csv datasets/%s.csv --db %s.db\n' "$id" "${id%-sxm}" >>"$result"
    "$joulecast" import csv "datasets/$id.csv" --db "$work/${id%-sxm}.db" >/dev/null
    table validate --predictor predictors/nvidia.jcp --db "$work/${id%-sxm}.db"
    {
        printf '\n## Beside plain PyTorch\n\n'
        cat <<TEXT
What a user's script takes (\`tools/plain_torch.py\`): nothing of joulecast ran. cuDNN chose its algorithms by its rules, not by
trial. Eager BERT makes no mask and eager ViT takes a fused path, which the exported graphs of both do not.

    tools/against_plain_torch.py build/release/bin/joulecast datasets/$id-plain-torch.csv --device $id --predictor predictors/nvidia.jcp

\`\`\`text
TEXT
        tools/against_plain_torch.py "$joulecast" "datasets/$id-plain-torch.csv" --device "$id" --predictor predictors/nvidia.jcp
        printf '```\n'
    } >>"$result"
    if [[ -e datasets/$id-families.csv ]]; then of_families "$id"; fi
    with_own_operations "$id"
    {
        printf '\n## A second time\n\n    joulecast import csv datasets/%s-again.csv --db again.db\n' "$id"
    } >>"$result"
    "$joulecast" import csv "datasets/$id-again.csv" --db "$work/again.db" >/dev/null
    table diff "$work/again.db" "$work/${id%-sxm}.db"
}

# of_families CARD : its operations of all kinds, its networks at several batch sizes, and plain PyTorch.
of_families() {
    local id=$1
    cat >>"$result" <<TEXT

## Operations of all kinds, networks at batch 1, 8 and 32

A second sitting, of short passes. As forecast before it was seen, 42 of these 43 networks lay inside their interval, 37.6 % off in the mean,
and 33 of the 36 runs of plain PyTorch; what was changed in sight of them is in docs/decisions/0046. Five networks were
measured from Python.

    joulecast import csv datasets/$id-families.csv --db families.db
TEXT
    "$joulecast" import csv "datasets/$id-families.csv" --db "$work/families.db" >/dev/null
    table validate --predictor predictors/nvidia.jcp --db "$work/families.db"
    {
        cat <<TEXT

    tools/against_plain_torch.py build/release/bin/joulecast datasets/$id-families-plain-torch.csv --device $id --predictor predictors/nvidia.jcp

\`\`\`text
TEXT
        tools/against_plain_torch.py "$joulecast" "datasets/$id-families-plain-torch.csv" --device "$id" \
            --predictor predictors/nvidia.jcp
        printf '```\n'
    } >>"$result"
}

h100() {
    begin "${titles[h100]}"
    cat >>"$result" <<'TEXT'
Data: `datasets/h100-sxm.csv` and `datasets/h100-sxm-plain-torch.csv` (the README beside them says how they were measured). The
predictor was there before the card was seen, and knew of an H100 the data sheet and tables of 16-bit and fp8 products and
attention as one serving engine calls them. Rules were changed in sight of these rows and of the H200's: docs/decisions/0037 and 0038
tell which, and what came out before.

Whoever waits decides: most networks at batch 1, and training in mixed precision, waited for the host, whose pace differed by
half between runs on this virtual machine. `Σ measured` is of the few networks that the card was waited for and whose operations were
measured for nine tenths of their time. The second time was on another card of the kind.

The power model's numbers were fitted with the power of these networks that the card was waited for, among others. Without those of
an H100 and an H200 power of the 36 networks is 14.2 % off and energy 18.7 % (docs/decisions/0043).
TEXT
    of_card h100-sxm
}

h200() {
    begin "${titles[h200]}"
    cat >>"$result" <<'TEXT'
Data: `datasets/h200.csv` and `datasets/h200-plain-torch.csv` (the README beside them says how they were measured). The predictor
knew of an H200 what it knew of the H100. Before rules were changed in sight of these rows (docs/decisions/0038) 7 of the 16 runs of
plain PyTorch lay inside the interval; where the device was waited for the mean error was 18.9 %, where the host was, 51 %.

`Σ measured` adds up the kernels of the network's operations, where the card was waited for, those that the power limit held alone moved
to the network's clock.

The power model's numbers were fitted with the power of these operations and networks among others. Without those of an H100 and an
H200 power of the nine networks is 10.5 % off and energy 11.8 %, power of plain PyTorch 7.0 % where the device was waited for
(docs/decisions/0043).
TEXT
    of_card h200
}

sections=(cpu engines darknet19 boards a30 h100 h200 gpus sheets clocks pretended drawn studies decisions)
declare -A titles=(
    [cpu]='A CPU: two cores of an AMD EPYC, float32'
    [engines]='Engines that fuse calls: ONNX Runtime, OpenVINO, torch.compile and TVM on a CPU, torch.compile on a GPU'
    [darknet19]='Darknet-19 at batch 16 by engine: Tables 5 and 6 of Sponner et al.'
    [boards]='Boards: networks on an RK3588, energy at the wall'
    [a30]='An NVIDIA A30: the layers of the thesis'
    [h100]='An NVIDIA H100: forecast before it was seen'
    [h200]='An NVIDIA H200: a card by itself, its networks and plain PyTorch'
    [gpus]='GPUs left out: forecasts from data sheets'
    [sheets]='GPUs from their data sheets, by the predictor that ships'
    [clocks]='Clocks: from one clock to the others'
    [pretended]='Clocks: one model, pretended cards'
    [drawn]='Clocks: cards drawn at random'
    [studies]='Studies'
    [decisions]='Speed of decisions'
)
asked=("${@:2}")
if ((${#asked[@]} == 0)); then asked=("${sections[@]}"); fi
for section in "${asked[@]}"; do
    if [[ -z ${titles[$section]:-} ]]; then
        printf 'make_results.sh: no section %s; there are %s\n' "$section" "${sections[*]}" >&2
        exit 2
    fi
done

for section in "${asked[@]}"; do
    : >"$result"
    "$section"
    # Without empty lines at its end.
    printf '%s\n' "$(cat "$result")" >"docs/results/$section.md"
done
python3 tools/summarise_results.py
