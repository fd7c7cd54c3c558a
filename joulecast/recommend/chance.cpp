#include "joulecast/recommend/chance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <tuple>
#include <utility>

#include "joulecast/learn/random.h"
#include "joulecast/recommend/limit.h"

namespace joulecast {
namespace {

constexpr double most_values = 4e6;
constexpr std::size_t fewest_draws = 200;

/// Two standard normal numbers (Box and Muller 1958).
std::array<double, 2> normal_pair(Random& random) {
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    const double angle = 2 * std::numbers::pi * random.uniform();
    return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// What the errors of one candidate are made of.
struct Parts {
    std::size_t device = 0;  ///< place of its device's and its group's draws
    std::size_t group = 0;
    double level_time = 0;  ///< standard deviations, of the level and, signed, of the tilt at its clock
    double level_energy = 0;
    double tilt_time = 0;
    double tilt_energy = 0;
    double agreement = 0;  ///< correlation of the errors of time and energy
    double device_weight = 0;
    double group_weight = 0;
    SampleCost cost;
};

double agreement_of(double time, double energy, double power) {
    if (time <= 0 || energy <= 0) return 0;
    return std::clamp((time * time + energy * energy - power * power) / (2 * time * energy), -1.0, 1.0);
}

/// Logarithm of the clock over the reference clock; 0 where clocks are not known.
double distance_of(const Candidate& candidate) {
    const double ratio = candidate.real.sm_clock_mhz / candidate.reference_clock_mhz;
    return std::isfinite(ratio) && ratio > 0 ? std::log(ratio) : 0.0;
}

/// The two parts of a standard deviation: level and signed tilt.
std::pair<double, double> split(double sigma, double spread, double distance) {
    const double tilt = std::clamp(spread * distance, -sigma, sigma);
    return {std::sqrt(sigma * sigma - tilt * tilt), tilt};
}

double known_or(double value, double otherwise) {
    return std::isfinite(value) ? value : otherwise;
}

class Errors {
  public:
    Errors(std::span<const Candidate> candidates, std::span<const std::size_t> among, const SharedErrors& shared)
        : shared_(shared) {
        for (const std::size_t index : among) add(candidates[index]);
    }

    const std::vector<Parts>& parts() const { return parts_; }

    /// New errors for everything.
    void draw(Random& random) {
        for (auto& level : devices_) level = normal_pair(random);
        for (auto& group : groups_) group = {normal_pair(random), normal_pair(random)};
    }

    /// What a sample costs with the errors drawn.
    SampleCost erring(const Parts& p) const {
        const auto& device = devices_[p.device];
        const auto& [level, tilt] = groups_[p.group];
        const double time = p.device_weight * device[0] + p.group_weight * level[0];
        const double own = p.device_weight * device[1] + p.group_weight * level[1];
        const double rest = std::sqrt(1 - p.agreement * p.agreement);
        SampleCost cost = p.cost;
        cost.time_s *= std::exp(p.level_time * time + p.tilt_time * tilt[0]);
        cost.energy_j *= std::exp(p.level_energy * (p.agreement * time + rest * own) +
                                  p.tilt_energy * (p.agreement * tilt[0] + rest * tilt[1]));
        return cost;
    }

  private:
    struct Group {
        std::array<double, 2> level{};
        std::array<double, 2> tilt{};
    };
    using Run =
        std::tuple<std::string, std::string, Mode, std::string, MemoryFormat, std::map<std::string, std::int64_t>>;

    void add(const Candidate& c) {
        Parts p;
        const double time = sigma_of(c.time), energy = sigma_of(c.energy);
        p.agreement = agreement_of(time, energy, sigma_of(c.power));
        const double distance = distance_of(c);
        std::tie(p.level_time, p.tilt_time) = split(time, known_or(c.time_spread, shared_.time_spread), distance);
        std::tie(p.level_energy, p.tilt_energy) =
            split(energy, known_or(c.energy_spread, shared_.energy_spread), distance);
        p.device_weight = std::sqrt(shared_.device_share);
        p.group_weight = std::sqrt(1 - shared_.device_share);
        p.device = place(device_places_, c.asked.device);
        p.group =
            place(group_places_, Run{c.asked.device, c.asked.engine, c.mode, c.precision, c.memory_format, c.symbols});
        devices_.resize(device_places_.size());
        groups_.resize(group_places_.size());
        p.cost = sample_cost(c);
        parts_.push_back(p);
    }

    template <class Key>
    static std::size_t place(std::map<Key, std::size_t>& places, const Key& key) {
        return places.try_emplace(key, places.size()).first->second;
    }

    SharedErrors shared_;
    std::map<std::string, std::size_t> device_places_;
    std::map<Run, std::size_t> group_places_;
    std::vector<std::array<double, 2>> devices_;
    std::vector<Group> groups_;
    std::vector<Parts> parts_;
};

}  // namespace

Chances chances(std::span<const Candidate> candidates, std::span<const std::size_t> among, Objective objective,
                const Prices& prices, const SharedErrors& shared) {
    constexpr double near = 1.01;
    Errors errors(candidates, among, shared);
    Random random(shared.seed);
    const auto affordable = static_cast<std::size_t>(most_values / static_cast<double>(among.size()));
    Chances result;
    result.draws = std::min(shared.draws, std::max(affordable, fewest_draws));
    result.best.assign(among.size(), 0);
    result.near.assign(among.size(), 0);
    std::vector<double> values(among.size());
    const auto value_of = rule(objective).per_sample;
    const double share = 1 / static_cast<double>(result.draws);
    for (std::size_t draw = 0; draw < result.draws; ++draw) {
        errors.draw(random);
        std::size_t best = 0;
        for (std::size_t i = 0; i < among.size(); ++i) {
            values[i] = value_of(errors.erring(errors.parts()[i]), prices);
            if (values[i] < values[best]) best = i;
        }
        result.best[best] += share;
        for (std::size_t i = 0; i < among.size(); ++i) {
            if (values[i] <= near * values[best]) result.near[i] += share;
        }
        result.expected_excess += share * (values.front() / values[best] - 1);
    }
    result.within = result.near.front();
    return result;
}

Saving saving(const Candidate& chosen, const Candidate& other, Objective objective, const Prices& prices,
              const SharedErrors& shared) {
    const std::array both{chosen, other};
    constexpr std::array<std::size_t, 2> among{0, 1};
    Errors errors(both, among, shared);
    Random random(shared.seed);
    const auto value_of = rule(objective).per_sample;
    std::vector<double> drawn;
    for (std::size_t draw = 0; draw < std::max(shared.draws, fewest_draws); ++draw) {
        errors.draw(random);
        drawn.push_back(1 - value_of(errors.erring(errors.parts()[0]), prices) /
                                value_of(errors.erring(errors.parts()[1]), prices));
    }
    std::ranges::sort(drawn);
    const auto quantile = [&](double q) {
        return drawn[static_cast<std::size_t>(q * static_cast<double>(drawn.size() - 1))];
    };
    return {1 - per_sample(chosen, objective, prices) / per_sample(other, objective, prices), quantile(0.05),
            quantile(0.95)};
}

}  // namespace joulecast
