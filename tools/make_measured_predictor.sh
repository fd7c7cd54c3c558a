#!/usr/bin/env bash
# Trains predictors/nvidia-h100-h200.jcp: our own measurements of two GPUs on top of predictors/nvidia.jcp.
# usage: tools/make_measured_predictor.sh JOULECAST [OUTPUT.jcp]
set -euo pipefail
joulecast=$(realpath "${1:?usage: tools/make_measured_predictor.sh JOULECAST [OUTPUT.jcp]}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
output=${2:-predictors/nvidia-h100-h200.jcp}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$joulecast" import csv datasets/h100-sxm.csv datasets/h200.csv datasets/h200-families.csv --db "$folder/own.db"
"$joulecast" train --db "$folder/own.db" --start-from predictors/nvidia.jcp -o "$output"
"$joulecast" info "$output"
