#include "joulecast/recommend/pareto.h"

#include <algorithm>
#include <cmath>
#include <limits>

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
    std::ranges::stable_sort(places, [](const Place& a, const Place& b) {
        return a.time != b.time ? a.time < b.time : a.energy < b.energy;
    });
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
