#include "cli/recommendation_words.h"

#include <cmath>

#include "joulecast/device/engine.h"
#include "joulecast/device/precision.h"
#include "joulecast/device/threads_text.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {
namespace {

std::string megahertz(double value) {
    return show(value, Show::count) + " MHz";
}

/// The clock it runs at, where that is not the one asked for.
std::string really(const Candidate& c) {
    const double real = c.real.sm_clock_mhz;
    if (!std::isfinite(real) || std::abs(real - c.asked.sm_clock_mhz) < 0.5) return "";
    return " (runs at " + megahertz(real) + ")";
}

std::string per_million(double value) {
    return show(1e6 * value, Show::number) + " per million";
}

std::string per_million_grams(double grams) {
    const double whole = 1e6 * grams;
    return (whole < 1000 ? show(whole, Show::number) + " g" : show(whole / 1000, Show::number) + " kg") +
           " CO2 per million";
}

}  // namespace

std::string setting_words(const Candidate& c) {
    const double clock = c.asked.sm_clock_mhz;
    if (c.is_default)
        return "its default" + (std::isfinite(clock) ? " clock of " + megahertz(clock) : " clock") + really(c);
    if (!std::isfinite(c.asked.power_limit_w)) return megahertz(clock) + really(c);
    const std::string limit = "a power limit of " + show(c.asked.power_limit_w, Show::watts);
    return (c.sets_clock() ? megahertz(clock) + " and " : "") + limit + really(c);
}

std::string run_words(const Candidate& c) {
    std::string text = values_text(c.symbols);
    const auto add = [&](const std::string& word) { text += (text.empty() ? "" : ", ") + word; };
    add(c.precision == name(Precision::torch_default) ? "PyTorch's default precision" : c.precision);
    if (c.memory_format == MemoryFormat::channels_last) add("channels last");
    if (!is_torch(c.asked.engine)) add(c.asked.engine);
    if (c.threads > 0) add(threads_text(c.threads));
    if (c.mode == Mode::training) add(std::string(name(c.mode)));
    return text;
}

std::string value_words(Objective objective, double value) {
    switch (objective) {
        case Objective::energy:
            return show(value, Show::joules);
        case Objective::time:
            return show(value, Show::seconds);
        case Objective::edp:
        case Objective::ed2p:
            return show(value, Show::number) + " " + std::string(rule(objective).unit);
        case Objective::carbon:
            return per_million_grams(value);
        case Objective::price:
            break;
    }
    return per_million(value);
}

std::string cost_words(Objective objective, double value, const Candidate& c) {
    const bool has_batch = c.symbols.contains("batch");
    const std::string words = value_words(objective, value);
    if (objective == Objective::price) return "price " + words + (has_batch ? " samples" : " runs");
    if (objective == Objective::carbon) return words + (has_batch ? " samples" : " runs");
    return words + " of " + std::string(rule(objective).noun) + (has_batch ? " a sample" : " a run");
}

std::string limit_words(const LimitRule& rule, double value, const Goal& goal) {
    if (rule.name == "time" || rule.name == "hours") return show(value, Show::seconds);
    if (rule.name == "power") return show(value, Show::watts);
    if (rule.name == "memory") return show(value, Show::bytes);
    if (rule.name == "slowdown" || rule.name == "energy") return show(value - 1, Show::percent) + " more";
    return goal.job ? show(value, Show::number) : per_million(value) + " samples";
}

}  // namespace joulecast::cli
