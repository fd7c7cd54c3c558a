#include "joulecast/physics/fit_physical_power.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>

#include "joulecast/error.h"
#include "joulecast/physics/matrix_rate.h"
#include "joulecast/physics/non_negative_least_squares.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

constexpr std::int64_t least_chips = 3;
constexpr std::size_t coefficients = 6;
/// From this share of its limit on a device is taken to be held by it: control loops leave a few percent.
constexpr double at_limit = 0.95;
/// Rows at the limit enter and leave the fit; a set that comes back to itself is not waited for longer than this.
constexpr int most_rounds = 30;

PhysicalPower with_coefficients(std::span<const double> values) {
    PhysicalPower model;
    model.still = values[0];
    model.flop = values[1];
    model.byte = values[2];
    model.matrix = values[3];
    model.other = values[4];
    model.tensor = values[5];
    return model;
}

/// Watts that the model says were there no limit.
double unlimited(const PhysicalPower& model, const KernelPowerSample& sample) {
    return unlimited_watts(model, sample.device, sample.activity, sample.relative_clock);
}

/// Whether the limit explains why the device drew no more than the `said` watts: then the row pulls no more.
bool is_held(const KernelPowerSample& sample, double said) {
    return sample.watts >= at_limit * limit_or_tdp_w(sample.limit_w, sample.device) && said >= sample.watts;
}

/// The equations are linear in the coefficients: one row of them, and what is left for it to explain.
struct Row {
    std::array<double, coefficients> columns{};
    double target = 0;
};

Row row_of(const KernelPowerSample& sample) {
    Row row;
    const double given = unlimited({}, sample);  // a sheet's idle power, which no coefficient changes
    for (std::size_t i = 0; i < coefficients; ++i) {
        std::array<double, coefficients> unit{};
        unit.at(i) = 1;
        row.columns.at(i) = unlimited(with_coefficients(unit), sample) - given;
    }
    row.target = sample.watts - given;
    return row;
}

void check(std::span<const KernelPowerSample> samples) {
    for (const KernelPowerSample& sample : samples) {
        const std::string missing = missing_for_power(sample.device);
        if (!missing.empty())
            throw Error("cannot fit the power of " + sample.device.id + ": its data sheet lacks " + missing + ".");
        if (!(sample.watts > 0) || !std::isfinite(sample.watts))
            throw Error("cannot fit the power of " + sample.device.id + ": a measured power is not positive.");
    }
}

/// The chip of each sample by a number, and how many rows each chip has. Cards of one chip are wrong together.
struct Chips {
    std::vector<std::size_t> of_sample;
    std::vector<std::int64_t> rows;
    std::vector<const Device*> first;  ///< a device that has it, among the samples'
};

Chips chips_of(std::span<const KernelPowerSample> samples) {
    Chips chips;
    std::map<std::string, std::size_t> known;
    for (const KernelPowerSample& sample : samples) {
        const auto [found, is_new] = known.try_emplace(sample.device.id);
        if (is_new) {
            const auto alike = std::ranges::find_if(chips.first, [&](const Device* other) {
                return other->id == sample.device.id || same_chip(*other, sample.device);
            });
            found->second = static_cast<std::size_t>(alike - chips.first.begin());
            if (alike == chips.first.end()) {
                chips.first.push_back(&sample.device);
                chips.rows.push_back(0);
            }
        }
        chips.of_sample.push_back(found->second);
        ++chips.rows[found->second];
    }
    return chips;
}

/// Coefficients from the samples that count; relative errors, equal chips.
PhysicalPower fit_counting(std::span<const KernelPowerSample> samples, const std::vector<Row>& rows,
                           const std::vector<bool>& counts, const Chips& chips) {
    std::vector<double> columns;
    std::vector<double> targets;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        if (!counts[i]) continue;
        const double weight = 1 / (samples[i].watts * std::sqrt(static_cast<double>(chips.rows[chips.of_sample[i]])));
        for (const double value : rows[i].columns) columns.push_back(value * weight);
        targets.push_back(rows[i].target * weight);
    }
    return with_coefficients(non_negative_least_squares(columns, targets));
}

/// Squared relative errors, each chip's mean as one: what the fit makes small.
double misfit(const PhysicalPower& model, std::span<const KernelPowerSample> samples, const Chips& chips) {
    double sum = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const double said = unlimited(model, samples[i]);
        const double error = is_held(samples[i], said) ? 0 : said / samples[i].watts - 1;
        sum += error * error / static_cast<double>(chips.rows[chips.of_sample[i]]);
    }
    return sum;
}

}  // namespace

PhysicalPower fit_physical_power_alone(std::span<const KernelPowerSample> samples) {
    check(samples);
    const Chips chips = chips_of(samples);
    if (chips.rows.empty()) throw Error("no measured power to fit a physical power model to.");
    std::vector<Row> rows;
    for (const KernelPowerSample& sample : samples) rows.push_back(row_of(sample));
    std::vector<bool> counts(samples.size(), true);
    PhysicalPower best;
    double least = std::numeric_limits<double>::infinity();
    for (int round = 0; round < most_rounds; ++round) {
        const PhysicalPower model = fit_counting(samples, rows, counts, chips);
        const double error = misfit(model, samples, chips);
        if (error < least) {
            least = error;
            best = model;
        }
        std::vector<bool> next(samples.size());
        for (std::size_t i = 0; i < samples.size(); ++i) next[i] = !is_held(samples[i], unlimited(model, samples[i]));
        if (next == counts || std::find(next.begin(), next.end(), true) == next.end()) break;
        counts = std::move(next);
    }
    best.devices = static_cast<std::int64_t>(chips.rows.size());
    best.rows = static_cast<std::int64_t>(samples.size());
    return best;
}

std::vector<double> left_out_watts(std::span<const KernelPowerSample> samples) {
    std::vector<double> said(samples.size(), std::numeric_limits<double>::quiet_NaN());
    const Chips chips = chips_of(samples);
    for (std::size_t chip = 0; chip < chips.rows.size(); ++chip) {
        const auto others = without_chip_of(*chips.first[chip], samples);
        if (others.empty()) continue;
        const PhysicalPower model = fit_physical_power_alone(others);
        for (std::size_t i = 0; i < samples.size(); ++i) {
            const KernelPowerSample& s = samples[i];
            if (chips.of_sample[i] == chip) said[i] = watts(model, s.device, s.activity, s.limit_w, s.relative_clock);
        }
    }
    return said;
}

std::size_t count_chips(std::span<const KernelPowerSample> samples) {
    return chips_of(samples).rows.size();
}

std::vector<KernelPowerSample> without_chip_of(const Device& device, std::span<const KernelPowerSample> samples) {
    std::vector<KernelPowerSample> others;
    std::ranges::remove_copy_if(samples, std::back_inserter(others), [&](const KernelPowerSample& sample) {
        return sample.device.id == device.id || same_chip(sample.device, device);
    });
    return others;
}

double half_width_90(std::span<const std::vector<double>> devices) {
    if (devices.size() < 2) return std::numeric_limits<double>::infinity();
    double bias = 0;
    double within = 0;
    for (const std::vector<double>& log_errors : devices) {
        const double middle = mean(log_errors);
        bias += middle * middle;
        double squares = 0;
        for (const double error : log_errors) squares += (error - middle) * (error - middle);
        within += squares / static_cast<double>(log_errors.size());
    }
    const auto count = static_cast<double>(devices.size());
    return student_t_quantile(0.95, count - 1) * std::sqrt(bias / count + within / count);
}

PhysicalPower fit_physical_power(std::span<const KernelPowerSample> samples) {
    PhysicalPower model = fit_physical_power_alone(samples);
    if (model.devices < least_chips)
        throw Error("a physical power model needs measured power of GPUs of three different chips or more; there are " +
                    std::to_string(model.devices) + ".");
    const auto said = left_out_watts(samples);
    const Chips chips = chips_of(samples);
    std::vector<std::vector<double>> errors(chips.rows.size());
    for (std::size_t i = 0; i < samples.size(); ++i)
        errors[chips.of_sample[i]].push_back(std::log(said[i] / samples[i].watts));
    model.half_width = half_width_90(errors);
    return model;
}

}  // namespace joulecast
