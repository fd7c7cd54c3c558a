#include "cli/start_option.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include "joulecast/answer/choose_predictor.h"
#include "joulecast/error.h"
#include "joulecast/model/jcp.h"
#include "joulecast/train/train.h"

namespace joulecast::cli {
namespace {

constexpr const char* shipped = "shipped";
constexpr const char* none = "none";

bool are_own(const MeasuredRows& rows) {
    return std::ranges::all_of(rows.rows, [](const OperationRow& row) { return row.provenance.source == "own"; });
}

}  // namespace

void StartOption::declare(CLI::App& command) {
    command
        .add_option("--start-from", from_,
                    "predictor whose model over other devices a GPU starts from where few of its operations were "
                    "measured; none: models of its own in any case")
        ->type_name("FILE.jcp|shipped|none")
        ->capture_default_str();
}

void StartOption::read() {
    const auto file = from_ == shipped ? shipped_over_others(Device::Kind::gpu) : std::optional(from_);
    if (!file) return;
    Predictor predictor = read_jcp(*file);
    if (predictor.pooled.empty())
        throw UsageError("--start-from " + from_ + ": it has no model over devices, from which others could start");
    if (predictor.features != empty_predictor().features)
        throw Error(*file +
                    " has other features than this joulecast trains with, so nothing can start from it. Use "
                    "--start-from none, or a predictor of this version");
    path_ = *file;
    origin_ = std::move(predictor.origin);
    models_ = std::make_shared<const std::vector<PooledModel>>(std::move(predictor.pooled));
}

std::shared_ptr<const std::vector<PooledModel>> StartOption::models_for(const MeasuredRows& rows) {
    if (from_ == none || !are_own(rows)) return nullptr;
    if (rows.device.kind != Device::Kind::gpu && from_ == shipped) return nullptr;
    if (path_.empty()) read();
    return models_;
}

}  // namespace joulecast::cli
