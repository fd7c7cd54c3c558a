#include "cli/recommendation_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <sstream>

#include "cli/fitted_table.h"
#include "cli/host_bound.h"
#include "cli/known.h"
#include "cli/prose.h"
#include "cli/recommendation_words.h"
#include "cli/settings.h"
#include "joulecast/device/engine.h"
#include "joulecast/forecast/forecast.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/recommend/apply.h"
#include "joulecast/report/sparkline.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {
namespace {

const ObjectiveRule& asked_for(const Recommendation& r) {
    return rule(r.goal.objective);
}

/// "21.0 % less", "4.2 % more".
std::string by_how_much(double share) {
    const std::string text = show(std::abs(share), Show::percent);
    return text + (share < 0 ? " less" : " more");
}

std::string saving_interval(const Saving& saving) {
    return " (90 % interval: " + show(saving.low, Show::percent) + " to " + show(saving.high, Show::percent) + ")";
}

Saving saving_of(const Recommendation& r, std::size_t other) {
    return saving(r.answer(), r.candidates[other], r.goal.objective, r.goal.prices);
}

double time_change(const Recommendation& r, std::size_t other) {
    return sample_cost(r.answer()).time_s / sample_cost(r.candidates[other]).time_s - 1;
}

/// "21.0 % less than at its default clock of 1410 MHz (90 %: 18 – 24 %), for 7.0 % more time"
std::string against_default(const Recommendation& r) {
    if (!r.own_default) return "";
    if (*r.own_default == r.ranking.front()) return ". These are its default settings";
    const Saving less = saving_of(r, *r.own_default);
    std::string text = ". That is " + by_how_much(-less.value) + " than at " +
                       setting_words(r.candidates[*r.own_default]) + saving_interval(less);
    if (r.goal.objective != Objective::time) text += ", in " + by_how_much(time_change(r, *r.own_default)) + " time";
    return text;
}

/// Against what was named first, where that is another run.
std::string against_first(const Recommendation& r) {
    if (!r.first_default || same_run(r.answer(), r.candidates[*r.first_default])) return "";
    const Candidate& first = r.candidates[*r.first_default];
    const Saving less = saving_of(r, *r.first_default);
    if (!std::isfinite(less.value)) return "";
    return ". It is " + by_how_much(-less.value) + " than " + first.asked.device + " at default settings with " +
           run_words(first);
}

std::string runner_up_words(const Recommendation& r) {
    if (!r.runner_up) return ". There is no runner-up";
    const Candidate& c = r.candidates[*r.runner_up];
    const double more = r.assessments[*r.runner_up].value / r.assessment().value - 1;
    std::string what = setting_words(c);
    if (!same_run(c, r.answer())) what = c.asked.device + " at " + what + " with " + run_words(c);
    return ". Runner-up: " + what + ", " + by_how_much(more);
}

std::string chance_words(const Recommendation& r) {
    std::string text;
    if (const auto range = equally_good_clocks(r))
        text = ". Clocks of " + show(range->low_mhz, Show::count) + " to " + show(range->high_mhz, Show::count) +
               " MHz are as good (within 1 %)";
    return text + ". Chance to be within 1 % of the best of " + std::to_string(r.ranking.size()) +
           " settings: " + show(r.chance.within, Show::percent);
}

/// How sure each limit is held.
std::string risk_words(const Recommendation& r) {
    std::string text;
    for (const Held& held : held_limits(r.answer(), r.goal)) {
        const bool is_share = held.rule->name == "slowdown" || held.rule->name == "energy";
        if (is_share && held.value <= 1 && held.limit >= 1) continue;  // no risk that anybody asks about
        text += "The limit on " + std::string(held.rule->name) + " of " + limit_words(*held.rule, held.limit, r.goal) +
                " is met: " + limit_words(*held.rule, held.value, r.goal) + ", with a chance of " +
                show(held.chance, Show::percent) + ".\n";
    }
    return text;
}

/// "Asked: least energy a sample, at most 10.0 % more time than at default settings."
std::string asked_words(const Answered& answered) {
    const Recommendation& r = answered.recommendation;
    std::string text = "Asked: least " + std::string(asked_for(r).noun) + " a sample";
    if (answered.slowdown_is_usual)
        text += ", at most 10 % more time than at default settings (change with --minimise, --max-slowdown)";
    return text + ".";
}

std::string job_words(const Recommendation& r) {
    if (!r.goal.job) return "";
    const JobCost job = job_cost(r.answer(), *r.goal.job, r.goal.prices);
    std::string text = "The job of " + show(r.goal.job->samples, Show::number) + " samples takes " +
                       show(job.hours, Show::number) + " h";
    if (std::isfinite(job.kwh)) text += ", " + show(job.kwh, Show::number) + " kWh";
    if (std::isfinite(job.price)) text += ", a price of " + show(job.price, Show::number);
    if (std::isfinite(job.carbon_g)) text += ", " + show(job.carbon_g / 1000, Show::number) + " kg of CO2";
    return text + ".\n";
}

std::string token_words(const Recommendation& r) {
    const Candidate& c = r.answer();
    if (!std::isfinite(c.tokens)) return "";
    std::string text = show(c.tokens / c.time.value.value(), Show::number) + " tokens/s";
    if (c.energy.known()) text += ", " + show(c.energy.value.value() / c.tokens, Show::joules) + " a token";
    return text + ".\n";
}

std::string command_words(const Answered& answered) {
    const Candidate& c = answered.recommendation.answer();
    const Device& device = answered.devices.at(c.asked.device);
    const Application apply = how_to_apply(c, device);
    const std::string run = how_to_run(c, device);
    std::string text = run.empty() ? "" : "Run it: " + run + "\n";
    if (apply.command.empty()) return text + "Set it: " + apply.note + ".\n";
    text += "Set it: " + apply.command + "   (" + apply.note + ")\n";
    if (!apply.undo.empty()) text += "Undo it: " + apply.undo + "\n";
    return text;
}

struct Line {
    const Recommendation* r = nullptr;
    std::size_t index = 0;
    std::string role;

    const Candidate& candidate() const { return r->candidates[index]; }
    const Assessment& assessment() const { return r->assessments[index]; }
};

/// "+2.6 %": over the default settings.
std::string change_text(const Estimate<Ratio>& ratio) {
    if (!ratio.known()) return "–";
    const double more = ratio.value.value() - 1;
    return (more < 0 ? "-" : "+") + show(std::abs(more), Show::percent);
}

Cell clock_cell(double mhz) {
    return std::isfinite(mhz) ? Cell(std::round(mhz)) : Cell();
}

std::string bound_words(const std::string& limited_by) {
    return limited_by == "power_cap" ? "power limit" : limited_by;
}

std::vector<Column<Line>> table_columns(const Recommendation& r) {
    std::vector<Column<Line>> list = {
        {"role", "", Show::text, [](const Line& l) { return l.role; }},
        {"device", "device", Show::text, [](const Line& l) { return l.candidate().asked.device; }},
        {"sizes", "sizes", Show::text, [](const Line& l) { return values_text(l.candidate().symbols); }},
        {"precision", "precision", Show::text, [](const Line& l) { return l.candidate().precision; }},
        {"mode", "mode", Show::text, [](const Line& l) { return std::string(name(l.candidate().mode)); }},
        {"clock", "MHz", Show::count, [](const Line& l) { return clock_cell(l.candidate().asked.sm_clock_mhz); }},
        {"real", "runs at", Show::count, [](const Line& l) { return clock_cell(l.candidate().real.sm_clock_mhz); }},
        {"limit", "limit", Show::watts, [](const Line& l) { return known(l.candidate().asked.power_limit_w); }},
        {"time", "time a run", Show::seconds, [](const Line& l) { return known(l.candidate().time.value.value()); }},
        {"sample_time", "a sample", Show::seconds,
         [](const Line& l) { return known(sample_cost(l.candidate()).time_s); }},
        {"slowdown", "time", Show::text, [](const Line& l) { return change_text(l.candidate().over_default.time); }},
        {"energy", "energy a sample", Show::joules,
         [](const Line& l) { return known(sample_cost(l.candidate()).energy_j); }},
        {"saving", "energy", Show::text, [](const Line& l) { return change_text(l.candidate().over_default.energy); }},
        {"power", "power", Show::watts, [](const Line& l) { return known(l.candidate().power.value.value()); }},
        {"memory", "memory", Show::bytes, [](const Line& l) { return known(l.candidate().memory.value.value()); }},
    };
    const auto is_usual = [](const Candidate& c) { return is_torch(c.asked.engine); };
    if (!std::ranges::all_of(r.candidates, is_usual)) {
        const auto mode = std::ranges::find(list, "mode", &Column<Line>::key);
        list.insert(mode, {"engine", "engine", Show::text, [](const Line& l) { return l.candidate().asked.engine; }});
    }
    const auto is_contiguous = [](const Candidate& c) { return c.memory_format == MemoryFormat::contiguous; };
    if (!std::ranges::all_of(r.candidates, is_contiguous)) {
        const auto mode = std::ranges::find(list, "mode", &Column<Line>::key);
        list.insert(mode, {"memory_format", "images", Show::text,
                           [](const Line& l) { return std::string(name(l.candidate().memory_format)); }});
    }
    const Objective objective = r.goal.objective;
    if (objective != Objective::energy && objective != Objective::time) {
        list.push_back({"value", std::string(asked_for(r).name), Show::text,
                        [objective](const Line& l) { return value_words(objective, l.assessment().value); }});
    }
    if (std::isfinite(r.candidates.front().tokens)) {
        list.push_back({"tokens", "tokens/s", Show::number,
                        [](const Line& l) { return known(l.candidate().tokens / l.candidate().time.value.value()); }});
        list.push_back({"token", "a token", Show::joules, [](const Line& l) {
                            return known(l.candidate().energy.value.value() / l.candidate().tokens);
                        }});
    }
    list.push_back(
        {"limited_by", "limited by", Show::text, [](const Line& l) { return bound_words(l.candidate().limited_by); }});
    list.push_back({"chance", "within 1 %", Show::percent, [](const Line& l) {
                        return l.assessment().feasible() ? Cell(l.assessment().chance_within) : Cell();
                    }});
    return list;
}

/// In the width of the terminal, below what all rows have in common.
std::string table_text(const Recommendation& r, const std::vector<Line>& lines, const TextSettings& settings) {
    static const std::array<AlikeColumn, 8> identity{{{"device"},
                                                      {"sizes"},
                                                      {"mode"},
                                                      {"precision", true},
                                                      {"memory_format", true},
                                                      {"engine", true},
                                                      {"limit", true},
                                                      {"role"}}};
    static const std::vector<std::string> least_needed{"real",  "memory", "power",       "time",   "limited_by",
                                                       "limit", "chance", "sample_time", "energy", "mode"};
    Table table = fill(table_columns(r), lines);
    const bool is_reached = std::ranges::all_of(lines, [](const Line& l) {
        return std::abs(l.candidate().asked.sm_clock_mhz - l.candidate().real.sm_clock_mhz) < 0.5;
    });
    if (is_reached) table = fitted(std::move(table), std::vector<std::string>{"real"}, 0);
    const std::string alike = take_alike(table, identity);
    const std::size_t width = settings.verbose ? std::string::npos : settings.terminal.width;
    return (alike.empty() ? "" : alike + "\n") + joulecast::to_text(fitted(std::move(table), least_needed, width));
}

std::string role_of(const Recommendation& r, std::size_t i) {
    if (i == r.ranking.front()) return "answer";
    if (r.runner_up == i) return "runner-up";
    if (r.own_default == i) return "its default";
    if (r.first_default == i) return "named first";
    return "";
}

/// The best of every run, the answer first, and what the answer is held against.
std::vector<Line> best_few(const Recommendation& r, bool verbose) {
    const std::size_t shown = verbose ? r.ranking.size() : 5;
    std::vector<std::size_t> order = best_of_each_run(r);
    if (order.size() > shown) order.resize(shown);
    for (const auto& extra : {r.runner_up, r.own_default, r.first_default}) {
        if (extra && std::ranges::find(order, *extra) == order.end()) order.push_back(*extra);
    }
    std::vector<Line> lines;
    for (const std::size_t i : order) lines.push_back({&r, i, role_of(r, i)});
    return lines;
}

std::vector<HostBound> host_bound(const std::vector<Line>& lines) {
    std::vector<HostBound> runs;
    for (const Line& line : lines) {
        const Candidate& c = line.candidate();
        if (c.limited_by == name(Bound::host)) runs.push_back({c.asked.device, c.asked.host, c.guessed_host_pace});
    }
    return runs;
}

/// Evenly over the front, with both ends.
std::vector<Line> front_lines(const Recommendation& r, bool verbose) {
    const std::size_t shown = verbose ? r.front.size() : 5;
    std::vector<Line> lines;
    const std::size_t count = std::min(shown, r.front.size());
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t place = count < 2 ? 0 : i * (r.front.size() - 1) / (count - 1);
        lines.push_back({&r, r.front[place], role_of(r, r.front[place])});
    }
    return lines;
}

/// The objective over the clocks of the answer's run, lowest clock first.
std::string curve_words(const Recommendation& r, const Terminal& terminal) {
    std::map<double, double> by_clock;
    for (std::size_t i = 0; i < r.candidates.size(); ++i) {
        const Candidate& c = r.candidates[i];
        if (!same_run(c, r.answer()) || std::isfinite(c.asked.power_limit_w)) continue;
        if (std::isfinite(c.asked.sm_clock_mhz) && std::isfinite(r.assessments[i].value))
            by_clock[c.asked.sm_clock_mhz] = r.assessments[i].value;
    }
    if (by_clock.size() < 4 || !terminal.utf8) return "";
    std::vector<double> values;
    for (const auto& [clock, value] : by_clock) values.push_back(value);
    const auto [least, most] = std::ranges::minmax(values);
    constexpr std::size_t words_beside = 58;
    const std::size_t width =
        std::clamp<std::size_t>(terminal.width, words_beside + 8, words_beside + 60) - words_beside;
    return std::string(asked_for(r).name) + " over " + show(by_clock.begin()->first, Show::count) + " – " +
           show(by_clock.rbegin()->first, Show::count) + " MHz  " + sparkline(values, width) + "  " +
           value_words(r.goal.objective, least) + " – " + value_words(r.goal.objective, most) + "\n";
}

/// What was not in the search, by reason.
std::string unfit_words(const Recommendation& r) {
    std::map<Unfit::Kind, std::size_t> skipped;
    std::size_t outside = 0;
    std::string example;  // the first that does not fit into memory
    for (std::size_t i = 0; i < r.candidates.size(); ++i) {
        const Assessment& assessment = r.assessments[i];
        if (!assessment.unfit) {
            outside += assessment.breaks.empty() ? 0 : 1;
            continue;
        }
        ++skipped[assessment.unfit->kind];
        if (assessment.unfit->kind == Unfit::Kind::memory && example.empty())
            example =
                r.candidates[i].asked.device + " with " + run_words(r.candidates[i]) + " " + assessment.unfit->reason;
    }
    std::vector<std::string> parts;
    const auto add = [&](std::size_t count, const std::string& what) {
        if (count > 0) parts.push_back(std::to_string(count) + " " + what);
    };
    add(skipped[Unfit::Kind::memory], "need too much memory (" + example + ")");
    add(skipped[Unfit::Kind::clock], "have a clock so low that the voltage falls no further");
    add(skipped[Unfit::Kind::objective], "have an unknown " + std::string(asked_for(r).noun));
    add(outside, "are over a limit");
    if (parts.empty()) return "";
    return std::to_string(r.candidates.size()) + " settings tried; skipped: " + joined(parts) + "\n";
}

/// Each sentence of the text in lines of the terminal's width.
std::string sentences_text(const std::string& text, const TextSettings& settings) {
    std::string page;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find(". ", start), text.size() - 1);
        page += wrapped(std::string_view(text).substr(start, end + 1 - start), settings.terminal.width, "  ") + '\n';
        start = end + 2;
    }
    return page;
}

std::string to_text(const Answered& answered, const TextSettings& settings) {
    const Recommendation& r = answered.recommendation;
    if (r.empty()) return wrapped(unfit_words(r), settings.terminal.width, "  ") + "\n";  // why is an error's text
    std::string text = wrapped(asked_words(answered), settings.terminal.width, "  ") + "\n";
    text += sentences_text(sentence(answered), settings);
    text += command_words(answered) + token_words(r) + job_words(r);
    std::istringstream risks(risk_words(r));
    for (std::string risk; std::getline(risks, risk);) text += wrapped(risk, settings.terminal.width, "  ") + "\n";
    if (const std::string curve = curve_words(r, settings.terminal); !curve.empty())
        text += "\n" + coloured(curve, settings.terminal);
    const std::vector<Line> lines = best_few(r, settings.verbose);
    text += "\n" + table_text(r, lines, settings);
    if (r.front.size() > 1) {
        const std::size_t shown = front_lines(r, settings.verbose).size();
        text += "\nPareto front of time and energy per sample (" +
                (shown < r.front.size() ? std::to_string(shown) + " of " : "") + std::to_string(r.front.size()) +
                " settings" + (shown < r.front.size() ? "; all: -v" : "") + ")\n" +
                table_text(r, front_lines(r, settings.verbose), settings);
    }
    if (const std::string host = host_bound_words(host_bound(lines)); !host.empty())
        text += wrapped(host, settings.terminal.width, "  ") + "\n";
    text += "time and energy in %: over the same run at default settings\n";
    if (const std::string skipped = unfit_words(r); !skipped.empty())
        text += wrapped(skipped, settings.terminal.width, "  ") + "\n";
    if (settings.verbose)
        text += "predictor " + joined(answered.predictors) +
                "; memory = weights + inputs + peak activations, on a GPU as PyTorch's allocator takes it\n";
    return text;
}

}  // namespace

std::string sentence(const Answered& answered) {
    const Recommendation& r = answered.recommendation;
    if (r.empty()) return why_nothing(answered);
    const Candidate& c = r.answer();
    return "Run " + answered.model + (answered.phase.empty() ? "" : " (" + answered.phase + ")") + " on " +
           c.asked.device + " at " + setting_words(c) + " with " + run_words(c) + ": " +
           cost_words(r.goal.objective, r.assessment().value, c) + against_default(r) + against_first(r) +
           runner_up_words(r) + chance_words(r) + ".";
}

std::string why_nothing(const Answered& answered) {
    const Recommendation& r = answered.recommendation;
    std::string text = answered.model + (answered.phase.empty() ? "" : " (" + answered.phase + ")") + ": nothing of " +
                       std::to_string(r.candidates.size()) + " settings ";
    if (r.emptiness.binding.empty())
        return text + "may be taken: " +
               (r.assessments.front().unfit ? r.assessments.front().unfit->reason : r.assessments.front().breaks);
    text += r.emptiness.together ? "holds all limits at once; nearest is " : "holds ";
    std::vector<std::string> parts;
    for (const Binding& binding : r.emptiness.binding) {
        const Candidate& c = r.candidates[binding.candidate];
        const std::string where = c.asked.device + " at " + setting_words(c) + " with " + run_words(c);
        const std::string excess = show(binding.excess(), Show::percent) + " too much";
        if (!binding.rule) {
            parts.push_back("the memory of its device; the nearest, " + where + ", needs " +
                            show(binding.nearest, Show::bytes) + " of " + show(binding.limit, Show::bytes) + ", " +
                            excess + ". Take a smaller batch or a device with more memory");
        } else if (r.emptiness.together) {
            parts.push_back((parts.empty() ? where + ", which has " : "") +
                            limit_words(*binding.rule, binding.nearest, r.goal) + " of " +
                            std::string(binding.rule->name) + " where " + std::string(binding.rule->flag) + " allows " +
                            limit_words(*binding.rule, binding.limit, r.goal) + ", " + excess);
        } else {
            parts.push_back(std::string(binding.rule->flag) + " " + limit_words(*binding.rule, binding.limit, r.goal) +
                            ": the nearest, " + where + ", has " + limit_words(*binding.rule, binding.nearest, r.goal) +
                            ", " + excess);
        }
    }
    return text + joined(parts, "; ");
}

std::string recommendations_to_text(const std::vector<Answered>& phases, const TextSettings& settings) {
    std::string text;
    for (const Answered& phase : phases) text += (text.empty() ? "" : "\n") + to_text(phase, settings);
    if (phases.size() == 1 && phases.front().phase == "prefill")
        text += "tokens: those it reads (prefill); no graph of its decoding step is known\n";
    return text;
}

}  // namespace joulecast::cli
