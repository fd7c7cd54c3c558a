#include "joulecast/evaluate/accuracy.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

using Rows = std::vector<const OutOfFoldRow*>;

double r_squared_of(const Rows& rows, bool logarithmic) {
    std::vector<double> measured;
    std::vector<double> predicted;
    for (const OutOfFoldRow* row : rows) {
        if (logarithmic && !(row->measured > 0 && row->predicted > 0)) continue;
        measured.push_back(logarithmic ? std::log(row->measured) : row->measured);
        predicted.push_back(logarithmic ? std::log(row->predicted) : row->predicted);
    }
    return r_squared(measured, predicted);
}

void set_folds(Accuracy& accuracy, const Rows& rows) {
    std::map<std::size_t, Rows> folds;
    for (const OutOfFoldRow* row : rows) folds[row->fold].push_back(row);
    std::vector<double> r2;
    for (const auto& [fold, of_fold] : folds) {
        const double of_one_fold = r_squared_of(of_fold, false);
        if (!std::isnan(of_one_fold)) r2.push_back(of_one_fold);
    }
    accuracy.r2_fold_mean = mean(r2);
    std::vector<double> squares;
    for (const double fold_r2 : r2)
        squares.push_back((fold_r2 - accuracy.r2_fold_mean) * (fold_r2 - accuracy.r2_fold_mean));
    accuracy.r2_fold_std = std::sqrt(mean(squares));
}

void set_errors(Accuracy& accuracy, const Rows& rows) {
    std::vector<double> absolute;
    std::vector<double> relative;
    for (const OutOfFoldRow* row : rows) {
        absolute.push_back(std::abs(row->predicted - row->measured));
        if (row->measured > 0) relative.push_back(absolute.back() / row->measured);
    }
    std::vector<double> logs;
    for (const OutOfFoldRow* row : rows) {
        if (row->measured > 0 && row->predicted > 0) logs.push_back(std::log(row->predicted / row->measured));
    }
    accuracy.bias = std::expm1(mean(logs));
    accuracy.mape = mean(relative);
    accuracy.median_ape = median(relative);
    accuracy.mae = mean(absolute);
    if (!absolute.empty()) accuracy.max_error = *std::max_element(absolute.begin(), absolute.end());
    accuracy.medae = median(absolute);
}

void set_intervals(Accuracy& accuracy, const Rows& rows) {
    std::vector<IntervalOutcome> outcomes;
    for (const OutOfFoldRow* row : rows) {
        if (std::isnan(row->low) || std::isnan(row->high)) continue;
        outcomes.push_back({row->low <= row->measured && row->measured <= row->high,
                            row->predicted > 0 ? (row->high - row->low) / row->predicted : missing});
    }
    accuracy.interval = coverage(outcomes);
}

bool has_forecast(const OutOfFoldRow* row) {
    return std::isfinite(row->predicted);
}

Accuracy accuracy(const Rows& given, const std::string& family) {
    Accuracy result;
    result.model = given.front()->model;
    result.metric = given.front()->metric;
    result.device = given.front()->device;
    result.math = given.front()->math;
    result.family = family;
    Rows rows;
    std::copy_if(given.begin(), given.end(), std::back_inserter(rows), has_forecast);
    result.rows_without_forecast = static_cast<std::int64_t>(given.size() - rows.size());
    result.rows = static_cast<std::int64_t>(rows.size());
    std::set<std::string> groups;
    for (const OutOfFoldRow* row : rows) groups.insert(row->group);
    result.groups = static_cast<std::int64_t>(groups.size());
    result.r2 = r_squared_of(rows, false);
    result.r2_log = r_squared_of(rows, true);
    set_folds(result, rows);
    set_errors(result, rows);
    set_intervals(result, rows);
    return result;
}

/// The line of all rows, then one for each family.
void add_families(const Rows& rows, const std::string& mode, std::vector<Accuracy>& accuracies) {
    std::map<std::string, Rows> parts;
    for (const OutOfFoldRow* row : rows) parts[row->family].push_back(row);
    const std::size_t first = accuracies.size();
    accuracies.push_back(accuracy(rows, "all"));
    for (const auto& [family, of_family] : parts) {
        if (std::any_of(of_family.begin(), of_family.end(), has_forecast))
            accuracies.push_back(accuracy(of_family, family));
    }
    for (std::size_t i = first; i < accuracies.size(); ++i) accuracies[i].mode = mode;
}

}  // namespace

std::optional<bool> Coverage::contains_90() const {
    if (rows == 0) return std::nullopt;
    return bounds.low <= 0.9 && 0.9 <= bounds.high;
}

Coverage coverage(std::span<const IntervalOutcome> outcomes) {
    Coverage result;
    result.rows = static_cast<std::int64_t>(outcomes.size());
    std::vector<double> widths;
    for (const IntervalOutcome& outcome : outcomes) {
        if (outcome.inside) ++result.inside;
        if (!std::isnan(outcome.width)) widths.push_back(outcome.width);
    }
    if (result.rows > 0) result.share = static_cast<double>(result.inside) / static_cast<double>(result.rows);
    result.bounds = binomial_bounds(result.inside, result.rows, 0.95);
    result.width = mean(widths);
    return result;
}

std::vector<Accuracy> overall_accuracies(std::span<const OutOfFoldRow> rows) {
    std::vector<Accuracy> first;
    std::set<std::pair<std::string, std::string>> seen;
    for (Accuracy& of_model : accuracies(rows)) {
        if (seen.emplace(of_model.model, of_model.metric).second) first.push_back(std::move(of_model));
    }
    return first;
}

double r_squared(std::span<const double> measured, std::span<const double> predicted) {
    if (measured.size() < 2) return missing;
    const double middle = std::accumulate(measured.begin(), measured.end(), 0.0) / static_cast<double>(measured.size());
    double residual = 0;
    double total = 0;
    for (std::size_t i = 0; i < measured.size(); ++i) {
        residual += (measured[i] - predicted[i]) * (measured[i] - predicted[i]);
        total += (measured[i] - middle) * (measured[i] - middle);
    }
    return total > 0 ? 1 - residual / total : missing;
}

std::vector<Accuracy> accuracies(std::span<const OutOfFoldRow> rows) {
    using Key = std::tuple<std::string, std::string, std::string, std::string>;
    std::map<Key, Rows> whole;
    std::vector<Key> order;
    for (const OutOfFoldRow& row : rows) {
        const Key key(row.model, row.metric, row.device, row.math);
        if (!whole.contains(key)) order.push_back(key);
        whole[key].push_back(&row);
    }
    std::vector<Accuracy> result;
    for (const Key& key : order) {
        std::map<std::string, Rows> by_mode;
        for (const OutOfFoldRow* row : whole[key]) by_mode[row->mode].push_back(row);
        if (by_mode.size() == 1) {
            add_families(whole[key], by_mode.begin()->first, result);
            continue;
        }
        add_families(whole[key], "all", result);
        for (const auto& [mode, of_mode] : by_mode) add_families(of_mode, mode, result);
    }
    return result;
}

}  // namespace joulecast
