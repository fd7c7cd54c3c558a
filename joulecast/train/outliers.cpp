#include "joulecast/train/outliers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "joulecast/forecast/forecast_log.h"
#include "joulecast/train/fit_models.h"

namespace joulecast {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

/// Logarithms in the order that find_outliers() names; NaN where one of both is nothing.
std::array<float, 4> odd_columns(const DeviceModel& laws, const TrainingRow& row, bool with_power) {
    const auto base = log_base(Base::law, laws, row.operation);
    const auto roof = log_base(Base::roofline, laws, row.operation);
    const Roofline& roofline = row.operation.roofline;
    const double time = std::log(row.time_s);
    const bool has_both = roofline.flop_s > 0 && roofline.byte_s > 0;
    const double ratio = has_both ? std::log(roofline.flop_s / roofline.byte_s) : missing;
    return {static_cast<float>(base ? time - *base : missing), static_cast<float>(roof ? time - *roof : missing),
            static_cast<float>(ratio), static_cast<float>(with_power ? std::log(row.power_w) : 0)};
}

bool all_have_power(std::span<const TrainingRow> rows, const std::vector<std::size_t>& members) {
    return std::all_of(members.begin(), members.end(), [&](std::size_t i) { return rows[i].power_w > 0; });
}

void add_outliers(const DeviceModel& laws, std::span<const TrainingRow> rows, const std::vector<std::size_t>& members,
                  const OutlierSettings& settings, std::vector<Outlier>& found) {
    if (members.size() < settings.least_rows) return;
    const bool with_power = all_have_power(rows, members);
    Samples samples(members.size(), 4);
    for (std::size_t i = 0; i < members.size(); ++i)
        samples.set_row(i, odd_columns(laws, rows[members[i]], with_power));
    const IsolationForest isolation = fit_isolation_forest(samples, settings.isolation);
    std::vector<Outlier> scored;
    for (const std::size_t row : members) {
        const double score = anomaly_score(isolation, odd_columns(laws, rows[row], with_power));
        if (score >= settings.least_score) scored.push_back({row, score});
    }
    std::stable_sort(scored.begin(), scored.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
    const auto most = static_cast<std::size_t>(std::ceil(settings.most_share * static_cast<double>(members.size())));
    scored.resize(std::min(scored.size(), most));
    found.insert(found.end(), scored.begin(), scored.end());
}

}  // namespace

std::vector<Outlier> find_outliers(const DeviceModel& frame, std::span<const TrainingRow> rows,
                                   const OutlierSettings& settings) {
    std::vector<const TrainingRow*> rows_of_devices;
    std::map<Family, std::vector<std::size_t>> families;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows_of_devices.push_back(&rows[i]);
        families[rows[i].operation.family()].push_back(i);
    }
    const DeviceModel laws = fit_laws_alone(frame, rows_of_devices);
    std::vector<Outlier> found;
    for (const auto& [family, members] : families) add_outliers(laws, rows, members, settings, found);
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
    return found;
}

std::vector<TrainingRow> without(std::span<const TrainingRow> rows, std::span<const Outlier> outliers) {
    std::vector<bool> odd(rows.size(), false);
    for (const Outlier& outlier : outliers) odd.at(outlier.row) = true;
    std::vector<TrainingRow> kept;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!odd[i]) kept.push_back(rows[i]);
    }
    return kept;
}

}  // namespace joulecast
