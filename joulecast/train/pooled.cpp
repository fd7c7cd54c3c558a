#include "joulecast/train/pooled.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/forecast/forecast_log.h"
#include "joulecast/forecast/unseen_device.h"
#include "joulecast/graph/family.h"
#include "joulecast/train/pooled_samples.h"
#include "joulecast/units/normal.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

/// Shorter kernels are measured beside their launch, where they have one: calls of a CUDA graph have none.
bool is_told_from_launch(const ToldCall& told) {
    constexpr double least_kernel_s = 5e-4;
    constexpr double least_launches = 25;
    if (!std::isfinite(told.launch_s)) return false;
    return told.kernel_s >= least_kernel_s || told.kernel_s >= least_launches * told.launch_s;
}

}  // namespace

MeasuredCall as_call(const TrainingRow& row) {
    return {row.operation, row.time_s, is_of_device(row)};
}

void adjust_to(DeviceModel& model, std::span<const Feature* const> columns,
               std::span<const TrainingRow* const> measured) {
    std::vector<MeasuredCall> calls;
    calls.reserve(measured.size());
    for (const TrainingRow* row : measured) calls.push_back(as_call(*row));
    adjust_to(model, columns, calls);
}

std::vector<ResidualTarget> targets_of(std::span<const Graph* const> networks, const DeviceModel& model,
                                       std::span<const Feature* const> columns) {
    constexpr double least_share = 1e-3;
    std::vector<ResidualTarget> targets;
    for (const Graph* network : networks) {
        std::vector<ResidualTarget> own;
        double whole = 0;
        for (const CountedOperation& counted : count_operations(*network)) {
            const PreparedOperation operation = prepare(counted.operation, model.device, model.point.math);
            const auto forecast = forecast_log(model, columns, operation, Metric::time);
            if (!forecast || !(forecast->kernel_s > 0)) continue;
            const double seconds = static_cast<double>(counted.count) * forecast->kernel_s;
            whole += seconds;
            own.push_back({residual_place(operation, model.device), seconds});
        }
        for (const ResidualTarget& target : own) {
            const double share = target.weight / whole;
            if (share >= least_share) targets.push_back({target.place, share * share});
        }
    }
    return targets;
}

std::vector<std::size_t> telling_rows(const DeviceModel& model, std::span<const Feature* const> columns,
                                      std::span<const TrainingRow> rows, std::size_t count,
                                      std::vector<ResidualTarget> targets) {
    if (!model.unseen) return {};
    // Of many rows a few hundred stand for all: those at even steps of their forecast times, and of their times the few
    // that have a backward pass.
    constexpr std::size_t most_candidates = 400;
    constexpr std::size_t most_in_training = 100;
    std::vector<std::optional<ToldCall>> told;
    std::vector<std::pair<double, std::size_t>> by_time, in_training;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const PreparedOperation operation = on(rows[i].operation, model.device, model.point.math);
        told.push_back(told_call(model, columns, operation, is_of_device(rows[i])));
        if (!told[i]) continue;
        const bool has_backward = mode(operation.operation) == Mode::training;
        (has_backward ? in_training : by_time).emplace_back(told[i]->kernel_s, i);
    }
    std::vector<ResidualPlace> candidates;
    std::vector<std::size_t> candidate_rows;
    const bool has_targets = !targets.empty();
    std::vector<std::size_t> standing = at_even_steps(std::move(by_time), most_candidates);
    std::ranges::copy(at_even_steps(std::move(in_training), most_in_training), std::back_inserter(standing));
    for (const std::size_t row : standing) {
        if (!has_targets) targets.push_back({told[row]->place, 1});
        if (!is_told_from_launch(*told[row])) continue;
        candidates.push_back(told[row]->place);
        candidate_rows.push_back(row);
    }
    std::vector<std::size_t> chosen;
    for (const std::size_t candidate : most_telling(model.unseen->residual.prior(), candidates, targets, count))
        chosen.push_back(candidate_rows[candidate]);
    return chosen;
}

}  // namespace joulecast
