#include "lab/studies/board_engines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "joulecast/physics/non_negative_least_squares.h"

namespace joulecast {

namespace {

using Kind = MobileLayer::Kind;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t fewest_networks = 8;
/// Each weight is pulled to zero by as much as an error of 2 % of one network weighs.
constexpr double pull = 0.02;
/// How far networks are from each other at which one tells little of the other, in standard deviations of their size;
/// and how many near ones it takes until they are believed. Chosen with the table of docs/results/boards.md in sight.
constexpr double reach = 0.5;
constexpr double doubt = 0.3;

/// What a layer's time goes by, summed over a network.
std::vector<double> sums(const MobileNetwork& network) {
    enum {
        one,
        conv_macs,
        conv_moved,
        point_macs,
        point_moved,
        depth3_macs,
        depth3_moved,
        depth5_macs,
        depth5_moved,
        weights,
        plain_moved,
        scaled,
        squeezes,
        hard_swishes,
        layers,
        count
    };
    std::vector<double> of(count, 0.0);
    of[one] = 1.0;
    for (const MobileLayer& layer : network.layers) {
        const double moved = layer.input + layer.output;
        const auto add = [&](std::size_t macs_at, std::size_t moved_at) {
            of[macs_at] += layer.macs, of[moved_at] += moved;
        };
        if (layer.kind == Kind::convolution) add(conv_macs, conv_moved);
        if (layer.kind == Kind::pointwise) add(point_macs, point_moved);
        if (layer.kind == Kind::depthwise && layer.kernel == 3) add(depth3_macs, depth3_moved);
        if (layer.kind == Kind::depthwise && layer.kernel != 3) add(depth5_macs, depth5_moved);
        if (layer.kind != Kind::depthwise) of[weights] += layer.weights;
        if (layer.kind == Kind::add || layer.kind == Kind::pool) of[plain_moved] += moved;
        if (layer.kind == Kind::scale) of[scaled] += moved, of[squeezes] += 1.0;
        if (layer.hard_swish) of[hard_swishes] += layer.output;
        of[layers] += 1.0;
    }
    return of;
}

/// Where a network stands among others: its work, what it moves, its depth.
std::array<double, 3> place(const MobileNetwork& network) {
    double moved = 0.0;
    for (const MobileLayer& layer : network.layers) moved += layer.input + layer.output;
    return {std::log(network.macs()), std::log(moved), double(network.layers.size()) / 30.0};
}

/// The runs of one campaign, engine and precision, by one of their numbers.
struct Series {
    std::vector<const BoardRun*> runs;
    std::vector<std::vector<double>> sums;
    std::vector<std::array<double, 3>> places;
    double BoardRun::* number;

    double measured(std::size_t run) const { return runs[run]->*number; }
    std::vector<std::size_t> without(const std::string& network) const {
        std::vector<std::size_t> left;
        for (std::size_t i = 0; i < runs.size(); ++i)
            if (runs[i]->network.name != network) left.push_back(i);
        return left;
    }
};

/// Columns of one size, so that one pull fits all.
void scale_columns(std::vector<std::vector<double>>& rows) {
    for (std::size_t column = 0; !rows.empty() && column < rows.front().size(); ++column) {
        double largest = 0.0;
        for (const auto& row : rows) largest = std::max(largest, row[column]);
        for (auto& row : rows) row[column] = largest > 0.0 ? row[column] / largest : 0.0;
    }
}

void scale_places(std::vector<std::array<double, 3>>& places) {
    const double count = double(places.size());
    for (std::size_t axis = 0; axis < 3; ++axis) {
        double mean = 0.0;
        double variance = 0.0;
        for (const auto& at : places) mean += at.at(axis) / count;
        for (const auto& at : places) variance += (at.at(axis) - mean) * (at.at(axis) - mean) / count;
        for (auto& at : places) at.at(axis) = variance > 0.0 ? (at.at(axis) - mean) / std::sqrt(variance) : 0.0;
    }
}

/// Weights of the sums: errors are relative.
std::vector<double> weights_of(const Series& series, const std::vector<std::size_t>& training) {
    std::vector<double> rows;
    std::vector<double> targets(training.size(), 1.0);
    for (const std::size_t run : training)
        for (const double sum : series.sums[run]) rows.push_back(sum / series.measured(run));
    const std::size_t columns = series.sums.front().size();
    for (std::size_t column = 0; column < columns; ++column) {
        for (std::size_t i = 0; i < columns; ++i) {
            // In units of a weight that alone would tell a network of the mean.
            rows.push_back(i == column ? pull / series.measured(training.front()) : 0.0);
        }
        targets.push_back(0.0);
    }
    return non_negative_least_squares(rows, targets);
}

double summed(const std::vector<double>& sums, const std::vector<double>& weights) {
    double total = 0.0;
    for (std::size_t i = 0; i < sums.size(); ++i) total += sums[i] * weights[i];
    return total;
}

/// What the nearest networks of the training took over their sums.
double nearest_factor(const Series& series, std::size_t run, const std::vector<std::size_t>& training,
                      const std::vector<double>& weights) {
    double logs = 0.0;
    double nearness = doubt;
    for (const std::size_t other : training) {
        double distance = 0.0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double apart = series.places[run].at(axis) - series.places[other].at(axis);
            distance += apart * apart;
        }
        const double near = std::exp(-distance / (2.0 * reach * reach));
        logs += near * std::log(series.measured(other) / summed(series.sums[other], weights));
        nearness += near;
    }
    return std::exp(logs / nearness);
}

/// log y = a + b log(multiply-adds), by least squares.
double by_power_law(const Series& series, std::size_t run, const std::vector<std::size_t>& training) {
    double x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
    const double count = double(training.size());
    for (const std::size_t other : training) {
        const double at = std::log(series.runs[other]->network.macs());
        const double took = std::log(series.measured(other));
        x += at, y += took, xx += at * at, xy += at * took;
    }
    const double slope = (count * xy - x * y) / (count * xx - x * x);
    return std::exp((y - slope * x) / count + slope * std::log(series.runs[run]->network.macs()));
}

struct Told {
    double full = nan, summed = nan, law = nan;
};

Told told(const Series& series, std::size_t run) {
    const auto training = series.without(series.runs[run]->network.name);
    if (training.size() < fewest_networks) return {};
    const auto weights = weights_of(series, training);
    const double sum = summed(series.sums[run], weights);
    return {sum * nearest_factor(series, run, training, weights), sum, by_power_law(series, run, training)};
}

Series series_of(std::span<const BoardRun> runs, const std::vector<std::size_t>& members, double BoardRun::* number) {
    Series series{{}, {}, {}, number};
    for (const std::size_t run : members) {
        series.runs.push_back(&runs[run]);
        series.sums.push_back(sums(runs[run].network));
        series.places.push_back(place(runs[run].network));
    }
    scale_columns(series.sums);
    scale_places(series.places);
    return series;
}

}  // namespace

std::vector<BoardForecast> leave_networks_out(std::span<const BoardRun> runs) {
    std::map<std::tuple<std::string, std::string, std::string>, std::vector<std::size_t>> together;
    for (std::size_t i = 0; i < runs.size(); ++i)
        together[{runs[i].campaign, runs[i].engine, runs[i].network.precision}].push_back(i);
    std::vector<BoardForecast> forecasts(runs.size());
    for (const auto& [key, members] : together) {
        const Series times = series_of(runs, members, &BoardRun::time_s);
        Series energies = times;
        energies.number = &BoardRun::energy_j;
        for (std::size_t i = 0; i < members.size(); ++i) {
            const Told time = told(times, i);
            const Told energy = told(energies, i);
            forecasts[members[i]] = {time.full, energy.full, time.law, energy.law, time.summed, energy.summed};
        }
    }
    return forecasts;
}

std::vector<EngineChoice> choose_engines(std::span<const BoardRun> runs, std::span<const BoardForecast> forecasts,
                                         std::vector<std::string>& engines) {
    std::set<std::string> names;
    std::map<std::tuple<std::string, std::string, std::string>, std::vector<std::size_t>> together;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        names.insert(runs[i].engine);
        if (std::isfinite(forecasts[i].energy_j))
            together[{runs[i].campaign, runs[i].network.name, runs[i].network.precision}].push_back(i);
    }
    engines.assign(names.begin(), names.end());
    std::vector<EngineChoice> choices;
    for (const auto& [key, members] : together) {
        if (members.size() < 2) continue;
        const auto least = [&](auto energy) { return *std::ranges::min_element(members, {}, energy); };
        const std::size_t best = least([&](std::size_t run) { return runs[run].energy_j; });
        const std::size_t chosen = least([&](std::size_t run) { return forecasts[run].energy_j; });
        EngineChoice choice{std::get<0>(key),
                            std::get<1>(key),
                            std::get<2>(key),
                            runs[chosen].engine,
                            runs[best].engine,
                            runs[chosen].energy_j / runs[best].energy_j - 1.0,
                            {}};
        choice.regret_of_engine.assign(engines.size(), nan);
        for (const std::size_t run : members) {
            const auto engine = std::ranges::find(engines, runs[run].engine) - engines.begin();
            choice.regret_of_engine[static_cast<std::size_t>(engine)] = runs[run].energy_j / runs[best].energy_j - 1.0;
        }
        choices.push_back(std::move(choice));
    }
    return choices;
}

}  // namespace joulecast
