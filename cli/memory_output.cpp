#include "cli/memory_output.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "cli/known.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/report/table.h"
#include "joulecast/units/statistics.h"

namespace joulecast::cli {
namespace {

/// Networks of one mode and precision.
struct MemorySummary {
    std::string mode;
    std::string precision;
    std::vector<double> peak, plan, whole, optimistic, pessimistic;  ///< relative errors, absolute
    double worst = std::numeric_limits<double>::quiet_NaN();
    std::string worst_network;
};

double off(double estimate, double measured) {
    return std::abs(estimate / measured - 1);
}

void push_known(std::vector<double>& errors, double error) {
    if (std::isfinite(error)) errors.push_back(error);
}

void add(MemorySummary& summary, const NetworkAccuracy& n) {
    const double error = n.predicted_peak_bytes / n.measured_peak_bytes - 1;
    if (!std::isfinite(error)) return;
    summary.peak.push_back(std::abs(error));
    if (!(std::abs(error) <= std::abs(summary.worst))) {
        summary.worst = error;
        summary.worst_network = with_values(n.network, n.symbols);
    }
    push_known(summary.plan, off(n.planned_peak_bytes, n.measured_peak_bytes));
    const double measured = n.measured_peak_bytes + n.resident_bytes;
    push_known(summary.whole, off(n.predicted_peak_bytes + n.resident_bytes, measured));
    push_known(summary.optimistic, off(n.sponner_optimistic_bytes, measured));
    push_known(summary.pessimistic, off(n.sponner_pessimistic_bytes, measured));
}

std::vector<MemorySummary> summaries(const std::vector<NetworkAccuracy>& networks) {
    std::vector<MemorySummary> summaries;
    for (const NetworkAccuracy& n : networks) {
        const std::string mode(name(n.mode));
        auto at = std::find_if(summaries.begin(), summaries.end(),
                               [&](const MemorySummary& s) { return s.mode == mode && s.precision == n.precision; });
        if (at == summaries.end()) {
            MemorySummary fresh;
            fresh.mode = mode;
            fresh.precision = n.precision;
            at = summaries.insert(summaries.end(), fresh);
        }
        add(*at, n);
    }
    std::erase_if(summaries, [](const MemorySummary& s) { return s.peak.empty(); });
    return summaries;
}

Cell of_errors(double (*statistic)(std::span<const double>), const std::vector<double>& errors) {
    return errors.empty() ? Cell() : known(statistic(errors));
}

double largest(std::span<const double> errors) {
    return *std::ranges::max_element(errors);
}

const std::vector<Column<MemorySummary>>& memory_columns() {
    using S = MemorySummary;
    static const std::vector<Column<S>> list = {
        {"mode", "memory", Show::text, [](const S& s) { return s.mode; }},
        {"precision", "precision", Show::text, [](const S& s) { return s.precision; }},
        {"networks", "networks", Show::count, [](const S& s) { return static_cast<std::int64_t>(s.peak.size()); }},
        {"peak_mape", "peak MAPE", Show::percent, [](const S& s) { return of_errors(mean, s.peak); }},
        {"peak_median_ape", "median", Show::percent, [](const S& s) { return of_errors(median, s.peak); }},
        {"worst_error", "worst", Show::percent, [](const S& s) { return known(s.worst); }},
        {"worst_network", "of", Show::text, [](const S& s) { return s.worst_network; }},
        {"plan_mape", "plan alone", Show::percent, [](const S& s) { return of_errors(mean, s.plan); }},
        {"plan_median_ape", "median", Show::percent, [](const S& s) { return of_errors(median, s.plan); }},
        {"plan_worst", "worst", Show::percent, [](const S& s) { return of_errors(largest, s.plan); }},
        {"whole_mape", "whole MAPE", Show::percent, [](const S& s) { return of_errors(mean, s.whole); }},
        {"whole_median_ape", "median", Show::percent, [](const S& s) { return of_errors(median, s.whole); }},
        {"sponner_optimistic_mape", "2 x mean MAPE", Show::percent,
         [](const S& s) { return of_errors(mean, s.optimistic); }},
        {"sponner_optimistic_median_ape", "median", Show::percent,
         [](const S& s) { return of_errors(median, s.optimistic); }},
        {"sponner_pessimistic_mape", "two largest MAPE", Show::percent,
         [](const S& s) { return of_errors(mean, s.pessimistic); }},
        {"sponner_pessimistic_median_ape", "median", Show::percent,
         [](const S& s) { return of_errors(median, s.pessimistic); }},
    };
    return list;
}

}  // namespace

std::string checkpointing_note(const NetworkForecast& network) {
    if (!network.training.checkpointing || network.checkpointed_blocks > 0) return "";
    return network.model +
           " has no blocks for --checkpointing (numbered modules that contain modules, found by their paths); "
           "the forecast is without it";
}

std::string overflow_note(const NetworkForecast& network) {
    if (network.overflow.empty()) return "";
    return with_values(network.model, network.symbols) + ", " + std::string(name(network.mode)) + ", " +
           network.precision + ": does not fit: " + network.overflow;
}

std::string memory_networks_text(const std::vector<NetworkAccuracy>& networks) {
    const auto rows = summaries(networks);
    if (rows.empty()) return "";
    return "\n" + to_text(fill(memory_columns(), rows)) +
           "peak: without parameters and inputs. plan alone: without scratch memory from measurements. whole: with "
           "parameters and inputs, compared with Sponner's estimates from layers (inference; 2 x mean, sum of the two "
           "largest)\n";
}

Table memory_networks_table(const std::vector<NetworkAccuracy>& networks) {
    return fill(memory_columns(), summaries(networks));
}

}  // namespace joulecast::cli
