#include "joulecast/learn/neighbours.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "joulecast/error.h"

namespace joulecast {
namespace {

using Near = std::pair<double, std::size_t>;  // squared distance, row

/// The squared distance, or something above `bound` as soon as it is known to be.
double squared_distance(std::span<const float> a, std::span<const float> b, double bound) {
    constexpr std::size_t stretch = 16;
    double sum = 0;
    for (std::size_t begin = 0; begin < a.size() && sum <= bound; begin += stretch) {
        const std::size_t end = std::min(a.size(), begin + stretch);
        for (std::size_t i = begin; i < end; ++i) {
            const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
            sum += difference * difference;
        }
    }
    return sum;
}

/// The k nearest rows, nearest first.
std::vector<Near> nearest(const Neighbours& model, std::span<const float> point) {
    std::vector<Near> best;
    best.reserve(model.k + std::size_t{1});
    double bound = std::numeric_limits<double>::infinity();
    for (std::size_t row = 0; row < model.targets.size(); ++row) {
        const auto other = std::span(model.points).subspan(row * point.size(), point.size());
        const double distance = squared_distance(point, other, bound);
        if (best.size() == model.k && !(distance < bound)) continue;
        best.insert(std::upper_bound(best.begin(), best.end(), Near(distance, row)), Near(distance, row));
        if (best.size() > model.k) best.pop_back();
        if (best.size() == model.k) bound = best.back().first;
    }
    return best;
}

}  // namespace

Neighbours fit_neighbours(const Samples& samples, std::span<const double> targets, const NeighbourSettings& settings) {
    if (settings.k == 0) throw Error("the nearest 0 neighbours say nothing: ask for at least one");
    Neighbours model;
    model.inputs = fit_standardisation(samples, settings.scaled);
    model.k = static_cast<std::uint32_t>(std::min(settings.k, samples.rows()));
    model.by_distance = settings.by_distance;
    model.targets.assign(targets.begin(), targets.end());
    model.points.reserve(samples.rows() * model.inputs.width());
    for (std::size_t row = 0; row < samples.rows(); ++row) {
        for (const double value : prepared(model.inputs, samples, row)) {
            model.points.push_back(static_cast<float>(value));
        }
    }
    return model;
}

double predict(const Neighbours& model, std::span<const float> row) {
    const auto best = nearest(model, prepared_short(model.inputs, row));
    const bool on_a_row = best.front().first == 0;
    double sum = 0;
    double weights = 0;
    for (const auto& [squared, index] : best) {
        double weight = 1;
        if (model.by_distance) weight = on_a_row ? (squared == 0 ? 1 : 0) : 1 / std::sqrt(squared);
        sum += weight * model.targets[index];
        weights += weight;
    }
    return sum / weights;
}

void check(const Neighbours& model, std::size_t columns) {
    check(model.inputs, columns);
    const std::size_t width = model.inputs.width();
    if (model.targets.empty() || width == 0 || model.points.size() / width != model.targets.size() ||
        model.points.size() % width != 0) {
        throw FormatError("a nearest-neighbour model has other points than targets");
    }
    if (model.k == 0 || model.k > model.targets.size())
        throw FormatError("a nearest-neighbour model asks for more neighbours than it has rows");
    const auto finite = [](auto value) { return std::isfinite(value); };
    if (!std::all_of(model.points.begin(), model.points.end(), finite) ||
        !std::all_of(model.targets.begin(), model.targets.end(), finite)) {
        throw FormatError("a nearest-neighbour model holds a number that is not finite");
    }
}

}  // namespace joulecast
