#include "joulecast/train/fit_voltage.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "joulecast/forecast/over_clocks.h"
#include "joulecast/physics/fit_clocks.h"
#include "joulecast/physics/non_negative_least_squares.h"
#include "joulecast/train/power_shares.h"
#include "joulecast/train/rows_over_clocks.h"

namespace joulecast {
namespace {

constexpr std::size_t least_rows = 20;
constexpr std::size_t most_rows = 600;  // more cost time and tell no more
constexpr std::size_t least_clocks = 3;
constexpr double lowest_knee = 0.40, highest_knee = 0.94, knee_step = 0.02;
constexpr double knee_deviation = 0.05;  // of cards of one architecture, docs/clocks-model.md
constexpr double tells_alike = 1.1;
constexpr double better_when_bent = 0.95;

/// Rows of known power by what dynamic_watts() multiplies at the lowest voltage.
std::vector<PowerShares> spread_rows(const DeviceModel& device, std::span<const TrainingRow> rows) {
    DeviceModel level = device;
    level.clocks->slope = 0;
    std::vector<PowerShares> shares = power_shares(level, rows);
    if (shares.size() <= most_rows) return shares;
    std::vector<PowerShares> spread;
    for (std::size_t i = 0; i < most_rows; ++i) spread.push_back(shares[i * shares.size() / most_rows]);
    return spread;
}

std::size_t distinct_clocks(std::span<const PowerShares> rows) {
    constexpr double same = 0.015;
    std::set<double> clocks;
    for (const PowerShares& row : rows) clocks.insert(row.x);
    std::size_t count = 0;
    double before = 0;
    for (const double x : clocks) {
        if (x <= before * (1 + same)) continue;
        before = x;
        ++count;
    }
    return count;
}

double error_with(const ClockParameters& parameters, std::span<const PowerShares> rows) {
    std::map<double, double> squared_voltage;
    std::vector<double> columns, targets;
    for (const PowerShares& row : rows) {
        const auto [square, is_new] = squared_voltage.try_emplace(row.x);
        if (is_new) square->second = std::pow(relative_voltage(parameters, row.x), 2);
        for (std::size_t part = 0; part < dynamic_parts.size(); ++part)
            columns.push_back((follows_voltage(part) ? square->second : 1) * row.of_parts[part]);
        targets.push_back(row.above_idle);
    }
    const auto watts = non_negative_least_squares(columns, targets);
    double sum = 0;
    for (std::size_t row = 0; row < targets.size(); ++row) {
        double told = 0;
        for (std::size_t part = 0; part < watts.size(); ++part)
            told += watts[part] * columns[row * watts.size() + part];
        sum += std::abs(told - targets[row]);
    }
    return sum / static_cast<double>(targets.size());
}

/// What idle power was measured at the trained clocks; those beyond were told from these.
std::vector<IdlePoint> measured_idle(const DeviceModel& device) {
    std::vector<IdlePoint> measured;
    for (const IdlePoint& point : device.clocks->idle) {
        const bool is_trained = std::ranges::any_of(device.over_clocks->trained, [&](const TrainedClock& clock) {
            return !are_other_clocks(clock.sm_clock_mhz, point.sm_clock_mhz);
        });
        if (is_trained) measured.push_back(point);
    }
    return measured;
}

/// The clock, over the highest, up to which idle power goes up along a line through its first two: the voltage has not
/// risen there. 0 where the third lies off it already.
double straight_up_to(std::span<const IdlePoint> idle, double highest_mhz) {
    constexpr double on_the_line = 0.005;
    double known = 0;
    for (std::size_t i = 2; i < idle.size(); ++i) {
        const double slope = (idle[1].power_w - idle[0].power_w) / (idle[1].sm_clock_mhz - idle[0].sm_clock_mhz);
        const double line = idle[0].power_w + slope * (idle[i].sm_clock_mhz - idle[0].sm_clock_mhz);
        if (std::abs(idle[i].power_w / line - 1) > on_the_line) return known;
        known = idle[i].sm_clock_mhz / highest_mhz;
    }
    return 0;  // a device whose idle power never leaves the line does not show its voltage
}

struct Voltage {
    double knee = 0;
    double slope = 0;
    double error = 0;
};

/// By golden section on the logarithm of the slope, to 2 %.
Voltage with_knee(ClockParameters parameters, double knee, std::span<const PowerShares> rows) {
    constexpr double golden = 0.6180339887498949;
    constexpr int cuts = 11;
    parameters.knee = knee;
    const auto error = [&](double log_slope) {
        parameters.slope = std::exp(log_slope);
        return error_with(parameters, rows);
    };
    double low = std::log(0.05), high = std::log(6.0);
    double lower = high - golden * (high - low), upper = low + golden * (high - low);
    double at_lower = error(lower), at_upper = error(upper);
    for (int cut = 0; cut < cuts; ++cut) {
        const bool goes_down = at_lower < at_upper;
        (goes_down ? high : low) = goes_down ? upper : lower;
        (goes_down ? upper : lower) = goes_down ? lower : upper;
        (goes_down ? at_upper : at_lower) = goes_down ? at_lower : at_upper;
        double& renewed = goes_down ? lower : upper;
        renewed = goes_down ? high - golden * (high - low) : low + golden * (high - low);
        (goes_down ? at_lower : at_upper) = error(renewed);
    }
    return {knee, std::exp((low + high) / 2), std::min(at_lower, at_upper)};
}

/// For each knee from the lowest one on.
std::vector<Voltage> voltages(const ClockParameters& parameters, double lowest, std::span<const PowerShares> rows) {
    std::vector<Voltage> found;
    for (double knee = std::max(lowest_knee, lowest); knee <= highest_knee; knee += knee_step)
        found.push_back(with_knee(parameters, knee, rows));
    return found;
}

double least_error(std::span<const Voltage> voltages) {
    return std::ranges::min_element(voltages, {}, &Voltage::error)->error;
}

double likely_knee(std::span<const Voltage> voltages, double architecture) {
    const double most = tells_alike * least_error(voltages);
    double nearest = std::numeric_limits<double>::infinity();
    for (const Voltage& voltage : voltages) {
        if (voltage.error <= most) nearest = std::min(nearest, std::abs(voltage.knee - architecture));
    }
    double weights = 0, knees = 0;
    for (const Voltage& voltage : voltages) {
        if (voltage.error > most) continue;
        // Relative to the likeliest, so that knees far from the architecture's have weights too.
        const double off = voltage.knee - architecture;
        const double weight = std::exp((nearest * nearest - off * off) / (2 * knee_deviation * knee_deviation));
        weights += weight;
        knees += weight * voltage.knee;
    }
    return knees / weights;
}

}  // namespace

ClockParameters settle_voltage(const DeviceModel& device, std::span<const TrainingRow> rows,
                               const ClockParameters& architecture) {
    ClockParameters parameters = *device.clocks;
    if (has_measured_voltage(parameters)) return parameters;
    const std::vector<PowerShares> shares = spread_rows(device, rows);
    if (shares.size() < least_rows || distinct_clocks(shares) < least_clocks) return parameters;
    const double lowest = std::min(highest_knee, straight_up_to(measured_idle(device), parameters.highest_mhz));
    parameters.steady_share = 0;
    ClockParameters bent = parameters;
    parameters.bend = 1;
    bent.bend = 1.5;
    std::vector<Voltage> found = voltages(parameters, lowest, shares);
    const std::vector<Voltage> when_bent = voltages(bent, lowest, shares);
    if (least_error(when_bent) < better_when_bent * least_error(found)) {
        parameters = std::move(bent);
        found = when_bent;
    }
    const Voltage likely = with_knee(parameters, likely_knee(found, architecture.knee), shares);
    parameters.knee = likely.knee;
    parameters.slope = likely.slope;
    return parameters;
}

}  // namespace joulecast
