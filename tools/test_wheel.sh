#!/usr/bin/env bash
# Builds the wheel as `pip install .` does and tests it in a clean virtual environment: types with mypy, forecasts
# against the program of a build folder. Compiles the whole library, so ./check does not run it.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/test_wheel.sh BUILD [--torch] [PIP_ARGUMENT...]
  BUILD          a build folder with bin/joulecast of the same source, to compare with
  --torch        modules, too: the environment sees the packages of the torch worker's
  PIP_ARGUMENT   for pip wheel, as in -C cmake.define.CMAKE_CXX_COMPILER_LAUNCHER=ccache
TEXT
}

if (($# == 0)) || [[ $1 == --help || $1 == -h ]]; then
    usage
    exit $(($# == 0 ? 2 : 0))
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/setup.sh
source tools/setup.sh
build=$(realpath "$1")
[[ -x $build/bin/joulecast ]] || fail "there is no $build/bin/joulecast"
shift
python=python3
tests=(measure predicting recommending)
with_torch=no
if [[ ${1:-} == --torch ]]; then
    shift
    install_torch
    python=$TORCH_VENV/bin/python
    with_torch=yes
    tests+=(export_hf exporting)
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
say "== wheel"
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$folder" "$@" .
wheel=$(find "$folder" -name '*.whl')
say "   $(basename "$wheel"): $(du -h "$wheel" | cut -f1)"

say "== clean environment"
"$python" -m venv "$folder/venv"
if [[ $with_torch == yes ]]; then
    "$python" -c 'import site; print(site.getsitepackages()[0])' >"$(find "$folder/venv/lib" -name site-packages)/torch.pth"
fi
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "$wheel" mypy
unset PYTHONPATH JOULECAST_HOME

say "== program"
program=$folder/venv/bin/joulecast
[[ $("$program" --version) == "$("$build/bin/joulecast" --version)" ]] || fail "$program has another version"
"$program" predict resnet18 --device a100 --format json 2>/dev/null >"$folder/of_wheel.json"
"$build/bin/joulecast" predict resnet18 --device a100 --format json 2>/dev/null >"$folder/of_build.json"
cmp "$folder/of_wheel.json" "$folder/of_build.json" || fail "$program forecasts otherwise than $build/bin/joulecast"

say "== tests"
for test in "${tests[@]}"; do
    (cd tests/python && JOULECAST_BUILD=$build "$folder/venv/bin/python" -m unittest -q "${test}_test")
done

say "== types"
(cd "$folder" && "$folder/venv/bin/mypy" --strict "$JOULECAST_SOURCE/tests/python/typed_use.py")
