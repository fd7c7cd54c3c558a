#!/usr/bin/env bash
# Trains predictors/nvidia.jcp on published tables under MIT and Apache-2.0 licences (docs/data.md).
# usage: tools/make_nvidia_predictor.sh JOULECAST [OUTPUT.jcp]   (joulecast-lab lies beside JOULECAST)
set -euo pipefail
joulecast=$(realpath "${1:?usage: tools/make_nvidia_predictor.sh JOULECAST [OUTPUT.jcp]}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
output=${2:-predictors/nvidia.jcp}
data=${JOULECAST_DATA:?set it to the folder of published tables, docs/data.md}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
database=$folder/gpus.db
"${joulecast%/*}/joulecast-lab" import neusight "$data"/neusight/ops_*.csv "$data"/neusight/networks_*.csv --db "$database"
"${joulecast%/*}/joulecast-lab" import aiconfigurator "$data"/aiconfigurator/gemm_*.csv.gz \
    "$data"/aiconfigurator/*attention*.csv.gz "$data"/aiconfigurator_hopper/*.csv.gz --db "$database"
"${joulecast%/*}/joulecast-lab" import llmservingsim "$data"/llmservingsim_vllm/ops_*.csv --db "$database"
"$joulecast" train --db "$database" --pooled-only -o "$output"
"$joulecast" info "$output"
