#include "joulecast/train/keep_operations.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/device/engine.h"
#include "joulecast/error.h"
#include "joulecast/forecast/measured_operations.h"
#include "joulecast/forecast/start_from_others.h"
#include "joulecast/forecast/unseen_device.h"
#include "joulecast/train/fit_models.h"
#include "joulecast/train/fit_over_clocks.h"
#include "joulecast/train/pooled.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

/// Beyond that an error says no more than that the forecast is useless.
constexpr double most_error = 2;
/// Own models are taken where their errors are below this share of the others'.
constexpr double clearly_better = 0.8;

using Rows = std::vector<const TrainingRow*>;

/// Mean |log(forecast / measured)| of the rows' times, each forecast without its group, by two ways.
struct WaysLeftOut {
    double from_others = 0;  ///< models over other devices, adjusted to the rows
    double of_own = 0;       ///< models of the device's own, of extremely randomised trees
};

/// Those that the model learns from.
Rows telling(const DeviceModel& model, std::span<const Feature* const> columns, const Rows& rows) {
    if (rows.size() <= most_telling_operations) return rows;
    std::vector<TrainingRow> copies;
    copies.reserve(rows.size());
    for (const TrainingRow* row : rows) copies.push_back(*row);
    Rows chosen;
    for (const std::size_t place : telling_rows(model, columns, copies, most_telling_operations))
        chosen.push_back(rows[place]);
    return chosen;
}

Estimate<Seconds> forecast_of(const DeviceModel& model, std::span<const Feature* const> columns,
                              const TrainingRow& row) {
    return as_timed(row, forecast_operation(model, columns, on(row.operation, model.device, model.point.math), {}));
}

double error_of(const TrainingRow& row, const Estimate<Seconds>& forecast) {
    return std::min(most_error, std::abs(std::log(forecast.value.value() / row.time_s)));
}

/// Both ways on rows that they did not see; `start` is not adjusted to any.
WaysLeftOut leave_out(const DeviceModel& frame, const DeviceModel& start, std::span<const TrainingRow> rows,
                      const TrainSettings& settings) {
    const auto columns = all_columns();
    const auto fold_of = group_folds(rows, settings.folds, settings.seed);
    WaysLeftOut ways;
    double count = 0;
    for (std::size_t fold = 0; fold < settings.folds; ++fold) {
        Rows inside;
        std::vector<std::size_t> outside;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (fold_of[i] == fold)
                outside.push_back(i);
            else
                inside.push_back(&rows[i]);
        }
        if (inside.empty() || outside.empty()) continue;
        const DeviceModel own = fit_models(frame, inside, Learner::extra_trees, settings);
        DeviceModel adjusted = start;
        adjust_to(adjusted, columns, telling(start, columns, inside));
        for (const std::size_t i : outside) {
            ways.from_others += error_of(rows[i], forecast_of(adjusted, columns, rows[i]));
            ways.of_own += error_of(rows[i], forecast_of(own, columns, rows[i]));
            count += 1;
        }
    }
    ways.from_others /= std::max(1.0, count);
    ways.of_own /= std::max(1.0, count);
    return ways;
}

MeasuredOperation measured(const Rows& repeats) {
    std::vector<double> times, watts;
    double time_half_width = 0, watts_half_width = 0;
    MeasuredOperation operation;
    operation.is_of_device = std::ranges::all_of(repeats, [](const TrainingRow* row) { return is_of_device(*row); });
    for (const TrainingRow* row : repeats) {
        times.push_back(row->time_s);
        time_half_width = std::fmax(time_half_width, row->time_half_width_s);
        if (!(row->power_w > 0)) continue;
        watts.push_back(row->power_w);
        watts_half_width = std::fmax(watts_half_width, row->power_half_width_w);
    }
    operation.time = middle_of_repeats<Seconds>(times, time_half_width);
    if (!watts.empty()) operation.power = middle_of_repeats<Watts>(watts, watts_half_width);
    return operation;
}

/// With the idle power that was metered beside its operations, which few sheets tell.
Device with_metered_idle(Device device, std::span<const TrainingRow> rows) {
    std::vector<double> idle;
    for (const TrainingRow& row : rows) {
        if (row.idle_power_w > 0) idle.push_back(row.idle_power_w);
    }
    if (!idle.empty()) device.idle_w = median(idle);
    return device;
}

KeptDevice kept(const Device& device, const OperatingPoint& setting, std::span<const TrainingRow> rows,
                const DeviceModel& start) {
    KeptDevice kept{with_metered_idle(device, rows), setting, {}, {}};
    std::map<std::string, Rows> by_signature;
    Rows all;
    for (const TrainingRow& row : rows) {
        by_signature[row.operation.signature].push_back(&row);
        all.push_back(&row);
    }
    for (const auto& [signature, repeats] : by_signature) kept.operations.emplace(signature, measured(repeats));
    for (const TrainingRow* row : telling(start, all_columns(), all)) kept.telling.push_back(row->operation.signature);
    std::ranges::sort(kept.telling);
    const auto repeated = std::ranges::unique(kept.telling);
    kept.telling.erase(repeated.begin(), repeated.end());
    return kept;
}

/// The model that multiplies as the setting does, adjusted to what is kept; absent where none can be made.
std::optional<DeviceModel> started(const KeptDevice& kept, const std::vector<PooledModel>& others) {
    const auto is_for = [&](const PooledModel& pooled) { return pooled.kind == kept.device.kind; };
    if (std::ranges::none_of(others, is_for)) return std::nullopt;
    for (DeviceModel& model : start_from_others({&kept, 1}, others, all_columns())) {
        if (model.point.math == kept.point.math) return std::move(model);
    }
    return std::nullopt;
}

}  // namespace

DeviceModel model_of(const KeptDevice& kept, const std::vector<PooledModel>& others) {
    auto model = started(kept, others);
    if (!model) throw Error("no model over other devices multiplies as " + kept.device.id + " was measured.");
    return *std::move(model);
}

bool can_start_from_others(const Device& device, const OperatingPoint& setting, std::span<const TrainingRow> rows,
                           const TrainSettings& settings) {
    return settings.others && !rows.empty() && device.kind == Device::Kind::gpu && has_needed_figures(device) &&
           is_torch(setting.engine) && std::ranges::all_of(rows, is_of_device) && !differ_in_clocks(device, rows);
}

std::optional<KeptDevice> keep_operations(const Device& device, const OperatingPoint& setting,
                                          std::span<const TrainingRow> rows, const TrainSettings& settings, Keep keep) {
    if (!can_start_from_others(device, setting, rows, settings)) return std::nullopt;
    const auto start = started({device, setting, {}, {}}, *settings.others);
    if (!start) return std::nullopt;
    const WaysLeftOut ways = leave_out(frame_of(device, setting), *start, rows, settings);
    if (keep != Keep::always && ways.of_own < clearly_better * ways.from_others) return std::nullopt;
    KeptDevice found = kept(device, setting, rows, *start);
    found.error = ways.from_others;
    found.error_of_own = ways.of_own;
    return found;
}

}  // namespace joulecast
