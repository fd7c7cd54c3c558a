#include "joulecast/physics/law.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/graph/record.h"
#include "joulecast/physics/nelder_mead.h"

namespace joulecast {
namespace {

constexpr double pull_to_data_sheet = 0.003;

/// Host and device overlap by this power; written out, since std::pow takes most of the time of fitting a law.
double eighth_power(double x) {
    const double squared = x * x;
    const double fourth = squared * squared;
    return fourth * fourth;
}
double eighth_root(double x) {
    return std::sqrt(std::sqrt(std::sqrt(x)));
}

/// What the misfit of a law needs of a sample.
struct Logged {
    Roofline roofline;
    double log_s = 0;
};

/// Every sample, or one out of each of `most_law_samples` equal parts: not the one at the same place of each, since
/// tables repeat themselves.
std::vector<Logged> logged(std::span<const LawSample> samples) {
    const std::size_t count = std::min(samples.size(), most_law_samples);
    std::vector<Logged> chosen;
    chosen.reserve(count);
    std::uint64_t scattered = 0;
    for (std::size_t i = 0; i < count; ++i, scattered += 0x9E3779B97F4A7C15ULL) {
        const std::size_t begin = i * samples.size() / count;
        const std::size_t width = (i + 1) * samples.size() / count - begin;
        const LawSample& sample = samples[begin + (scattered >> 32U) % width];
        chosen.push_back({sample.roofline, std::log(sample.time_s)});
    }
    return chosen;
}

/// Mean |log(law / time)|, and a pull to the data sheet's own times.
double misfit(std::span<const Logged> samples, const Law& law) {
    const double floor = eighth_power(law.floor_s);
    double sum = 0;
    for (const Logged& sample : samples)
        sum += std::abs(std::log(floor + eighth_power(work_seconds(law, sample.roofline))) / 8 - sample.log_s);
    const double flop_log = std::log(law.flop_factor);
    const double byte_log = std::log(law.byte_factor);
    return sum / static_cast<double>(samples.size()) + pull_to_data_sheet * (flop_log * flop_log + byte_log * byte_log);
}

Law from_logs(std::span<const double> logs, std::size_t tiling) {
    return {std::exp(logs[0]), std::exp(logs[1]), std::exp(logs[2]), tiling};
}

/// Tiles must bring law and times nearer by this share, or they are chance.
constexpr double better_by_tiles = 0.07;

struct FittedLaw {
    Law law;
    double misfit = 0;
};

FittedLaw fit_with(std::span<const Logged> samples, double floor_s, std::size_t tiling) {
    const auto value = [&](std::span<const double> logs) { return misfit(samples, from_logs(logs, tiling)); };
    // Twice: the second simplex is fresh, so it leaves a valley in which the first one collapsed.
    auto best = nelder_mead(value, {std::log(floor_s), std::log(1.5), std::log(1.5)}, 0.7, 300);
    best = nelder_mead(value, best, 0.3, 200);
    return {from_logs(best, tiling), value(best)};
}

double tenth_of_times(std::span<const LawSample> samples) {
    if (samples.empty()) throw Error("cannot fit a law to no measurements");
    std::vector<double> times;
    for (const LawSample& sample : samples) {
        if (!(sample.time_s > 0)) throw Error("cannot fit a law: a measured time is not positive");
        times.push_back(sample.time_s);
    }
    const auto tenth = static_cast<std::ptrdiff_t>(times.size() / 10);
    std::nth_element(times.begin(), times.begin() + tenth, times.end());
    return times[static_cast<std::size_t>(tenth)];
}

bool is_true(const Operation& operation, std::string_view argument) {
    const Value* value = find_argument(operation, argument);
    const bool* flag = value ? std::get_if<bool>(value) : nullptr;
    return flag && *flag;
}

std::string mode_and_type(const Operation& operation) {
    return "|" + std::string(name(mode(operation))) + "|" + std::string(name(compute_dtype(operation)));
}

}  // namespace

double work_seconds(const Law& law, const Roofline& roofline) {
    const double arithmetic = law.flop_factor * roofline.flop_s;
    const double tiled = law.tiling > 0 ? arithmetic * roofline.tiled.at(law.tiling - 1) : arithmetic;
    return std::max(tiled, law.byte_factor * roofline.byte_s);
}

double overlapped(double a, double b) {
    const double larger = std::max(a, b);
    if (!(larger > 0)) return 0;
    return larger * eighth_root(1 + eighth_power(std::min(a, b) / larger));
}

double beyond_floor(double whole, double floor) {
    if (!(whole > floor)) return 0;
    return whole * eighth_root(1 - eighth_power(floor / whole));
}

double seconds(const Law& law, const Roofline& roofline) {
    return overlapped(law.floor_s, work_seconds(law, roofline));
}

double work_share(const Law& law, const Roofline& roofline) {
    const double work = work_seconds(law, roofline);
    return work > 0 ? work / (work + law.floor_s) : 0;
}

Law fit_law(std::span<const LawSample> samples) {
    const double floor_s = tenth_of_times(samples);
    return fit_with(logged(samples), floor_s, 0).law;
}

Law fit_tiled_law(std::span<const LawSample> samples) {
    const double floor_s = tenth_of_times(samples);
    const auto fitted = logged(samples);
    FittedLaw best = fit_with(fitted, floor_s, 0);
    const double enough = (1 - better_by_tiles) * best.misfit;
    for (std::size_t tiling = 1; tiling <= tilings.size(); ++tiling) {
        const FittedLaw trial = fit_with(fitted, floor_s, tiling);
        if (trial.misfit < std::min(enough, best.misfit)) best = trial;
    }
    return best.law;
}

bool is_depthwise(const Operation& operation) {
    const Value* groups = find_argument(operation, "groups");
    const auto* count = groups ? std::get_if<std::int64_t>(groups) : nullptr;
    if (!count || *count <= 1 || family(operation) != Family::convolution) return false;
    const auto all = tensors(operation);
    return !all.empty() && all.front()->sizes.size() > 2 && all.front()->sizes[1] == *count;
}

std::string sibling_target(const std::string& target) {
    const std::size_t name = target.rfind("::");
    const std::size_t dot = target.find('.', name == std::string::npos ? 0 : name);
    const std::size_t end = std::min(dot, target.size());
    if (end == 0) return target;
    const std::string base = target.substr(0, end);
    return (base.back() == '_' ? base.substr(0, end - 1) : base + "_") + target.substr(end);
}

std::string law_key(const Operation& operation) {
    std::string key = operation.target;
    if (is_depthwise(operation)) key += "/depthwise";
    if (is_true(operation, "training")) key += "/batch_statistics";
    return key + mode_and_type(operation);
}

std::string family_law_key(const Operation& operation) {
    return std::string(name(family(operation))) + mode_and_type(operation);
}

bool is_family_law_key(std::string_view key) {
    return key.find("::") == std::string_view::npos;
}

}  // namespace joulecast
