#include "cli/composition_output.h"

#include <vector>

#include "cli/known.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {
namespace {

const std::vector<Column<CompositionAccuracy>>& composition_columns() {
    using C = CompositionAccuracy;
    static const std::vector<Column<C>> list = {
        {"device", "device", Show::text, [](const C& c) { return c.device; }},
        {"mode", "mode", Show::text, [](const C& c) { return c.mode; }},
        {"precision", "precision", Show::text, [](const C& c) { return c.precision; }},
        {"host", "host", Show::text, [](const C& c) { return c.host; }},
        {"operations", "operations", Show::text,
         [](const C& c) { return std::string(c.measured_operations ? "measured" : "forecast"); }},
        {"composition", "composition", Show::text, [](const C& c) { return std::string(name(c.composition)); }},
        {"networks", "networks", Show::count, [](const C& c) { return c.networks; }},
        {"without_order", "bags", Show::count, [](const C& c) { return c.without_order; }},
        {"time_mape", "time MAPE", Show::percent, [](const C& c) { return known(c.time_mape); }},
        {"time_median_ape", "median", Show::percent, [](const C& c) { return known(c.time_median_ape); }},
        {"time_bias", "bias", Show::percent, [](const C& c) { return known(c.time_bias); }},
        {"energy_mape", "energy MAPE", Show::percent, [](const C& c) { return known(c.energy_mape); }},
    };
    return list;
}

Table table_of(std::span<const CompositionSample> samples) {
    return fill(composition_columns(), compare_compositions(samples));
}

}  // namespace

std::string compositions_text(std::span<const CompositionSample> samples) {
    if (samples.empty()) return "";
    return "\nFrom operations to networks; factors fitted to the networks that are not left out:\n\n" +
           to_text(table_of(samples));
}

Table compositions_table(std::span<const CompositionSample> samples) {
    return table_of(samples);
}

}  // namespace joulecast::cli
