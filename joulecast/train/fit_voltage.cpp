#include "joulecast/train/fit_voltage.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>
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
constexpr double lowest_knee = 0.40, highest_knee = 0.94, knee_step = 0.02, fine_step = 0.004;
constexpr double knee_deviation = 0.05;  // of cards of one architecture, docs/clocks-model.md
/// Errors that near to the least one tell nothing: a tenth of it, or what noise of half a percent makes of the mean of
/// 600 rows.
constexpr double tells_alike = 1.1, noise_of_error = 2e-4;
/// The same with one clock above the knee: what is missed of power tells more then than the voltage does.
constexpr double hardly_told = 1.5;
constexpr double better_when_bent = 0.95;

/// Core clocks of the rows that lie above x, those within 1.5 % as one.
std::size_t distinct_clocks(std::span<const PowerShares> rows, double above = 0) {
    constexpr double same = 0.015;
    std::set<double> clocks;
    for (const PowerShares& row : rows) {
        if (row.x > above) clocks.insert(row.x);
    }
    std::size_t count = 0;
    double before = 0;
    for (const double x : clocks) {
        if (x <= before * (1 + same)) continue;
        before = x;
        ++count;
    }
    return count;
}

/// Rows of one operation.
using OwnRows = std::vector<PowerShares>;

/// At most so many rows, of operations throughout the list.
std::vector<OwnRows> thinned(std::vector<OwnRows> operations, std::size_t rows) {
    if (rows <= most_rows) return operations;
    const std::size_t kept = std::max<std::size_t>(1, operations.size() * most_rows / rows);
    std::vector<OwnRows> spread;
    for (std::size_t i = 0; i < kept; ++i) spread.push_back(std::move(operations[i * operations.size() / kept]));
    return spread;
}

/// Rows of known power by what dynamic_watts() multiplies at the lowest voltage. Operations that were measured at three
/// clocks or more, since only these tell how their own power follows the clock; where they are few, all.
std::vector<OwnRows> rows_by_operation(const DeviceModel& device, std::span<const TrainingRow> rows) {
    DeviceModel level = device;
    level.clocks->slope = 0;
    std::map<std::string_view, OwnRows> by_operation;
    for (const PowerShares& share : power_shares(level, rows, TimeOfWork::measured))
        by_operation[rows[share.row].operation.signature].push_back(share);
    std::vector<OwnRows> all, swept;
    std::size_t of_all = 0, of_swept = 0;
    for (auto& [signature, own] : by_operation) {
        of_all += own.size();
        if (distinct_clocks(own) >= least_clocks) {
            of_swept += own.size();
            swept.push_back(own);
        }
        all.push_back(std::move(own));
    }
    return of_swept >= least_rows ? thinned(std::move(swept), of_swept) : thinned(std::move(all), of_all);
}

/// What the parts come to at a voltage, for least squares.
struct Told {
    std::vector<double> columns, targets;

    double row(std::span<const double> watts, std::size_t at) const {
        double sum = 0;
        for (std::size_t part = 0; part < watts.size(); ++part) sum += watts[part] * columns[at * watts.size() + part];
        return sum;
    }
};

Told told_with(const ClockParameters& parameters, std::span<const OwnRows> operations,
               std::span<const double> factors) {
    std::map<double, double> squared_voltage;
    Told told;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        for (const PowerShares& row : operations[i]) {
            const auto [square, is_new] = squared_voltage.try_emplace(row.x);
            if (is_new) square->second = std::pow(relative_voltage(parameters, row.x), 2);
            for (std::size_t part = 0; part < dynamic_parts.size(); ++part)
                told.columns.push_back(factors[i] * (follows_voltage(part) ? square->second : 1) * row.of_parts[part]);
            told.targets.push_back(row.above_idle);
        }
    }
    return told;
}

/// Of one operation: which factor brings what is told nearest to what was measured, in squares.
double own_factor(const Told& told, std::span<const double> watts, std::size_t first, std::size_t count) {
    double product = 0, square = 0;
    for (std::size_t at = first; at < first + count; ++at) {
        const double value = told.row(watts, at);
        product += value * told.targets[at];
        square += value * value;
    }
    return square > 0 ? product / square : 1;
}

/// Mean |error| relative to the rows' power. What an operation draws at all its clocks may be told wrong by a factor of
/// its own: operations differ by more than their power does over the clocks, and that alone tells of the voltage.
double error_with(const ClockParameters& parameters, std::span<const OwnRows> operations) {
    std::vector<double> factors(operations.size(), 1.0);
    double sum = 0;
    std::size_t rows = 0;
    constexpr int rounds = 2;
    for (int round = 0; round < rounds; ++round) {
        const Told told = told_with(parameters, operations, factors);
        const auto watts = non_negative_least_squares(told.columns, told.targets);
        sum = 0;
        rows = 0;
        for (std::size_t i = 0; i < operations.size(); ++i) {
            const double own = own_factor(told, watts, rows, operations[i].size());
            factors[i] *= own;
            for (std::size_t k = 0; k < operations[i].size(); ++k, ++rows)
                sum += std::abs(own * told.row(watts, rows) - told.targets[rows]);
        }
    }
    return sum / static_cast<double>(rows);
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
Voltage with_knee(ClockParameters parameters, double knee, std::span<const OwnRows> rows) {
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

struct Knees {
    double low = 0;
    double high = 0;
    double step = 0;
};

std::vector<Voltage> voltages(const ClockParameters& parameters, const Knees& knees, std::span<const OwnRows> rows) {
    std::vector<Voltage> found;
    for (double knee = knees.low; knee <= knees.high; knee += knees.step)
        found.push_back(with_knee(parameters, knee, rows));
    return found;
}

/// Whose error is least.
Voltage nearest(std::span<const Voltage> voltages) {
    return *std::ranges::min_element(voltages, {}, &Voltage::error);
}

double least_error(std::span<const Voltage> voltages) {
    return nearest(voltages).error;
}

double still_alike(std::span<const Voltage> voltages) {
    const double least = least_error(voltages);
    return std::max(tells_alike * least, least + noise_of_error);
}

/// Whether the rows tell the knee: the error rises by more than a tenth on both sides of the nearest one.
bool is_told(std::span<const Voltage> voltages) {
    const double most = still_alike(voltages);
    return std::ranges::count_if(voltages, [&](const Voltage& voltage) { return voltage.error <= most; }) <= 2;
}

double likely_knee(std::span<const Voltage> voltages, double architecture, bool rises_twice) {
    const double most = rises_twice ? still_alike(voltages) : hardly_told * least_error(voltages);
    double least_off = std::numeric_limits<double>::infinity();
    for (const Voltage& voltage : voltages) {
        if (voltage.error <= most) least_off = std::min(least_off, std::abs(voltage.knee - architecture));
    }
    double weights = 0, knees = 0;
    for (const Voltage& voltage : voltages) {
        if (voltage.error > most) continue;
        // Relative to the likeliest, so that knees far from the architecture's have weights too.
        const double off = voltage.knee - architecture;
        const double weight = std::exp((least_off * least_off - off * off) / (2 * knee_deviation * knee_deviation));
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
    const std::vector<OwnRows> shares = rows_by_operation(device, rows);
    OwnRows together;
    for (const OwnRows& own : shares) together.insert(together.end(), own.begin(), own.end());
    if (together.size() < least_rows || distinct_clocks(together) < least_clocks) return parameters;
    const double lowest = std::min(highest_knee, straight_up_to(measured_idle(device), parameters.highest_mhz));
    parameters.steady_share = 0;
    ClockParameters bent = parameters;
    parameters.bend = 1;
    bent.bend = 1.5;
    const Knees all{std::max(lowest_knee, lowest), highest_knee, knee_step};
    std::vector<Voltage> found = voltages(parameters, all, shares);
    const std::vector<Voltage> when_bent = voltages(bent, all, shares);
    if (least_error(when_bent) < better_when_bent * least_error(found)) {
        parameters = std::move(bent);
        found = when_bent;
    }
    const double coarse = nearest(found).knee;
    // One clock above a knee tells how high the voltage is there, not where it began to rise.
    const bool rises_twice = distinct_clocks(together, coarse + knee_step) >= 2;
    const Voltage likely =
        is_told(found) && rises_twice
            ? nearest(
                  voltages(parameters, {std::max(all.low, coarse - knee_step), coarse + knee_step, fine_step}, shares))
            : with_knee(parameters, likely_knee(found, architecture.knee, rises_twice), shares);
    parameters.knee = likely.knee;
    parameters.slope = likely.slope;
    return parameters;
}

}  // namespace joulecast
