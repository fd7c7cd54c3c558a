#include "joulecast/evaluate/agreement.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "joulecast/dataset/columns.h"
#include "joulecast/dataset/repeat_spread.h"
#include "joulecast/measure/errors.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

struct Timed {
    SharedMeasurement described;
    double time_s = 0;
    double interval_s = 0;
};

std::string number(double value) {
    return std::isnan(value) ? "current" : std::to_string(value);
}

std::string point_key(const OperatingPoint& point, const Provenance& provenance) {
    std::string key;
    for (const std::string& part : {point.device, number(point.sm_clock_mhz), number(point.memory_clock_mhz),
                                    number(point.power_limit_w), std::string(name(point.math)), point.engine,
                                    std::string(name(point.host)), std::to_string(point.threads), provenance.method})
        key += '\x1f' + part;
    return key;
}

SharedMeasurement described(const OperationRow& row) {
    SharedMeasurement shared;
    shared.kind = "operation";
    shared.what = signature(row.measurement.operation);
    shared.mode = name(row.mode);
    return shared;
}

SharedMeasurement described(const NetworkRow& row) {
    const NetworkMeasurement& network = row.measurement;
    SharedMeasurement shared;
    shared.kind = "network";
    shared.what = network.model + " " + symbols_text(network.symbols) + " " + network.precision;
    if (network.optimizer != Optimizer::none) shared.what += " " + std::string(name(network.optimizer));
    shared.mode = name(network.mode);
    return shared;
}

using ByKey = std::map<std::string, Timed>;

template <class Row>
void add(ByKey& by_key, const std::vector<Row>& rows, const RepeatSpread& spread) {
    for (const Row& row : rows) {
        if (!is_timed(row.measurement.outcome)) continue;
        Timed timed;
        timed.described = described(row);
        timed.described.device = row.measurement.asked.device;
        timed.described.asked_sm_clock_mhz = row.measurement.asked.sm_clock_mhz;
        timed.time_s = row.measurement.time.mean_s;
        timed.interval_s =
            repeat_interval_s(row.measurement.time, spread.of(row.measurement.asked.device, row.provenance.session));
        const std::string key = timed.described.kind + '\x1f' + timed.described.what + '\x1f' + timed.described.mode +
                                point_key(row.measurement.asked, row.provenance);
        by_key[key] = std::move(timed);
    }
}

ByKey timed(const Dataset& dataset) {
    const RepeatSpread spread(dataset.references());
    ByKey by_key;
    add(by_key, dataset.operations(), spread);
    add(by_key, dataset.networks(), spread);
    return by_key;
}

/// Beyond 1: outside of both.
double surprise(const SharedMeasurement& measurement) {
    const double widest = std::fmax(measurement.before_interval_s, measurement.after_interval_s);
    const double distance_s = std::abs(measurement.after_s - measurement.before_s);
    return widest > 0 ? distance_s / widest : distance_s / measurement.before_s;
}

double inside_share(const std::vector<SharedMeasurement>& shared, const std::string& kind) {
    double rows = 0, inside = 0;
    for (const SharedMeasurement& measurement : shared) {
        if (measurement.kind != kind) continue;
        ++rows;
        inside += (measurement.after_inside() ? 0.5 : 0.0) + (measurement.before_inside() ? 0.5 : 0.0);
    }
    return inside / rows;  // 0 / 0 without rows: NaN
}

}  // namespace

bool SharedMeasurement::after_inside() const {
    return std::abs(after_s - before_s) <= before_interval_s;
}

bool SharedMeasurement::before_inside() const {
    return std::abs(after_s - before_s) <= after_interval_s;
}

double repeat_interval_s(const TimeSummary& time, double sigma_between) {
    return half_width_95(std::numbers::sqrt2 * time_sigma_s(time, sigma_between));
}

Agreement agreement(const Dataset& before, const Dataset& after) {
    const ByKey first = timed(before), second = timed(after);
    Agreement result;
    std::vector<double> differences;
    for (const auto& [key, in_first] : first) {
        const auto other = second.find(key);
        if (other == second.end()) continue;
        SharedMeasurement shared = in_first.described;
        shared.before_s = in_first.time_s;
        shared.before_interval_s = in_first.interval_s;
        shared.after_s = other->second.time_s;
        shared.after_interval_s = other->second.interval_s;
        differences.push_back(shared.difference());
        result.shared.push_back(std::move(shared));
    }
    result.only_before = std::ssize(first) - std::ssize(result.shared);
    result.only_after = std::ssize(second) - std::ssize(result.shared);
    result.operations_inside = inside_share(result.shared, "operation");
    result.networks_inside = inside_share(result.shared, "network");
    result.median_difference = median(differences);
    std::ranges::stable_sort(result.shared, std::greater<>(), surprise);
    return result;
}

}  // namespace joulecast
