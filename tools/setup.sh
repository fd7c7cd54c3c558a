# shellcheck shell=bash
# Set-up shared by ./quickstart and ./check; sourced, not run. Every step is skipped when its result is there already.

JOULECAST_SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
JOULECAST_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/joulecast
TORCH_VERSION=2.13
TORCH_VENV=$JOULECAST_CACHE/torch-$TORCH_VERSION

say() { printf '%s\n' "$*" >&2; }
fail() {
    say "$(basename "$0"): $*"
    exit 1
}

# packages KIND... : their names out of the one list.
packages() {
    local kind
    for kind in "$@"; do
        sed -n "s/^$kind  *//p" "$JOULECAST_SOURCE/tools/apt-packages.txt"
    done
}

is_installed() { [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

# install_packages KIND... : with apt-get as root; otherwise says the exact line and goes on with what is there.
install_packages() {
    if ! command -v apt-get >/dev/null; then
        say "This system has no apt-get. Install what corresponds to: $(packages "$@" | tr '\n' ' ')"
        return
    fi
    local missing=() name
    while read -r name; do
        is_installed "$name" || missing+=("$name")
    done < <(packages "$@")
    if ((${#missing[@]} == 0)); then return; fi
    if ((EUID != 0)); then
        say "Missing packages. As root, run:"
        say "    apt-get update && apt-get install --yes --no-install-recommends ${missing[*]}"
        say "Going on with what is there."
        return
    fi
    say "Installing ${missing[*]}"
    local options=(--yes --no-install-recommends -o DPkg::Lock::Timeout=300 -qq)
    # A source we do not use may be unreachable; what counts is whether the packages come.
    apt-get update -qq || say "apt-get update had errors; trying all the same"
    DEBIAN_FRONTEND=noninteractive apt-get install "${options[@]}" "${missing[@]}" >/dev/null ||
        fail "apt-get could not install: ${missing[*]}"
}

# need PROGRAM... : after the set-up, so that a missing tool is named instead of failing in the middle.
need() {
    local program
    for program in "$@"; do
        command -v "$program" >/dev/null ||
            fail "$program is missing. Its package is in tools/apt-packages.txt; install it and run this again."
    done
}

torch_works() {
    "$TORCH_VENV/bin/python" -c 'import torch, torchvision, transformers, sklearn' >/dev/null 2>&1
}

# The folder of the torch package in the venv, for -DJOULECAST_TORCH.
torch_folder() {
    "$TORCH_VENV/bin/python" -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])'
}

# install_torch : the virtual environment with torch in the user's cache, complete or not there at all.
install_torch() {
    if [[ -f $TORCH_VENV/complete ]]; then return; fi
    mkdir -p "$JOULECAST_CACHE"
    # Two runs at once: the second waits and then finds the work done.
    exec 9>"$JOULECAST_CACHE/torch.lock"
    flock 9
    if [[ ! -f $TORCH_VENV/complete ]]; then
        if ! torch_works; then make_torch_venv; fi
        date -u +%FT%TZ >"$TORCH_VENV/complete"
    fi
    exec 9>&-
}

make_torch_venv() {
    say "Installing torch $TORCH_VERSION for the worker into $TORCH_VENV: about 5 GB on disk, 2 GB to download."
    local free_kb
    free_kb=$(df -Pk "$JOULECAST_CACHE" | awk 'NR == 2 { print $4 }')
    if ((free_kb < 8000000)); then
        fail "only $((free_kb / 1000000)) GB are free in $JOULECAST_CACHE; 8 GB are needed. Set XDG_CACHE_HOME to another disk."
    fi
    # Without the stamp written at the end, whatever is there is a broken attempt.
    rm -rf "$TORCH_VENV"
    python3 -m venv "$TORCH_VENV" || fail "python3 -m venv failed; it is in the package python3-venv"
    "$TORCH_VENV/bin/pip" install --quiet --disable-pip-version-check \
        "torch==$TORCH_VERSION.*" 'torchvision==0.28.*' transformers numpy scikit-learn ||
        fail "pip could not install torch $TORCH_VERSION"
    torch_works || fail "torch was installed into $TORCH_VENV, but 'import torch' fails there"
}

# install_engine NAME FOLDER IMPORTS PACKAGE... : the Python that a worker runs with, an environment of its own; without it
# the worker's tests skip, and say so.
install_engine() {
    local name=$1 folder=$2 imports=$3
    if "$folder/bin/python" -c "import $imports" >/dev/null 2>&1; then return; fi
    mkdir -p "$JOULECAST_CACHE"
    rm -rf "$folder"
    python3 -m venv "$folder" || fail "python3 -m venv failed; it is in the package python3-venv"
    "$folder/bin/pip" install --quiet --disable-pip-version-check "${@:4}" ||
        say "$name could not be fetched: its worker is not tested."
}

# 20 MB to download, and 50 for OpenVINO, whose worker reads the same ONNX and whose tests run with the same Python.
ONNXRUNTIME_VERSION=1.32
OPENVINO_VERSION=2026.4
ONNXRUNTIME_VENV=$JOULECAST_CACHE/onnxruntime-$ONNXRUNTIME_VERSION
install_onnxruntime() {
    install_engine onnxruntime "$ONNXRUNTIME_VENV" 'onnxruntime, onnx, openvino' "onnxruntime==$ONNXRUNTIME_VERSION.*" 'onnx==1.23.*' \
        "openvino==$OPENVINO_VERSION.*" numpy
}

# 120 MB to download. With the newest apache-tvm-ffi (0.1.15) MetaSchedule of 0.27 ends the process (docs/decisions/0033).
# The packages of the last line are what tuning needs.
TVM_VERSION=0.27
TVM_VENV=$JOULECAST_CACHE/tvm-$TVM_VERSION
install_tvm() {
    install_engine TVM "$TVM_VENV" 'tvm, onnx' "apache-tvm==$TVM_VERSION.*" 'apache-tvm-ffi==0.1.14.*' 'onnx==1.23.*' numpy \
        cloudpickle psutil scipy tornado 'xgboost-cpu==3.2.*'
}

# install_oracles : what tests compare with besides, into the same environment. XGBoost without CUDA, 7 MB to download;
# onnx, 16 MB, whose test models the reader reads (1.23 comes without them). Where one does not come, its test
# says that it did not compare with it.
install_oracles() {
    "$TORCH_VENV/bin/python" -c 'import xgboost' >/dev/null 2>&1 ||
        "$TORCH_VENV/bin/pip" install --quiet --disable-pip-version-check --no-deps 'xgboost-cpu==3.2.*' ||
        say "xgboost-cpu could not be fetched: learners are compared with libxgboost and scikit-learn alone."
    "$TORCH_VENV/bin/python" -c 'import onnx' >/dev/null 2>&1 ||
        "$TORCH_VENV/bin/pip" install --quiet --disable-pip-version-check 'onnx==1.17.*' ||
        say "onnx could not be fetched: its test models are not read."
}

# clang-tidy out of the Python package (35 MB to download): from version 21 on it looks at our code alone, and no longer
# walks through every header of the system, which took four fifths of its time.
CLANG_TIDY_VERSION=23.1
CLANG_TIDY_VENV=$JOULECAST_CACHE/clang-tidy-$CLANG_TIDY_VERSION

install_clang_tidy() {
    if "$CLANG_TIDY_VENV/bin/clang-tidy" --version >/dev/null 2>&1; then return; fi
    mkdir -p "$JOULECAST_CACHE"
    rm -rf "$CLANG_TIDY_VENV"
    python3 -m venv "$CLANG_TIDY_VENV" || fail "python3 -m venv failed; it is in the package python3-venv"
    "$CLANG_TIDY_VENV/bin/pip" install --quiet --disable-pip-version-check "clang-tidy==$CLANG_TIDY_VERSION.*" ||
        fail "pip could not install clang-tidy $CLANG_TIDY_VERSION"
}

# install_nanobind : what the Python package's extension is made with, into the same environment; 0.3 MB to download.
# Without it the package is not built and its tests are not there, which CMake says.
install_nanobind() {
    "$TORCH_VENV/bin/python" -c 'import nanobind' >/dev/null 2>&1 && return
    "$TORCH_VENV/bin/pip" install --quiet --disable-pip-version-check --no-deps 'nanobind==3.1.*' ||
        say "nanobind could not be fetched: the Python package is neither built nor tested."
}

# install_plotly : plotly.min.js, for pictures, out of the Python package (10 MB to download). Without it joulecast
# does all but draw, and says so; hence no failure here stops anything.
install_plotly() {
    local folder=$JOULECAST_CACHE/plotly python=$TORCH_VENV/bin/python
    if [[ -f $folder/plotly.min.js ]]; then return; fi
    [[ -x $python ]] || python=python3
    if ! "$python" -m pip --version >/dev/null 2>&1; then
        say "No pip for Python: without plotly.min.js joulecast draws no pictures. Everything else works."
        return
    fi
    local part
    mkdir -p "$JOULECAST_CACHE"
    part=$(mktemp -d "$JOULECAST_CACHE/plotly.XXXXXX")
    if "$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        --dest "$part" 'plotly==7.1.*' &&
        "$python" -c 'import sys, zipfile
wheel, target = sys.argv[1:]
open(target, "wb").write(zipfile.ZipFile(wheel).read("plotly/package_data/plotly.min.js"))' \
            "$part"/plotly-*.whl "$part/plotly.min.js"; then
        mkdir -p "$folder"
        mv "$part/plotly.min.js" "$folder/plotly.min.js"
    else
        say "plotly could not be fetched: joulecast draws no pictures. Everything else works."
    fi
    rm -rf "$part"
}

# parallel_jobs : compilations and tests at once.
parallel_jobs() { nproc; }

# use_ccache : where it is installed, so that clones in other folders share what was compiled.
use_ccache() {
    command -v ccache >/dev/null || return 0
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$JOULECAST_SOURCE CCACHE_NOHASHDIR=1
    # Else the torch worker, which has a precompiled header, is compiled each time: 80 s in the place of 10.
    export CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_INODECACHE=1
}

# configure PRESET CMAKE_ARGUMENT...
configure() {
    local preset=$1
    shift
    (cd "$JOULECAST_SOURCE" && cmake --preset "$preset" "$@" >"$(log_of "configure-$preset")" 2>&1) ||
        fail_with_log "cmake --preset $preset" "$(log_of "configure-$preset")"
}

# configure_and_build PRESET TARGET... -- CMAKE_ARGUMENT...
configure_and_build() {
    local preset=$1 targets=()
    shift
    while (($# > 0)) && [[ $1 != -- ]]; do
        targets+=("$1")
        shift
    done
    (($# == 0)) || shift
    use_ccache
    configure "$preset" "$@"
    local asked=()
    if ((${#targets[@]} > 0)); then asked=(--target "${targets[@]}"); fi
    cmake --build "$JOULECAST_SOURCE/build/$preset" --parallel "$(parallel_jobs)" "${asked[@]}" 2>&1 |
        show_progress "$(log_of "build-$preset")" ||
        fail_with_log "the build $preset" "$(log_of "build-$preset")"
}

# show_progress LOG : keeps what ninja says in the log, and says each tenth of its steps.
show_progress() {
    local line tenth told=0 start=$SECONDS
    while IFS= read -r line; do
        printf '%s\n' "$line"
        if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
            tenth=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
            if ((tenth > told)); then say "   ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} steps in $((SECONDS - start)) s"; fi
            told=$tenth
        fi
    done >"$1"
}

log_of() {
    mkdir -p "$JOULECAST_SOURCE/build/logs"
    printf '%s\n' "$JOULECAST_SOURCE/build/logs/$1.log"
}

fail_with_log() {
    tail -n 60 "$2" >&2
    fail "$1 failed; everything it said is in $2"
}
