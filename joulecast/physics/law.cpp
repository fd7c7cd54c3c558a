#include "joulecast/physics/law.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/graph/family.h"
#include "joulecast/physics/nelder_mead.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

constexpr std::string_view depthwise_suffix = "/depthwise";

constexpr double pull_to_data_sheet = 0.003;
/// Tiles must bring law and times nearer by this share, or they are chance.
constexpr double better_by_tiles = 0.07;
/// Of one kernel for all sizes, and of a library's choice among several; share and depth of the latter are fitted.
constexpr std::array<Tiles, 6> shapes{{{128, 128, 1, 1, 0, false},
                                       {128, 128, 2, 1, 0, false},
                                       {64, 64, 1, 1, 0, false},
                                       {64, 64, 2, 1, 0, false},
                                       {128, 32, 1, 1, 0, true},
                                       {128, 32, 2, 1, 0, true}}};
/// Where the fit of the latter begins: tiles of half the edge reach 0.8 of the rate.
constexpr double usual_log_share = 0.22;
constexpr double largest_log_share = 1;
constexpr double usual_half_depth = 32;
constexpr double deepest_half = 2048;

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

/// The cuts of a sample's products in tiles of one shape: what the shape settles before share and depth are known.
struct Cut {
    double factor = 1;
    double depth = 0;
    std::size_t halvings = 0;  ///< of the widest edge
};
/// What tiles of an edge halved so often reach of the rate, inverted. Computed once for a share: std::exp for every cut
/// of every sample took half of the time of fitting a law.
constexpr std::size_t most_halvings = std::numeric_limits<int>::digits;  // an edge is an int, and ends at 1
using Narrower = std::array<double, most_halvings>;
using Cuts = std::vector<std::vector<Cut>>;  // by product

double work_seconds(const Law& law, double tile_factor, const Roofline& roofline) {
    return std::max(law.flop_factor * roofline.flop_s * tile_factor, law.byte_factor * roofline.byte_s);
}

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

Cuts cuts_of(const Products& products, const Tiles& shape) {
    Cuts cuts(products.count);
    for (std::size_t i = 0; i < products.count; ++i) {
        std::size_t halvings = 0;
        for (int edge = shape.widest; edge >= std::max(1, shape.narrowest); edge /= 2, ++halvings) {
            for (const bool splits : {false, true}) {
                if (splits && !shape.splits) continue;
                const TileCut cut = tile_cut(products.sizes[i], products.units, edge, shape.at_once, splits);
                cuts[i].push_back({cut.factor, cut.depth, halvings});
            }
        }
    }
    return cuts;
}

Narrower narrower_tiles(const Tiles& tiles) {
    const double log_share = std::log(tiles.share);
    Narrower narrower{};
    for (std::size_t i = 0; i < narrower.size(); ++i) narrower[i] = std::exp(-static_cast<double>(i) * log_share);
    return narrower;
}

/// What tile_factor() gives for tiles of this share and depth.
double factor_of(const Cuts& cuts, const Narrower& narrower, double half_depth) {
    if (cuts.empty()) return 1;
    double sum = 0;
    for (const auto& of_product : cuts) {
        double least = std::numeric_limits<double>::infinity();
        for (const Cut& cut : of_product)
            least = std::min(least, cut.factor * (1 + half_depth / cut.depth) * narrower[cut.halvings]);
        sum += least;
    }
    return sum / static_cast<double>(cuts.size());
}

/// Mean |log(law / time)|, and a pull to the data sheet's own times and to the usual floor.
double misfit(std::span<const Logged> samples, std::span<const Cuts> cuts, const Law& law, double usual_floor_s) {
    const double floor = eighth_power(law.floor_s);
    const Narrower narrower = cuts.empty() ? Narrower{} : narrower_tiles(law.tiles);
    double sum = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const double factor = cuts.empty() ? 1 : factor_of(cuts[i], narrower, law.tiles.half_depth);
        const double work = work_seconds(law, factor, samples[i].roofline);
        sum += std::abs(std::log(floor + eighth_power(work)) / 8 - samples[i].log_s);
    }
    const double flop_log = std::log(law.flop_factor);
    const double byte_log = std::log(law.byte_factor);
    const double floor_log = usual_floor_s > 0 ? std::log(law.floor_s / usual_floor_s) : 0;
    return sum / static_cast<double>(samples.size()) +
           pull_to_data_sheet * (flop_log * flop_log + byte_log * byte_log + floor_log * floor_log);
}

/// Logarithms of floor and factors; where tiles may be chosen, those of -log(share) and of the half depth.
Law from_logs(std::span<const double> logs, Tiles tiles) {
    if (logs.size() > 3) {
        tiles.share = std::exp(-std::min(std::exp(logs[3]), largest_log_share));
        tiles.half_depth = std::min(std::exp(logs[4]), deepest_half);
    }
    return {std::exp(logs[0]), std::exp(logs[1]), std::exp(logs[2]), tiles};
}

struct FittedLaw {
    Law law;
    double misfit = 0;
};

/// Where a fit begins, and where its floor is pulled to; 0: nowhere.
struct Start {
    double floor_s = 0;
    double usual_floor_s = 0;
    double flop_factor = 1.5;
    double byte_factor = 1.5;
};

FittedLaw fit_with(std::span<const Logged> samples, const Start& first, const Tiles& shape) {
    std::vector<Cuts> cuts;
    if (shape.widest > 0) {
        for (const Logged& sample : samples) cuts.push_back(cuts_of(sample.roofline.products, shape));
    }
    const auto value = [&](std::span<const double> logs) {
        return misfit(samples, cuts, from_logs(logs, shape), first.usual_floor_s);
    };
    std::vector<double> start{std::log(first.floor_s), std::log(first.flop_factor), std::log(first.byte_factor)};
    if (shape.splits) start.insert(start.end(), {std::log(usual_log_share), std::log(usual_half_depth)});
    const int evaluations = start.size() > 3 ? 500 : 300;
    // Twice: the second simplex is fresh, so it leaves a valley in which the first one collapsed.
    auto best = nelder_mead(value, start, 0.7, evaluations);
    best = nelder_mead(value, best, 0.3, evaluations * 2 / 3);
    return {from_logs(best, shape), value(best)};
}

/// Median of what the samples take over that part of their roofline; 0 where none has it.
double median_factor(std::span<const Logged> samples, double Roofline::* part) {
    std::vector<double> factors;
    for (const Logged& sample : samples)
        if (sample.roofline.*part > 0) factors.push_back(std::exp(sample.log_s) / sample.roofline.*part);
    return factors.empty() ? 0 : median(factors);
}

/// From the data sheet's times, and where code is so slow that all of them lie below the floor (TVM's untuned
/// convolutions take 60 times as long, and a floor of 14 ms told them all) from the samples' own, if that is nearer by
/// as much as tiles must be.
FittedLaw fit_without_tiles(std::span<const Logged> samples, const Start& first) {
    const FittedLaw by_sheet = fit_with(samples, first, {});
    Start own = first;
    own.flop_factor = median_factor(samples, &Roofline::flop_s);
    own.byte_factor = median_factor(samples, &Roofline::byte_s);
    if (!(own.flop_factor > 0) || !(own.byte_factor > 0)) return by_sheet;
    const FittedLaw by_samples = fit_with(samples, own, {});
    return by_samples.misfit < (1 - better_by_tiles) * by_sheet.misfit ? by_samples : by_sheet;
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

/// What ends a key: forecasts write some thousands.
std::string with_mode_and_type(std::string key, const Operation& operation) {
    constexpr std::size_t longest = std::string_view("|inference|c128").size();
    key.reserve(key.size() + longest);
    key.append("|").append(name(mode(operation))).append("|").append(name(compute_dtype(operation)));
    return key;
}

}  // namespace

double work_seconds(const Law& law, const Roofline& roofline) {
    return work_seconds(law, tile_factor(law.tiles, roofline.products), roofline);
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
    return fit_without_tiles(logged(samples), {tenth_of_times(samples), 0}).law;
}

Law fit_tiled_law(std::span<const LawSample> samples, double usual_floor_s) {
    const Start first{tenth_of_times(samples), usual_floor_s};
    const auto fitted = logged(samples);
    FittedLaw best = fit_without_tiles(fitted, first);
    if (std::ranges::all_of(fitted, [](const Logged& logged) { return logged.roofline.products.count == 0; }))
        return best.law;
    const double enough = (1 - better_by_tiles) * best.misfit;
    for (const Tiles& shape : shapes) {
        const FittedLaw trial = fit_with(fitted, first, shape);
        if (trial.misfit < std::min(enough, best.misfit)) best = trial;
    }
    return best.law;
}

bool is_depthwise(const Operation& operation) {
    const Value* groups = find_argument(operation, "groups");
    const auto* count = groups ? std::get_if<std::int64_t>(groups) : nullptr;
    if (!count || *count <= 1 || recorded_family(operation) != Family::convolution) return false;
    const auto operands = tensors(operation);
    return !operands.empty() && operands.front()->sizes.size() > 2 && operands.front()->sizes[1] == *count;
}

bool is_depthwise_law_key(std::string_view key) {
    return key.find(depthwise_suffix) != std::string_view::npos;
}

std::string_view plain_name(std::string_view target) {
    const std::size_t name = target.rfind("::");
    const std::size_t dot = target.find('.', name == std::string_view::npos ? 0 : name);
    const std::string_view base = target.substr(0, dot);
    return base.ends_with('_') ? base.substr(0, base.size() - 1) : base;
}

std::string sibling_target(const std::string& target) {
    const std::string plain(plain_name(target));
    const std::string rest = target.substr(plain.size());
    if (rest.starts_with('_')) return plain + rest.substr(1);
    return plain.empty() ? target : plain + "_" + rest;
}

std::string law_key(const Operation& operation) {
    std::string key = operation.target;
    if (is_depthwise(operation)) key += depthwise_suffix;
    if (takes_batch_statistics(operation)) key += "/batch_statistics";
    return with_mode_and_type(std::move(key), operation);
}

std::string family_law_key(const Operation& operation) {
    return family_law_key(family(operation), operation);
}

std::string family_law_key(Family family, const Operation& operation) {
    return with_mode_and_type(std::string(name(family)), operation);
}

bool takes_batch_statistics(const Operation& operation) {
    return is_true(operation, "training");
}

bool is_family_law_key(std::string_view key) {
    return key.find("::") == std::string_view::npos;
}

}  // namespace joulecast
