#include "joulecast/physics/fit_physical_power.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "joulecast/error.h"
#include "joulecast/physics/non_negative_least_squares.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

constexpr std::size_t least_devices = 3;
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

std::map<std::string, std::int64_t> rows_by_device(std::span<const KernelPowerSample> samples) {
    std::map<std::string, std::int64_t> rows;
    for (const KernelPowerSample& sample : samples) ++rows[sample.device.id];
    return rows;
}

/// Coefficients from the samples that count; relative errors, equal devices.
PhysicalPower fit_counting(std::span<const KernelPowerSample> samples, const std::vector<Row>& rows,
                           const std::vector<bool>& counts, const std::map<std::string, std::int64_t>& of_device) {
    std::vector<double> columns;
    std::vector<double> targets;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        if (!counts[i]) continue;
        const double weight =
            1 / (samples[i].watts * std::sqrt(static_cast<double>(of_device.at(samples[i].device.id))));
        for (const double value : rows[i].columns) columns.push_back(value * weight);
        targets.push_back(rows[i].target * weight);
    }
    return with_coefficients(non_negative_least_squares(columns, targets));
}

/// Squared relative errors, each device's mean as one: what the fit makes small.
double misfit(const PhysicalPower& model, std::span<const KernelPowerSample> samples,
              const std::map<std::string, std::int64_t>& of_device) {
    double sum = 0;
    for (const KernelPowerSample& sample : samples) {
        const double said = unlimited(model, sample);
        const double error = is_held(sample, said) ? 0 : said / sample.watts - 1;
        sum += error * error / static_cast<double>(of_device.at(sample.device.id));
    }
    return sum;
}

}  // namespace

PhysicalPower fit_physical_power_alone(std::span<const KernelPowerSample> samples) {
    check(samples);
    const auto of_device = rows_by_device(samples);
    if (of_device.empty()) throw Error("no measured power to fit a physical power model to.");
    std::vector<Row> rows;
    for (const KernelPowerSample& sample : samples) rows.push_back(row_of(sample));
    std::vector<bool> counts(samples.size(), true);
    PhysicalPower best;
    double least = std::numeric_limits<double>::infinity();
    for (int round = 0; round < most_rounds; ++round) {
        const PhysicalPower model = fit_counting(samples, rows, counts, of_device);
        const double error = misfit(model, samples, of_device);
        if (error < least) {
            least = error;
            best = model;
        }
        std::vector<bool> next(samples.size());
        for (std::size_t i = 0; i < samples.size(); ++i) next[i] = !is_held(samples[i], unlimited(model, samples[i]));
        if (next == counts || std::find(next.begin(), next.end(), true) == next.end()) break;
        counts = std::move(next);
    }
    best.devices = static_cast<std::int64_t>(of_device.size());
    best.rows = static_cast<std::int64_t>(samples.size());
    return best;
}

std::vector<double> left_out_watts(std::span<const KernelPowerSample> samples) {
    std::vector<double> said(samples.size(), std::numeric_limits<double>::quiet_NaN());
    for (const auto& [device, count] : rows_by_device(samples)) {
        std::vector<KernelPowerSample> others;
        for (const KernelPowerSample& sample : samples) {
            if (sample.device.id != device) others.push_back(sample);
        }
        if (others.empty()) continue;
        const PhysicalPower model = fit_physical_power_alone(others);
        for (std::size_t i = 0; i < samples.size(); ++i) {
            const KernelPowerSample& s = samples[i];
            if (s.device.id == device) said[i] = watts(model, s.device, s.activity, s.limit_w, s.relative_clock);
        }
    }
    return said;
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
    if (model.devices < static_cast<std::int64_t>(least_devices))
        throw Error("a physical power model needs measured power of three devices or more; there are " +
                    std::to_string(model.devices) + ".");
    const auto said = left_out_watts(samples);
    std::map<std::string, std::vector<double>> errors;
    for (std::size_t i = 0; i < samples.size(); ++i)
        errors[samples[i].device.id].push_back(std::log(said[i] / samples[i].watts));
    std::vector<std::vector<double>> devices;
    for (auto& [id, log_errors] : errors) devices.push_back(std::move(log_errors));
    model.half_width = half_width_90(devices);
    return model;
}

}  // namespace joulecast
