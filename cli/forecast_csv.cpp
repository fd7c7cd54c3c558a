#include <string>
#include <vector>

#include "cli/forecast_text.h"
#include "cli/forecast_words.h"
#include "cli/known.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {
namespace {

/// Over the forecast at the device's own clock.
Column<Forecast> relative_column(const char* key, Estimate<Ratio> RelativeCost::* of, Ratio Estimate<Ratio>::* end) {
    return {key, "", Show::number, [of, end](const Forecast& f) {
                return f.relative_to_default ? known((f.relative_to_default->cost.*of.*end).value()) : Cell();
            }};
}

const std::vector<Column<Forecast>>& network_columns() {
    static const std::vector<Column<Forecast>> list = {
        {"model", "", Show::text, [](const Forecast& f) { return f.network.model; }},
        {"device", "", Show::text, [](const Forecast& f) { return f.network.device; }},
        {"symbols", "", Show::text, [](const Forecast& f) { return values_text(f.network.symbols); }},
        {"mode", "", Show::text, [](const Forecast& f) { return std::string(name(f.network.mode)); }},
        {"precision", "", Show::text, [](const Forecast& f) { return f.network.precision; }},
        {"time_s", "", Show::seconds, [](const Forecast& f) { return known(f.network.time.value.value()); }},
        {"time_low_s", "", Show::seconds, [](const Forecast& f) { return known(f.network.time.low.value()); }},
        {"time_high_s", "", Show::seconds, [](const Forecast& f) { return known(f.network.time.high.value()); }},
        {"energy_j", "", Show::joules, [](const Forecast& f) { return known(f.network.energy.value.value()); }},
        {"energy_low_j", "", Show::joules, [](const Forecast& f) { return known(f.network.energy.low.value()); }},
        {"energy_high_j", "", Show::joules, [](const Forecast& f) { return known(f.network.energy.high.value()); }},
        {"idle_energy_j", "", Show::joules, [](const Forecast& f) { return known(f.network.idle_energy_j); }},
        {"dynamic_energy_j", "", Show::joules, [](const Forecast& f) { return known(f.network.dynamic_energy_j); }},
        {"power_w", "", Show::watts, [](const Forecast& f) { return known(f.network.power.value.value()); }},
        {"power_low_w", "", Show::watts, [](const Forecast& f) { return known(f.network.power.low.value()); }},
        {"power_high_w", "", Show::watts, [](const Forecast& f) { return known(f.network.power.high.value()); }},
        {"peak_memory_bytes", "", Show::bytes,
         [](const Forecast& f) { return known(f.network.cost.peak_memory.value.value()); }},
        {"resident_bytes", "", Show::bytes, [](const Forecast& f) { return known(f.network.resident_bytes); }},
        {"optimizer", "", Show::text,
         [](const Forecast& f) { return std::string(name(f.network.training.optimizer)); }},
        {"accumulate", "", Show::count, [](const Forecast& f) { return f.network.training.accumulation; }},
        {"checkpointed_blocks", "", Show::count, [](const Forecast& f) { return f.network.checkpointed_blocks; }},
        {"update_time_s", "", Show::seconds,
         [](const Forecast& f) { return known(f.network.update_time.value.value()); }},
        {"needed_bytes", "", Show::bytes,
         [](const Forecast& f) { return known(f.network.memory_fit.value_or(MemoryFit{}).needed_bytes); }},
        {"power_evidence", "", Show::text, [](const Forecast& f) { return power_evidence_words(f.network); }},
        {"unknown_nodes", "", Show::count, [](const Forecast& f) { return f.network.unknown_nodes; }},
        {"lower_bound", "", Show::text, [](const Forecast& f) { return f.network.lower_bound; }},
        {"predictor", "", Show::text, [](const Forecast& f) { return f.network.predictor; }},
        {"engine", "", Show::text, [](const Forecast& f) { return f.network.point.engine; }},
        {"host", "", Show::text, [](const Forecast& f) { return std::string(name(f.network.point.host)); }},
        {"device_time_s", "", Show::seconds,
         [](const Forecast& f) { return known(f.network.cost.device_time.value.value()); }},
        {"host_time_s", "", Show::seconds,
         [](const Forecast& f) { return known(f.network.cost.host_time.value.value()); }},
        {"host_adds_s", "", Show::seconds, [](const Forecast& f) { return known(f.network.host_adds.value.value()); }},
        {"host_evidence", "", Show::text, [](const Forecast& f) { return std::string(name(f.network.host_evidence)); }},
        {"limited_by", "", Show::text, [](const Forecast& f) { return std::string(name(f.network.limited_by)); }},
        {"asked_clock_mhz", "", Show::number, [](const Forecast& f) { return known(f.network.asked.sm_clock_mhz); }},
        {"clock_mhz", "", Show::number, [](const Forecast& f) { return known(f.network.point.sm_clock_mhz); }},
        {"memory_clock_mhz", "", Show::number,
         [](const Forecast& f) { return known(f.network.point.memory_clock_mhz); }},
        {"asked_power_limit_w", "", Show::number,
         [](const Forecast& f) { return known(f.network.asked.power_limit_w); }},
        relative_column("relative_time", &RelativeCost::time, &Estimate<Ratio>::value),
        relative_column("relative_time_low", &RelativeCost::time, &Estimate<Ratio>::low),
        relative_column("relative_time_high", &RelativeCost::time, &Estimate<Ratio>::high),
        relative_column("relative_energy", &RelativeCost::energy, &Estimate<Ratio>::value),
        relative_column("relative_energy_low", &RelativeCost::energy, &Estimate<Ratio>::low),
        relative_column("relative_energy_high", &RelativeCost::energy, &Estimate<Ratio>::high),
        relative_column("relative_power", &RelativeCost::power, &Estimate<Ratio>::value),
        relative_column("relative_power_low", &RelativeCost::power, &Estimate<Ratio>::low),
        relative_column("relative_power_high", &RelativeCost::power, &Estimate<Ratio>::high),
    };
    return list;
}

/// All calls of one operation in one network.
struct CallsOf {
    const NetworkForecast* network = nullptr;
    const OperationForecast* operation = nullptr;
};

const std::vector<Column<CallsOf>>& operation_columns() {
    static const std::vector<Column<CallsOf>> list = {
        {"model", "", Show::text, [](const CallsOf& c) { return c.network->model; }},
        {"mode", "", Show::text, [](const CallsOf& c) { return std::string(name(c.network->mode)); }},
        {"precision", "", Show::text, [](const CallsOf& c) { return c.network->precision; }},
        {"op", "", Show::text, [](const CallsOf& c) { return c.operation->operation.target; }},
        {"signature", "", Show::text, [](const CallsOf& c) { return signature(c.operation->operation); }},
        {"count", "", Show::count, [](const CallsOf& c) { return c.operation->count; }},
        {"time_s", "", Show::seconds,
         [](const CallsOf& c) { return known(c.operation->cost.device_time.value.value()); }},
        {"time_low_s", "", Show::seconds,
         [](const CallsOf& c) { return known(c.operation->cost.device_time.low.value()); }},
        {"time_high_s", "", Show::seconds,
         [](const CallsOf& c) { return known(c.operation->cost.device_time.high.value()); }},
        {"energy_j", "", Show::joules, [](const CallsOf& c) { return known(c.operation->energy.value.value()); }},
        {"power_w", "", Show::watts, [](const CallsOf& c) { return known(c.operation->power.value.value()); }},
        {"evidence", "", Show::text, [](const CallsOf& c) { return std::string(name(c.operation->evidence)); }},
        {"engine", "", Show::text, [](const CallsOf& c) { return c.network->point.engine; }},
        {"host", "", Show::text, [](const CallsOf& c) { return std::string(name(c.network->point.host)); }},
        {"power_evidence", "", Show::text,
         [](const CallsOf& c) { return std::string(name(c.operation->power_evidence)); }},
    };
    return list;
}

}  // namespace

std::string forecasts_to_csv(const std::vector<Forecast>& forecasts, bool per_operation) {
    if (!per_operation) return to_csv(fill(network_columns(), forecasts));
    std::vector<CallsOf> all;
    for (const Forecast& f : forecasts) {
        for (const OperationForecast& operation : f.network.operations) all.push_back({&f.network, &operation});
    }
    return to_csv(fill(operation_columns(), all));
}

}  // namespace joulecast::cli
