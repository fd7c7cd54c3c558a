#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/json_tree.h"
#include "cli/known.h"
#include "cli/recommendation_text.h"
#include "cli/recommendation_words.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/recommend/apply.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {
namespace {

using Json = nlohmann::ordered_json;

Json job_json(const Candidate& c, const Goal& goal) {
    if (!goal.job) return nullptr;
    const JobCost job = job_cost(c, *goal.job, goal.prices);
    return {{"samples", goal.job->samples},       {"runs", job.runs},
            {"hours", number_or_null(job.hours)}, {"kwh", number_or_null(job.kwh)},
            {"price", number_or_null(job.price)}, {"carbon_g", number_or_null(job.carbon_g)}};
}

/// A candidate with what came of it.
Json candidate_json(const Recommendation& r, std::size_t index) {
    const Candidate& c = r.candidates[index];
    const Assessment& a = r.assessments[index];
    const SampleCost sample = sample_cost(c);
    Json values = Json::object();
    for (const ObjectiveRule& objective : objectives())
        values[std::string(objective.name)] = number_or_null(objective.per_sample(sample, r.goal.prices));
    return {{"device", c.asked.device},
            {"clock_mhz", number_or_null(c.asked.sm_clock_mhz)},
            {"real_clock_mhz", number_or_null(c.real.sm_clock_mhz)},
            {"memory_clock_mhz", number_or_null(c.real.memory_clock_mhz)},
            {"power_limit_w", number_or_null(c.asked.power_limit_w)},
            {"is_default", c.is_default},
            {"mode", name(c.mode)},
            {"precision", c.precision},
            {"memory_format", name(c.memory_format)},
            {"engine", c.asked.engine},
            {"host", name(c.asked.host)},
            {"threads", c.threads > 0 ? Json(c.threads) : Json(nullptr)},
            {"symbols", c.symbols},
            {"samples_per_run", c.samples},
            {"time_s", estimate_json(c.time)},
            {"energy_j", estimate_json(c.energy)},
            {"power_w", estimate_json(c.power)},
            {"memory_bytes", estimate_json(c.memory)},
            {"device_memory_bytes", number_or_null(c.device_memory)},
            {"per_sample", std::move(values)},
            {"tokens_per_s", number_or_null(c.tokens / c.time.value.value())},
            {"energy_per_token_j", number_or_null(c.energy.value.value() / c.tokens)},
            {"limited_by", c.limited_by},
            {"lower_bound", c.lower_bound},
            {"value", number_or_null(a.value)},
            {"feasible", a.feasible()},
            {"unfit", a.unfit ? a.unfit->reason : ""},
            {"breaks", a.breaks},
            {"pareto", a.in_front},
            {"time_over_default", estimate_json(c.over_default.time)},
            {"energy_over_default", estimate_json(c.over_default.energy)},
            {"chance_within_1_percent", a.feasible() ? number_or_null(a.chance_within) : Json(nullptr)},
            {"chance_best", a.feasible() ? number_or_null(a.chance_best) : Json(nullptr)},
            {"job", job_json(c, r.goal)}};
}

Json saving_json(const Recommendation& r, std::optional<std::size_t> other) {
    if (!other) return nullptr;
    const Candidate& against = r.candidates[*other];
    Json answer = Json::object();
    for (const ObjectiveRule& objective : objectives()) {
        const double of_other = objective.per_sample(sample_cost(against), r.goal.prices);
        if (!std::isfinite(of_other) || !(of_other > 0)) continue;
        const Saving less = saving(r.answer(), against, objective.objective, r.goal.prices);
        answer[std::string(objective.name)] = interval_json(less.value, less.low, less.high);
    }
    return answer;
}

Json limits_json(const Recommendation& r) {
    Json lines = Json::array();
    for (const LimitRule& rule : limit_rules()) {
        const auto& limit = r.goal.limits.*rule.limit;
        if (!limit) continue;
        Json line{{"limit", rule.name}, {"asked", *limit}, {"value", nullptr}, {"chance", nullptr}};
        if (!r.empty()) {
            const double value = rule.value(r.answer(), r.goal);
            line["value"] = number_or_null(value);
            for (const Held& held : held_limits(r.answer(), r.goal)) {
                if (held.rule == &rule) line["chance"] = number_or_null(held.chance);
            }
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

Json binding_json(const Recommendation& r) {
    if (!r.empty()) return nullptr;
    Json limits = Json::array();
    for (const Binding& binding : r.emptiness.binding) {
        limits.push_back({{"limit", binding.rule ? std::string(binding.rule->name) : "device_memory"},
                          {"asked", number_or_null(binding.limit)},
                          {"nearest", number_or_null(binding.nearest)},
                          {"excess", number_or_null(binding.excess())},
                          {"candidate", candidate_json(r, binding.candidate)}});
    }
    return {{"together", r.emptiness.together}, {"limits", std::move(limits)}};
}

Json places(const Recommendation& r, const std::vector<std::size_t>& indices) {
    Json candidates = Json::array();
    for (const std::size_t i : indices) candidates.push_back(candidate_json(r, i));
    return candidates;
}

Json goal_json(const Goal& q) {
    return {{"minimise", rule(q.objective).name},
            {"unit", rule(q.objective).unit},
            {"electricity_price_per_kwh", number_or_null(q.prices.electricity_per_kwh)},
            {"carbon_g_per_kwh", number_or_null(q.prices.carbon_g_per_kwh)},
            {"samples", q.job ? number_or_null(q.job->samples) : Json(nullptr)}};
}

Json to_json(const Answered& answered) {
    const Recommendation& r = answered.recommendation;
    const auto place = [&](const std::optional<std::size_t>& i) { return i ? candidate_json(r, *i) : Json(nullptr); };
    Json answer{{"model", answered.model},
                {"phase", answered.phase.empty() ? Json(nullptr) : Json(answered.phase)},
                {"sentence", sentence(answered)},
                {"question", goal_json(r.goal)},
                {"feasible", !r.empty()},
                {"limits", limits_json(r)},
                {"answer", nullptr},
                {"runner_up", place(r.runner_up)},
                {"default", place(r.own_default)},
                {"first_default", place(r.first_default)},
                {"saving", nullptr},
                {"saving_against_first", nullptr},
                {"chance_best", nullptr},
                {"chance_within_1_percent", nullptr},
                {"expected_excess", nullptr},
                {"equally_good_clocks_mhz", nullptr},
                {"command", nullptr},
                {"undo_command", nullptr},
                {"command_note", ""},
                {"run_with", nullptr},
                {"binding", binding_json(r)},
                {"best", places(r, best_of_each_run(r))},
                {"pareto_front", places(r, r.front)},
                {"predictors", answered.predictors},
                {"predictor_method", answered.method},
                {"notes", answered.notes},
                {"left_out", answered.left_out},
                {"unknown_operations", answered.unknown_operations}};
    if (!r.empty()) {
        const Device& device = answered.devices.at(r.answer().asked.device);
        const Application apply = how_to_apply(r.answer(), device);
        answer["answer"] = candidate_json(r, r.ranking.front());
        answer["saving"] = saving_json(r, r.own_default);
        answer["saving_against_first"] = saving_json(r, r.first_default);
        answer["chance_best"] = r.assessment().chance_best;
        answer["chance_within_1_percent"] = r.chance.within;
        answer["expected_excess"] = number_or_null(r.chance.expected_excess);
        if (const auto range = equally_good_clocks(r))
            answer["equally_good_clocks_mhz"] = {{"low", range->low_mhz}, {"high", range->high_mhz}};
        if (!apply.command.empty()) answer["command"] = apply.command;
        if (!apply.undo.empty()) answer["undo_command"] = apply.undo;
        answer["command_note"] = apply.note;
        if (const std::string run = how_to_run(r.answer(), device); !run.empty()) answer["run_with"] = run;
    }
    answer["candidates"] = Json::array();
    for (std::size_t i = 0; i < r.candidates.size(); ++i) answer["candidates"].push_back(candidate_json(r, i));
    return answer;
}

struct Row {
    const Answered* answered = nullptr;
    std::size_t index = 0;

    const Recommendation& r() const { return answered->recommendation; }
    const Candidate& c() const { return r().candidates[index]; }
    const Assessment& a() const { return r().assessments[index]; }
};

const std::vector<Column<Row>>& csv_columns() {
    static const std::vector<Column<Row>> list = {
        {"model", "", Show::text, [](const Row& x) { return x.answered->model; }},
        {"phase", "", Show::text, [](const Row& x) { return x.answered->phase; }},
        {"device", "", Show::text, [](const Row& x) { return x.c().asked.device; }},
        {"clock_mhz", "", Show::number, [](const Row& x) { return known(x.c().asked.sm_clock_mhz); }},
        {"real_clock_mhz", "", Show::number, [](const Row& x) { return known(x.c().real.sm_clock_mhz); }},
        {"power_limit_w", "", Show::watts, [](const Row& x) { return known(x.c().asked.power_limit_w); }},
        {"is_default", "", Show::text, [](const Row& x) { return x.c().is_default; }},
        {"mode", "", Show::text, [](const Row& x) { return std::string(name(x.c().mode)); }},
        {"precision", "", Show::text, [](const Row& x) { return x.c().precision; }},
        {"memory_format", "", Show::text, [](const Row& x) { return std::string(name(x.c().memory_format)); }},
        {"symbols", "", Show::text, [](const Row& x) { return values_text(x.c().symbols); }},
        {"samples_per_run", "", Show::number, [](const Row& x) { return x.c().samples; }},
        {"time_s", "", Show::seconds, [](const Row& x) { return known(x.c().time.value.value()); }},
        {"time_low_s", "", Show::seconds, [](const Row& x) { return known(x.c().time.low.value()); }},
        {"time_high_s", "", Show::seconds, [](const Row& x) { return known(x.c().time.high.value()); }},
        {"energy_j", "", Show::joules, [](const Row& x) { return known(x.c().energy.value.value()); }},
        {"energy_low_j", "", Show::joules, [](const Row& x) { return known(x.c().energy.low.value()); }},
        {"energy_high_j", "", Show::joules, [](const Row& x) { return known(x.c().energy.high.value()); }},
        {"power_w", "", Show::watts, [](const Row& x) { return known(x.c().power.value.value()); }},
        {"memory_bytes", "", Show::bytes, [](const Row& x) { return known(x.c().memory.value.value()); }},
        {"tokens_per_s", "", Show::number, [](const Row& x) { return known(x.c().tokens / x.c().time.value.value()); }},
        {"energy_per_token_j", "", Show::joules,
         [](const Row& x) { return known(x.c().energy.value.value() / x.c().tokens); }},
        {"objective", "", Show::text, [](const Row& x) { return std::string(rule(x.r().goal.objective).name); }},
        {"value", "", Show::number, [](const Row& x) { return known(x.a().value); }},
        {"limited_by", "", Show::text, [](const Row& x) { return x.c().limited_by; }},
        {"feasible", "", Show::text, [](const Row& x) { return x.a().feasible(); }},
        {"unfit", "", Show::text, [](const Row& x) { return x.a().unfit ? x.a().unfit->reason : std::string(); }},
        {"breaks", "", Show::text, [](const Row& x) { return x.a().breaks; }},
        {"pareto", "", Show::text, [](const Row& x) { return x.a().in_front; }},
        {"chance_best", "", Show::number,
         [](const Row& x) { return x.a().feasible() ? Cell(x.a().chance_best) : Cell(); }},
        {"answer", "", Show::text, [](const Row& x) { return !x.r().empty() && x.r().ranking.front() == x.index; }},
        {"engine", "", Show::text, [](const Row& x) { return x.c().asked.engine; }},
        {"host", "", Show::text, [](const Row& x) { return std::string(name(x.c().asked.host)); }},
        {"threads", "", Show::count, [](const Row& x) { return x.c().threads > 0 ? Cell(x.c().threads) : Cell(); }},
    };
    return list;
}

}  // namespace

Json recommendations_json(const std::vector<Answered>& phases) {
    Json answer{{"schema", "joulecast.recommendation/1"}};
    answer.update(to_json(phases.front()));
    const auto decode_of = [&](const Answered& network) -> const Answered* {
        const auto found = std::ranges::find_if(
            phases, [&](const Answered& phase) { return &phase != &network && phase.network == network.network; });
        return found == phases.end() ? nullptr : &*found;
    };
    if (const Answered* decode = decode_of(phases.front())) answer["decode"] = to_json(*decode);
    if (std::ranges::all_of(phases, [](const Answered& phase) { return phase.network == 0; })) return answer;
    answer["networks"] = Json::array();
    std::set<std::size_t> written;
    const bool has_mix = phases.front().network > 0;
    for (std::size_t i = has_mix ? 1 : 0; i < phases.size(); ++i) {
        if (!written.insert(phases[i].network).second) continue;
        answer["networks"].push_back(to_json(phases[i]));
        if (const Answered* decode = decode_of(phases[i])) answer["networks"].back()["decode"] = to_json(*decode);
    }
    return answer;
}

std::string recommendations_to_csv(const std::vector<Answered>& phases) {
    std::vector<Row> rows;
    for (const Answered& phase : phases) {
        for (std::size_t i = 0; i < phase.recommendation.candidates.size(); ++i) rows.push_back({&phase, i});
    }
    return to_csv(fill(csv_columns(), rows));
}

}  // namespace joulecast::cli
