#!/usr/bin/env bash
# Makes a folder that can be carried to a machine with a GPU and only torch, g++ and cmake: joulecast with the libraries
# it needs beside it, the sources of the torch worker, and gpu_check, which does the rest there (docs/gpu-check.md).
# usage: tools/make_portable.sh FOLDER [BUILD]   (BUILD: a build folder made with -DJOULECAST_PORTABLE=ON; made if missing)
#        tools/make_portable.sh --sources FOLDER   (only those that the worker is built from there)
set -euo pipefail
sources_only=no
if [[ ${1:-} == --sources ]]; then sources_only=yes; shift; fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=${1:?usage: tools/make_portable.sh FOLDER [BUILD]}
build=${2:-build/portable}
if [[ -e $folder ]]; then
    echo "$folder is there already: name a new folder" >&2
    exit 2
fi

# What the worker is built from there; header-only JSON and GoogleTest, which such a machine seldom has.
copy_sources() {
    mkdir -p "$folder/source" "$folder/third_party/include"
    git ls-files -z -- CMakeLists.txt LICENSE cmake devices joulecast workers clockd tests/torch tests/graph/records.txt \
        tools/zoo_networks.py | xargs -0 tar -cf - | tar -xf - -C "$folder/source"
    local json tests
    json=$(dirname "$(printf '#include <nlohmann/json.hpp>\n' | g++ -E -x c++ - |
        sed -n 's/^# 1 "\(.*nlohmann\/json.hpp\)".*/\1/p' | head -n 1)")
    cp -r "$json" "$folder/third_party/include/"
    for tests in /usr/src/googletest "${JOULECAST_GTEST_SOURCE:-}"; do
        if [[ -n $tests && -e $tests/CMakeLists.txt ]]; then cp -r "$tests" "$folder/third_party/googletest"; fi
    done
    [[ -e $folder/third_party/googletest ]] || echo "without GoogleTest's sources: gpu_check will run no unit tests" >&2
}
if [[ $sources_only == yes ]]; then copy_sources; exit; fi

if [[ ! -e $build/CMakeCache.txt ]]; then
    cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DJOULECAST_PORTABLE=ON -DJOULECAST_TESTS=OFF \
        -DJOULECAST_LAB=OFF -DCMAKE_INSTALL_LIBDIR=lib
fi
grep -q '^JOULECAST_PORTABLE:BOOL=ON' "$build/CMakeCache.txt" || {
    echo "$build was made without -DJOULECAST_PORTABLE=ON" >&2
    exit 2
}
# All that is installed; neither tests nor laboratory are in this build.
cmake --build "$build" --target all joulecast_boards
cmake --install "$build" --prefix "$folder" --component Unspecified --strip >/dev/null

# Every library that is not the C library's own: that one belongs to the machine's kernel and loader.
belongs_to_system() {
    case $1 in
        libc.so.* | libm.so.* | libdl.so.* | librt.so.* | libpthread.so.* | libresolv.so.* | ld-linux*) return 0 ;;
        *) return 1 ;;
    esac
}
# No header names libxgboost, which is opened when it is needed (docs/decisions/0016-xgboost-on-demand.md).
xgboost=$(sed -n 's/^JOULECAST_XGBOOST:FILEPATH=//p' "$build/CMakeCache.txt")
cp -L "$xgboost" "$folder/lib/libxgboost.so.0"
# "libzip.so.4 => /usr/lib/x86_64-linux-gnu/libzip.so.4 (0x...)"
ldd "$folder/bin/joulecast" "$xgboost" | while read -r name arrow path _; do
    [[ $arrow == '=>' ]] || continue
    if belongs_to_system "$name" || [[ -e $folder/lib/$name ]]; then continue; fi
    if [[ $path == not ]]; then
        echo "the library $name is missing here too" >&2
        exit 1
    fi
    cp -L "$path" "$folder/lib/$name"
done

copy_sources
cp tools/gpu_check "$folder/gpu_check"

tools/check_portable.sh "$folder"
echo "$folder: $(du -sh "$folder" | cut -f 1). Carry it over and run its gpu_check."
