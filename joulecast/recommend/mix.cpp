#include "joulecast/recommend/mix.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <string>
#include <tuple>

#include "joulecast/units/estimate_sum.h"

namespace joulecast {
namespace {

using Way = std::tuple<std::string, std::string, double, double, double, Mode, std::string, MemoryFormat, std::int64_t>;

Way way_of(const Candidate& c) {
    const auto number = [](double value) { return std::isnan(value) ? -1 : value; };
    const auto batch = c.symbols.find("batch");
    return {c.asked.device,
            c.asked.engine,
            number(c.asked.sm_clock_mhz),
            number(c.asked.memory_clock_mhz),
            number(c.asked.power_limit_w),
            c.mode,
            c.precision,
            c.memory_format,
            batch == c.symbols.end() ? -1 : batch->second};
}

/// One way: `parts` are the networks' own.
Candidate mixed_way(const std::vector<const Candidate*>& parts, std::span<const double> weights) {
    const double whole = std::accumulate(weights.begin(), weights.end(), 0.0);
    Candidate mix = *parts.front();
    mix.symbols.clear();
    if (const auto batch = parts.front()->symbols.find("batch"); batch != parts.front()->symbols.end())
        mix.symbols.insert(*batch);
    mix.samples = 1;
    mix.tokens = Candidate::unknown;
    mix.time = nothing<Seconds>;
    mix.energy = nothing<Joules>;
    mix.power = nothing<Watts>;
    RelativeCost ratio{nothing<Ratio>, nothing<Ratio>, {}};
    double default_time = 0, default_energy = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const Candidate& part = *parts[i];
        const double samples = weights[i] / whole / part.samples;
        add(mix.time, part.time, samples);
        add(mix.energy, part.energy, samples);
        add(mix.power, part.power, samples * part.time.value.value());
        const double time_before = samples * part.time.value.value() / part.over_default.time.value.value();
        const double energy_before = samples * part.energy.value.value() / part.over_default.energy.value.value();
        add(ratio.time, part.over_default.time, time_before);
        add(ratio.energy, part.over_default.energy, energy_before);
        default_time += time_before;
        default_energy += energy_before;
        if (part.memory.value > mix.memory.value) mix.memory = part.memory;
        if (mix.overflow.empty()) mix.overflow = part.overflow;
        mix.lowest_clock_mhz = std::fmax(mix.lowest_clock_mhz, part.lowest_clock_mhz);
        mix.time_spread = std::fmax(mix.time_spread, part.time_spread);
        mix.energy_spread = std::fmax(mix.energy_spread, part.energy_spread);
        mix.real.sm_clock_mhz = std::fmin(mix.real.sm_clock_mhz, part.real.sm_clock_mhz);
        mix.lower_bound = mix.lower_bound || part.lower_bound;
        if (part.limited_by != mix.limited_by) mix.limited_by = "several";
    }
    const double time = mix.time.value.value();
    for (Watts Estimate<Watts>::* bound : {&Estimate<Watts>::value, &Estimate<Watts>::low, &Estimate<Watts>::high})
        mix.power.*bound = mix.power.*bound / time;
    for (Ratio Estimate<Ratio>::* bound : {&Estimate<Ratio>::value, &Estimate<Ratio>::low, &Estimate<Ratio>::high}) {
        ratio.time.*bound = ratio.time.*bound / default_time;
        ratio.energy.*bound = ratio.energy.*bound / default_energy;
    }
    mix.over_default = ratio;
    return mix;
}

}  // namespace

std::vector<Candidate> mixed(std::span<const std::vector<Candidate>> networks, std::span<const double> weights) {
    std::vector<std::map<Way, const Candidate*>> ways(networks.size());
    for (std::size_t i = 0; i < networks.size(); ++i) {
        for (const Candidate& candidate : networks[i]) ways[i].try_emplace(way_of(candidate), &candidate);
    }
    std::vector<Candidate> mix;
    for (const Candidate& first : networks.front()) {
        std::vector<const Candidate*> parts;
        for (const auto& of_network : ways) {
            const auto found = of_network.find(way_of(first));
            if (found != of_network.end()) parts.push_back(found->second);
        }
        if (parts.size() == networks.size()) mix.push_back(mixed_way(parts, weights));
    }
    return mix;
}

}  // namespace joulecast
