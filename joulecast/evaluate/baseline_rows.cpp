#include "joulecast/evaluate/baseline_rows.h"

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "joulecast/train/published/train_published.h"

namespace joulecast {
namespace {

constexpr std::array metrics{BaselineMetric::time, BaselineMetric::power, BaselineMetric::energy};

double measured(const TrainingRow& row, BaselineMetric metric) {
    switch (metric) {
        case BaselineMetric::time:
            return row.time_s;
        case BaselineMetric::power:
            return row.power_w;
        case BaselineMetric::energy:
            return row.power_w * row.time_s;
    }
    return std::numeric_limits<double>::quiet_NaN();
}

Subject subject_of(const RowOnDevice& on) {
    return joulecast::subject_of(*on.row, *on.device, *on.point);
}

std::unique_ptr<FittedBaseline> fit(const Baseline& baseline, std::span<const RowOnDevice> training,
                                    const BaselineSettings& settings) {
    std::vector<Observation> rows;
    for (const RowOnDevice& on : training) {
        const double value = measured(*on.row, settings.metric);
        if (std::isfinite(value)) rows.push_back({subject_of(on), on.row->group, value});
    }
    return baseline.fit(rows, settings);
}

}  // namespace

RowOnDevice on_device(const TrainingRow& row, const DeviceModel& model) {
    return {&row, &model.device, &model.point};
}

FittedBaselines fit_baselines(std::span<const Baseline* const> baselines, const DeviceModel& model,
                              std::span<const TrainingRow> training, const TrainSettings& settings) {
    std::vector<RowOnDevice> rows;
    for (const TrainingRow& row : training) rows.push_back(on_device(row, model));
    return {baselines, rows, settings.seed, settings.threads};
}

FittedBaselines::FittedBaselines(std::span<const Baseline* const> baselines, std::span<const RowOnDevice> training,
                                 std::uint64_t seed, unsigned threads)
    : baselines_(baselines.begin(), baselines.end()) {
    for (const Baseline* baseline : baselines_) {
        Models& models = models_.emplace_back();
        const auto settings = [&](BaselineMetric metric) { return BaselineSettings{metric, seed, threads}; };
        models.time = fit(*baseline, training, settings(BaselineMetric::time));
        if (baseline->power) models.power = fit(*baseline, training, settings(BaselineMetric::power));
        if (baseline->energy == Baseline::Energy::fitted) {
            models.energy = fit(*baseline, training, settings(BaselineMetric::energy));
        }
    }
}

double FittedBaselines::forecast(std::size_t baseline, BaselineMetric metric, const Subject& subject) const {
    if (!forecasts(*baselines_[baseline], metric)) return std::numeric_limits<double>::quiet_NaN();
    const Models& models = models_[baseline];
    const auto of = [&](const std::unique_ptr<FittedBaseline>& model) {
        return model ? model->forecast(subject) : std::numeric_limits<double>::quiet_NaN();
    };
    if (metric == BaselineMetric::time) return of(models.time);
    if (metric == BaselineMetric::power) return of(models.power);
    const bool product = baselines_[baseline]->energy == Baseline::Energy::time_times_power;
    return product ? of(models.time) * of(models.power) : of(models.energy);
}

void FittedBaselines::append_forecasts(const RowOnDevice& test, std::size_t fold,
                                       std::vector<OutOfFoldRow>& out) const {
    for (std::size_t i = 0; i < baselines_.size(); ++i) {
        for (const BaselineMetric metric : metrics) {
            const double value = measured(*test.row, metric);
            if (!std::isfinite(value)) continue;
            OutOfFoldRow row;
            row.model = baselines_[i]->name;
            row.metric = name(metric);
            row.family = name(test.row->operation.family());
            row.device = test.device->id;
            row.mode = joulecast::name(mode(test.row->operation.operation));
            row.math = joulecast::name(test.point->math);
            row.fold = fold;
            row.group = test.row->group;
            row.measured = value;
            row.predicted = forecast(i, metric, subject_of(test));
            if (!std::isfinite(row.predicted)) row.no_forecast_reason = no_forecast_reason(*baselines_[i], row.metric);
            out.push_back(std::move(row));
        }
    }
}

std::vector<BaselineGap> baseline_gaps(std::span<const OutOfFoldRow> rows) {
    std::vector<BaselineGap> gaps;
    std::map<std::tuple<std::string, std::string, std::string>, std::size_t> place;
    for (const OutOfFoldRow& row : rows) {
        const auto [at, fresh] = place.try_emplace({row.model, row.metric, row.device}, gaps.size());
        if (fresh) gaps.push_back({row.model, row.metric, row.device, 0, 0, ""});
        BaselineGap& gap = gaps[at->second];
        ++gap.rows_in_all;
        if (row.no_forecast_reason.empty()) continue;
        ++gap.rows;
        gap.reason = row.no_forecast_reason;
    }
    std::erase_if(gaps, [](const BaselineGap& gap) { return gap.rows == 0; });
    return gaps;
}

}  // namespace joulecast
