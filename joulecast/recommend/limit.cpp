#include "joulecast/recommend/limit.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

namespace joulecast {
namespace {

double limited_price(const Candidate& candidate, const Goal& goal) {
    if (goal.job) return job_cost(candidate, *goal.job, goal.prices).price;
    return per_sample(candidate, Objective::price, goal.prices);
}

double limited_job(const Candidate& candidate, const Goal& goal) {
    if (!goal.job) return Candidate::unknown;
    return job_cost(candidate, *goal.job, goal.prices).hours * seconds_per_hour;
}

/// A price adds what goes with time to what goes with energy: the wider of the two stands for it.
double price_sigma(const Candidate& c) {
    return std::max(sigma_of(c.time), sigma_of(c.energy));
}

constexpr std::array rules_of_limits{
    LimitRule{"time", "--max-time", &Limits::time_s,
              [](const Candidate& c, const Goal&) { return c.time.value.value(); },
              [](const Candidate& c) { return sigma_of(c.time); }},
    LimitRule{"power", "--max-power", &Limits::power_w,
              [](const Candidate& c, const Goal&) { return c.power.value.value(); },
              [](const Candidate& c) { return sigma_of(c.power); }},
    LimitRule{"memory", "--max-memory", &Limits::memory_bytes,
              [](const Candidate& c, const Goal&) { return c.memory.value.value(); },
              [](const Candidate& c) { return sigma_of(c.memory); }},
    LimitRule{"price", "--max-price", &Limits::price, limited_price, price_sigma},
    LimitRule{"hours", "--max-hours", &Limits::job_s, limited_job, [](const Candidate& c) { return sigma_of(c.time); }},
    LimitRule{"slowdown", "--max-slowdown", &Limits::time_ratio,
              [](const Candidate& c, const Goal&) { return c.over_default.time.value.value(); },
              [](const Candidate& c) { return sigma_of(c.over_default.time); }},
    LimitRule{"energy", "--max-energy", &Limits::energy_ratio,
              [](const Candidate& c, const Goal&) { return c.over_default.energy.value.value(); },
              [](const Candidate& c) { return sigma_of(c.over_default.energy); }},
};

/// The chance that a log-normal value stays below the limit.
double chance_below(double value, double limit, double sigma) {
    if (std::isnan(value)) return Candidate::unknown;
    if (!(sigma > 0)) return value <= limit ? 1.0 : 0.0;
    return 0.5 * std::erfc(-std::log(limit / value) / (sigma * std::sqrt(2.0)));
}

std::string megahertz(double value) {
    char text[48];
    std::snprintf(text, sizeof text, "%.0f MHz", value);
    return text;
}

std::string gigabytes(double value) {
    char text[48];
    std::snprintf(text, sizeof text, "%.3g GB", value / 1e9);
    return text;
}

bool lacks_memory(const Candidate& c) {
    return c.memory.value.value() > c.device_memory;
}

double worst_excess(std::span<const Held> held) {
    double worst = -std::numeric_limits<double>::infinity();
    for (const Held& bound : held) {
        if (std::isnan(bound.value)) return std::numeric_limits<double>::infinity();
        worst = std::max(worst, bound.value / bound.limit - 1);
    }
    return worst;
}

/// The candidate that needs the smallest share of its device's memory.
Emptiness nothing_fits(std::span<const Candidate> candidates) {
    Emptiness why;
    Binding least;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const Candidate& c = candidates[i];
        if (!lacks_memory(c)) continue;
        const Binding binding{nullptr, c.device_memory, c.memory.value.value(), i};
        if (least.limit <= 0 || binding.excess() < least.excess()) least = binding;
    }
    if (least.limit > 0) why.binding.push_back(least);
    return why;
}

/// The limit's nearest candidate among those that may be taken; absent where nobody knows its value of any.
std::optional<Binding> nearest(const LimitRule& rule, std::span<const Candidate> candidates,
                               std::span<const std::size_t> fit, const Goal& goal) {
    std::optional<Binding> best;
    for (const std::size_t i : fit) {
        const double value = rule.value(candidates[i], goal);
        if (std::isnan(value)) continue;
        if (!best || value < best->nearest) best = Binding{&rule, *(goal.limits.*rule.limit), value, i};
    }
    return best;
}

}  // namespace

double Job::runs(double samples_per_run) const {
    return std::ceil(samples / samples_per_run);
}

JobCost job_cost(const Candidate& candidate, const Job& job, const Prices& prices) {
    JobCost cost;
    cost.runs = job.runs(candidate.samples);
    const double seconds = cost.runs * candidate.time.value.value();
    const double joules = cost.runs * candidate.energy.value.value();
    cost.hours = seconds / seconds_per_hour;
    cost.kwh = joules / joules_per_kwh;
    const SampleCost whole{seconds, joules, candidate.device_per_hour};
    cost.price = rule(Objective::price).per_sample(whole, prices);
    cost.carbon_g = rule(Objective::carbon).per_sample(whole, prices);
    return cost;
}

std::span<const LimitRule> limit_rules() {
    return rules_of_limits;
}

std::vector<Held> held_limits(const Candidate& candidate, const Goal& goal) {
    std::vector<Held> held;
    for (const LimitRule& rule : rules_of_limits) {
        const auto& limit = goal.limits.*rule.limit;
        if (!limit) continue;
        const double value = rule.value(candidate, goal);
        held.push_back({&rule, *limit, value, chance_below(value, *limit, rule.sigma(candidate))});
    }
    return held;
}

std::optional<Unfit> unfit(const Candidate& candidate) {
    if (lacks_memory(candidate)) {
        const std::string most = "needs " + gigabytes(candidate.memory.value.value()) + " of the device's " +
                                 gigabytes(candidate.device_memory);
        return Unfit{Unfit::Kind::memory, candidate.overflow.empty() ? most : candidate.overflow};
    }
    const double clock = candidate.real.sm_clock_mhz;
    if (!candidate.is_default && clock < candidate.lowest_clock_mhz)
        return Unfit{Unfit::Kind::clock, "runs at " + megahertz(clock) + ", below the " +
                                             megahertz(candidate.lowest_clock_mhz) +
                                             " down to which clocks are chosen"};
    return std::nullopt;
}

Emptiness why_empty(std::span<const Candidate> candidates, std::span<const std::size_t> fit, const Goal& goal) {
    if (fit.empty()) return nothing_fits(candidates);
    Emptiness why;
    for (const LimitRule& rule : rules_of_limits) {
        if (!(goal.limits.*rule.limit)) continue;
        const auto least = nearest(rule, candidates, fit, goal);
        if (least && least->excess() > 0) why.binding.push_back(*least);
    }
    if (!why.binding.empty()) return why;
    why.together = true;
    double smallest = std::numeric_limits<double>::infinity();
    for (const std::size_t i : fit) {
        const auto held = held_limits(candidates[i], goal);
        const double worst = worst_excess(held);
        if (!(worst > 0 && worst < smallest)) continue;
        smallest = worst;
        why.binding.clear();
        for (const Held& bound : held) {
            if (bound.value > bound.limit) why.binding.push_back({bound.rule, bound.limit, bound.value, i});
        }
    }
    return why;
}

}  // namespace joulecast
