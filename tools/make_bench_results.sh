#!/usr/bin/env bash
# Writes docs/reading-speed.md and docs/results/speed.md: every number there was measured by this run.
# Needs 5 GB in $TMPDIR, a machine that does nothing else (a quarter of an hour for the learning, some minutes for the
# reading), and a Python with torch, onnx and scikit-learn; the largest published tables are timed where $JOULECAST_DATA
# has them.
# usage: tools/make_bench_results.sh PYTHON [BUILD] [all|reading|learning]
#        (BUILD: a release build folder made with -DJOULECAST_BENCH=ON)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=${1:?usage: tools/make_bench_results.sh PYTHON [BUILD] [all|reading|learning]}
build=${2:-build/release}
part=${3:-all}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# learning : docs/results/speed.md, to which docs/results.md leads.
learning() {
    printf '# Speed\n\n' >"$work/speed.md"
    "$python" bench/speed_results.py "$build" | cat -s >>"$work/speed.md"
    mv "$work/speed.md" docs/results/speed.md
    python3 tools/summarise_results.py
}

if [[ $part != reading ]]; then learning; fi
if [[ $part == learning ]]; then exit; fi

"$python" bench/make_big_models.py "$work" >"$work/messages" 2>&1 || { cat "$work/messages" >&2; exit 1; }

# line FILE SYMBOLS... : one row of the table, from joulecast and from Python in turn.
line() {
    local file=$1 ours peer
    shift
    ours=$("$build/bench/read_speed" "$work/$file" "$@")
    peer=$("$python" bench/read_peer.py "$work/$file" 2>>"$work/messages")
    python3 - "$file" "$ours" "$peer" <<'TEXT'
import json, sys
name, ours, peer = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
print("| `{}` | {:.1f} ms | {:.1f} ms | {:.0f} kB | {:.0f} MB | {:.0f} ms | {:.0f} MB | {:.0f} |".format(
    name, ours["first_ms"], ours["best_ms"], ours["read_bytes"] / 1e3, ours["peak_mb"], peer["first_ms"],
    peer["peak_mb"], peer["first_ms"] / ours["first_ms"]))
TEXT
}

{
    cat <<TEXT
# Reading large models

How long it takes to get the graph out of a model with 1.07 GB of weights, and the most memory the process held.
\`tools/make_bench_results.sh\` writes this page; last written $(date -u +%F) on $(nproc) cores of
$(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1), torch $("$python" -c 'import torch; print(torch.__version__)'),
onnx $("$python" -c 'import onnx; print(onnx.__version__)'). "First" is the first read of a process, file cache warm;
"best" the fastest of ten more. Python is \`torch.export.load\` or \`onnx.load\` on the same file in the same run, time
without imports; "ratio" is Python's time over joulecast's first.

| file | first | best | bytes read | peak | Python | peak | ratio |
|---|---|---|---|---|---|---|---|
TEXT
    line big.pt2
    line big.onnx batch=2
    line big_external.onnx batch=2
} >"$work/page.md"
if [[ -x $build/bench/zoo_read_bench ]]; then
    {
        printf '\nAll networks of the zoo read and counted, one after the other:\n\n```text\n'
        "$build/bench/zoo_read_bench" --benchmark_min_time=2 2>/dev/null | sed 's/ *$//'
        printf '```\n'
    } >>"$work/page.md"
fi
mv "$work/page.md" docs/reading-speed.md
