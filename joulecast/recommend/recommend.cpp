#include "joulecast/recommend/recommend.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/recommend/pareto.h"

namespace joulecast {
namespace {

using Run = std::tuple<const std::string&, const std::string&, Mode, const std::string&, MemoryFormat,
                       const std::map<std::string, std::int64_t>&>;

Run run_of(const Candidate& c) {
    return {c.asked.device, c.asked.engine, c.mode, c.precision, c.memory_format, c.symbols};
}

std::string broken_limits(const Candidate& candidate, const Goal& goal) {
    std::string names;
    for (const Held& held : held_limits(candidate, goal)) {
        if (held.value <= held.limit) continue;
        names += (names.empty() ? "" : ", ") + std::string(held.rule->name);
        if (std::isnan(held.value)) names += " (not known)";
    }
    return names;
}

void assess(Recommendation& r) {
    const Goal& goal = r.goal;
    for (const Candidate& candidate : r.candidates) {
        Assessment& assessment = r.assessments.emplace_back();
        assessment.value = per_sample(candidate, goal.objective, goal.prices);
        assessment.unfit = unfit(candidate);
        if (!assessment.unfit && !std::isfinite(assessment.value))
            assessment.unfit = {Unfit::Kind::objective,
                                "its " + std::string(rule(goal.objective).noun) + " is not known"};
        assessment.breaks = broken_limits(candidate, goal);
        if (assessment.feasible()) r.ranking.push_back(r.assessments.size() - 1);
    }
}

void refuse_what_nobody_knows(const Recommendation& r) {
    if (r.candidates.empty()) throw Error("nothing to choose from: no device was given");
    const bool any = std::ranges::any_of(r.assessments,
                                         [](const Assessment& assessment) { return std::isfinite(assessment.value); });
    if (any) return;
    const ObjectiveRule& wanted = rule(r.goal.objective);
    throw Error("no energy is known of " + r.candidates.front().asked.device +
                (r.candidates.size() > 1 ? " and the others" : "") + ", so its " + std::string(wanted.noun) +
                " cannot be minimised. Ask for --minimise time, or measure power (joulecast profile --require-energy)");
}

void choose_runner_up(Recommendation& r) {
    for (std::size_t i = 1; i < r.ranking.size(); ++i) {
        if (same_run(r.candidates[r.ranking[i]], r.answer())) continue;
        r.runner_up = r.ranking[i];
        return;
    }
    if (r.ranking.size() > 1) r.runner_up = r.ranking[1];
}

void find_defaults(Recommendation& r) {
    for (std::size_t i = 0; i < r.candidates.size(); ++i) {
        if (!r.candidates[i].is_default) continue;
        if (!r.first_default) r.first_default = i;
        if (!r.own_default && !r.empty() && same_run(r.candidates[i], r.answer())) r.own_default = i;
    }
}

}  // namespace

bool same_run(const Candidate& a, const Candidate& b) {
    return run_of(a) == run_of(b);
}

Recommendation recommend(std::vector<Candidate> candidates, const Goal& goal, const SharedErrors& errors) {
    Recommendation r;
    r.goal = goal;
    r.candidates = std::move(candidates);
    assess(r);
    refuse_what_nobody_knows(r);
    // Of equals the first: not stable_sort, whose temporary buffer libstdc++ deprecates.
    std::ranges::sort(r.ranking, {}, [&](std::size_t i) { return std::pair(r.assessments[i].value, i); });
    find_defaults(r);
    if (r.empty()) {
        std::vector<std::size_t> fit;
        for (std::size_t i = 0; i < r.assessments.size(); ++i) {
            if (!r.assessments[i].unfit) fit.push_back(i);
        }
        r.emptiness = why_empty(r.candidates, fit, goal);
        return r;
    }
    r.front = pareto_front(r.candidates, r.ranking);
    for (const std::size_t i : r.front) r.assessments[i].in_front = true;
    choose_runner_up(r);
    r.chance = chances(r.candidates, r.ranking, goal.objective, goal.prices, errors);
    for (std::size_t i = 0; i < r.ranking.size(); ++i) {
        r.assessments[r.ranking[i]].chance_best = r.chance.best[i];
        r.assessments[r.ranking[i]].chance_within = r.chance.near[i];
    }
    return r;
}

std::optional<ClockRange> equally_good_clocks(const Recommendation& r) {
    constexpr double as_good = 1.01;
    if (r.empty() || !std::isfinite(r.answer().asked.sm_clock_mhz)) return std::nullopt;
    std::map<double, bool> is_good;  // by clock
    for (std::size_t i = 0; i < r.candidates.size(); ++i) {
        const Candidate& c = r.candidates[i];
        const double limit = c.asked.power_limit_w, own = r.answer().asked.power_limit_w;
        const bool same_limit = limit == own || (std::isnan(limit) && std::isnan(own));
        if (!same_run(c, r.answer()) || !same_limit || !std::isfinite(c.asked.sm_clock_mhz)) continue;
        is_good[c.asked.sm_clock_mhz] =
            r.assessments[i].feasible() && r.assessments[i].value <= as_good * r.assessment().value;
    }
    auto low = is_good.find(r.answer().asked.sm_clock_mhz), high = low;
    while (low != is_good.begin() && std::prev(low)->second) --low;
    while (std::next(high) != is_good.end() && std::next(high)->second) ++high;
    if (low == high) return std::nullopt;
    return ClockRange{low->first, high->first};
}

std::vector<std::size_t> best_of_each_run(const Recommendation& recommendation) {
    std::set<Run> seen;
    std::vector<std::size_t> best;
    for (const std::size_t i : recommendation.ranking) {
        if (seen.insert(run_of(recommendation.candidates[i])).second) best.push_back(i);
    }
    return best;
}

}  // namespace joulecast
