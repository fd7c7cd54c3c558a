#include "joulecast/recommend/pareto.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "joulecast/recommend/objective.h"

namespace joulecast {

std::vector<std::size_t> pareto_front(std::span<const Candidate> candidates, std::span<const std::size_t> among) {
    struct Place {
        double time;
        double energy;
        std::size_t index;
    };
    std::vector<Place> places;
    for (const std::size_t index : among) {
        const SampleCost cost = sample_cost(candidates[index]);
        if (std::isfinite(cost.time_s) && std::isfinite(cost.energy_j))
            places.push_back({cost.time_s, cost.energy_j, index});
    }
    // Of equals the first: not stable_sort, whose temporary buffer libstdc++ deprecates.
    std::ranges::sort(places, {}, [](const Place& p) { return std::tuple(p.time, p.energy, p.index); });
    std::vector<std::size_t> front;
    double least = std::numeric_limits<double>::infinity();
    for (const Place& place : places) {
        if (!(place.energy < least)) continue;
        least = place.energy;
        front.push_back(place.index);
    }
    return front;
}

}  // namespace joulecast
