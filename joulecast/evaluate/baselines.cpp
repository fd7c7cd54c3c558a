#include "joulecast/evaluate/baselines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

/// The thesis' input vector: one-hot operator, then each attribute with a flag that it applies; -1 where it does not.
std::vector<float> attributes(const PreparedOperation& operation, const std::vector<std::string>& targets) {
    const Dimensions& d = operation.dimensions;
    std::vector<float> row;
    for (const std::string& target : targets) row.push_back(target == operation.operation.target ? 1.0F : 0.0F);
    for (const double value : std::array{d.n, d.c, d.h, d.w, d.last, d.k, d.kernel_h, d.kernel_w, d.stride, d.padding,
                                         d.dilation, d.groups, d.gemm_k}) {
        row.push_back(std::isnan(value) ? -1.0F : static_cast<float>(value));
        row.push_back(std::isnan(value) ? 0.0F : 1.0F);
    }
    row.push_back(static_cast<float>(element_bytes(compute_dtype(operation.operation))));
    return row;
}

std::optional<Forest> fit_raw(std::span<const TrainingRow* const> rows, Mode wanted,
                              const std::vector<std::string>& targets, std::uint64_t seed) {
    std::vector<const TrainingRow*> chosen;
    for (const TrainingRow* row : rows) {
        if (mode(row->operation.operation) == wanted) chosen.push_back(row);
    }
    if (chosen.empty()) return std::nullopt;
    Samples samples(chosen.size(), attributes(chosen.front()->operation, targets).size());
    std::vector<double> seconds;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        samples.set_row(i, attributes(chosen[i]->operation, targets));
        seconds.push_back(chosen[i]->time_s);
    }
    // scikit-learn's defaults, as the thesis took them: 100 trees, all features, bootstrap.
    TreeSettings settings;
    settings.trees = 100;
    settings.bootstrap = true;
    settings.seed = seed;
    return fit_forest(samples, seconds, settings);
}

}  // namespace

std::string_view name(Baseline baseline) {
    switch (baseline) {
        case Baseline::roofline:
            return "roofline";
        case Baseline::paleo:
            return "paleo";
        case Baseline::thesis_forest:
            return "thesis_forest";
    }
    return "";
}

std::vector<Baseline> all_baselines() {
    return {Baseline::roofline, Baseline::paleo, Baseline::thesis_forest};
}

FittedBaseline::FittedBaseline(Baseline baseline, std::span<const TrainingRow* const> rows, std::uint64_t seed)
    : baseline_(baseline) {
    if (baseline == Baseline::paleo) fit_paleo(rows);
    if (baseline == Baseline::thesis_forest) fit_thesis(rows, seed);
}

void FittedBaseline::fit_paleo(std::span<const TrainingRow* const> rows) {
    // The paper measures its "platform percent of peak" on convolutions; here it is their median, products included.
    std::vector<double> shares;
    for (const TrainingRow* row : rows) {
        const Family kind = row->operation.family();
        if (kind != Family::convolution && kind != Family::matmul) continue;
        const Roofline& ideal = row->operation.roofline;
        shares.push_back(ideal.flop_s / std::max(row->time_s - ideal.byte_s, 0.1 * row->time_s));
    }
    const double share = median(shares);
    if (share > 0) share_of_peak_ = share;
}

void FittedBaseline::fit_thesis(std::span<const TrainingRow* const> rows, std::uint64_t seed) {
    std::set<std::string> targets;
    for (const TrainingRow* row : rows) targets.insert(row->operation.operation.target);
    targets_.assign(targets.begin(), targets.end());
    inference_ = fit_raw(rows, Mode::inference, targets_, seed);
    training_ = fit_raw(rows, Mode::training, targets_, seed);
}

double FittedBaseline::predict(const PreparedOperation& operation) const {
    const Roofline& ideal = operation.roofline;
    if (baseline_ == Baseline::roofline) return seconds(ideal);
    if (baseline_ == Baseline::paleo) return ideal.flop_s / share_of_peak_ + ideal.byte_s;
    const auto& forest = mode(operation.operation) == Mode::training ? training_ : inference_;
    if (!forest) return std::numeric_limits<double>::quiet_NaN();
    return joulecast::predict(*forest, attributes(operation, targets_));
}

}  // namespace joulecast
