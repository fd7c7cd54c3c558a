#include "joulecast/train/keep_operations.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
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
/// Of empty tensors, which have none.
constexpr double least_work_s = 1e-9;

using Rows = std::vector<const TrainingRow*>;

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

/// The fold of each row, equal groups in one: of a family's the smallest calls, the next larger ones, and so on. What
/// is left out is smaller or larger than the rest, or lies in a gap, as much of a network does.
std::vector<std::size_t> folds_by_work(std::span<const TrainingRow> rows, std::size_t folds) {
    std::map<Family, std::map<std::string, std::vector<std::size_t>>> families;
    for (std::size_t i = 0; i < rows.size(); ++i) families[rows[i].operation.family()][rows[i].group].push_back(i);
    std::vector<std::size_t> fold_of(rows.size());
    for (const auto& [family, groups] : families) {
        std::vector<std::pair<double, const std::vector<std::size_t>*>> by_work;
        for (const auto& [group, members] : groups) {
            double log_work = 0;
            for (const std::size_t i : members)
                log_work += std::log(std::max(least_work_s, seconds(rows[i].operation.roofline)));
            by_work.emplace_back(log_work / static_cast<double>(members.size()), &members);
        }
        std::ranges::sort(by_work, {}, &std::pair<double, const std::vector<std::size_t>*>::first);
        for (std::size_t place = 0; place < by_work.size(); ++place) {
            for (const std::size_t i : *by_work[place].second) fold_of[i] = place * folds / by_work.size();
        }
    }
    return fold_of;
}

/// Both ways on rows that they did not see; `start` is not adjusted to any.
WaysLeftOut leave_out(const DeviceModel& frame, const DeviceModel& start, std::span<const TrainingRow> rows,
                      const std::vector<std::size_t>& fold_of, const TrainSettings& settings) {
    const auto columns = all_columns();
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
    const DeviceModel frame = frame_of(device, setting);
    const auto left_out = [&](const std::vector<std::size_t>& fold_of) {
        return leave_out(frame, *start, rows, fold_of, settings);
    };
    const WaysLeftOut alike = left_out(group_folds(rows, settings.folds, settings.seed));
    std::optional<WaysLeftOut> by_work;
    if (keep != Keep::always && alike.of_own < clearly_better * alike.from_others) {
        by_work = left_out(folds_by_work(rows, settings.folds));
        if (by_work->of_own < by_work->from_others) return std::nullopt;
    }
    KeptDevice found = kept(device, setting, rows, *start);
    found.left_out = alike;
    found.left_out_by_work = by_work;
    return found;
}

}  // namespace joulecast
