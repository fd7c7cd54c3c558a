#!/usr/bin/env bash
# Holds a folder made by tools/make_portable.sh to its promise: every library that joulecast loads is the C library's or
# lies in the folder, also after the folder was moved. Where we may (root), the program is run in a root of its own that
# holds nothing but the folder and the C library. usage: tools/check_portable.sh FOLDER
set -euo pipefail
folder=$(realpath "${1:?usage: tools/check_portable.sh FOLDER}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/moved"
cp -r "$folder/bin" "$folder/lib" "$folder/share" "$work/moved/"
system='^(linux-vdso|ld-linux|libc\.so|libm\.so|libdl\.so|librt\.so|libpthread\.so|libresolv\.so)'
env -i /bin/sh -c "ldd '$work/moved/bin/joulecast'" >"$work/libraries"
strangers=$(awk '$2 == "=>" { print $1, $3 }' "$work/libraries" | grep -Ev "$system" | grep -v " $work/moved/" || true)
if [[ -n $strangers ]]; then
    printf 'these libraries come from outside of the folder:\n%s\n' "$strangers" >&2
    exit 1
fi
env -i "$work/moved/bin/joulecast" devices cpu >/dev/null
echo "all $(grep -c '=>' "$work/libraries") libraries are the system's own or in the folder"

if [[ $(id -u) -eq 0 ]]; then
    root=$work/root
    mkdir -p "$root/proc" "$root/tmp"
    mv "$work/moved" "$root/joulecast"
    # The C library at the places where the loader looks for it.
    grep -Eo '/[^ ]+' "$work/libraries" | grep -v "^$work" | while read -r library; do
        mkdir -p "$root$(dirname "$library")"
        cp -L "$library" "$root$library"
    done
    # The loader asks /proc where the program lies.
    mkdir "$root/proc/self"
    ln -s /joulecast/bin/joulecast "$root/proc/self/exe"
    chroot "$root" /joulecast/bin/joulecast extract resnet18 --format json >"$work/extract"
    grep -q '"joulecast.extract/1"' "$work/extract"
    echo "runs in an empty root"
else
    echo "not tried in an empty root: that takes root"
fi
