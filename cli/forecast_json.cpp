#include <nlohmann/json.hpp>
#include <string>

#include "cli/forecast_text.h"
#include "cli/json_number.h"
#include "cli/memory_output.h"
#include "cli/operation_json.h"

namespace joulecast::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Forward and backward passes in what time and energy are of.
double passes(const NetworkForecast& n) {
    return static_cast<double>(n.training.accumulation);
}

Json shares(const NetworkForecast& network) {
    Json answer = Json::object();
    for (const Evidence evidence :
         {Evidence::measured, Evidence::interpolated, Evidence::extrapolated, Evidence::analytic, Evidence::unknown}) {
        const auto found = network.evidence_share.find(evidence);
        answer[std::string(name(evidence))] = found == network.evidence_share.end() ? 0.0 : found->second;
    }
    return answer;
}

/// By how the power of operations came about; those that occur.
Json power_shares(const NetworkForecast& network) {
    Json answer = Json::object();
    for (const auto& [evidence, share] : network.power_evidence_share) answer[std::string(name(evidence))] = share;
    return answer;
}

Json to_json(const Forecast& forecast) {
    const NetworkForecast& n = forecast.network;
    return {{"model", n.model},
            {"device", n.device},
            {"device_name", forecast.device_name},
            {"clock_mhz", number_or_null(n.point.sm_clock_mhz)},
            {"memory_clock_mhz", number_or_null(n.point.memory_clock_mhz)},
            {"asked_clock_mhz", number_or_null(n.asked.sm_clock_mhz)},
            {"asked_memory_clock_mhz", number_or_null(n.asked.memory_clock_mhz)},
            {"asked_power_limit_w", number_or_null(n.asked.power_limit_w)},
            {"clock_workloads", forecast.clock_workloads},
            {"mode", name(n.mode)},
            {"precision", n.precision},
            {"host", name(n.point.host)},
            {"threads", n.point.threads},
            {"symbols", n.symbols},
            {"time_s", estimate_json(n.time)},
            {"device_time_s", estimate_json(n.cost.device_time)},
            {"host_time_s", estimate_json(n.cost.host_time)},
            {"host_adds_s", estimate_json(n.host_adds)},
            {"host_evidence", name(n.host_evidence)},
            {"host_networks", n.host_networks},
            {"energy_j", estimate_json(n.energy)},
            {"idle_energy_j", number_or_null(n.idle_energy_j)},
            {"dynamic_energy_j", number_or_null(n.dynamic_energy_j)},
            {"power_w", estimate_json(n.power)},
            {"energy_missing_reason", n.energy_missing_reason},
            {"peak_memory_bytes", estimate_json(n.cost.peak_memory)},
            {"memory_missing_reason", n.memory_missing_reason},
            {"resident_bytes", number_or_null(n.resident_bytes)},
            {"composition", name(n.composition)},
            {"optimizer", name(n.training.optimizer)},
            {"accumulate", n.training.accumulation},
            {"checkpointing", n.training.checkpointing},
            {"update_time_s", estimate_json(n.update_time)},
            {"step_time_s", number_or_null(n.time.value.value() / passes(n))},
            {"step_energy_j", number_or_null(n.energy.value.value() / passes(n))},
            {"limited_by", name(n.limited_by)},
            {"predictor", n.predictor},
            {"predictor_note", forecast.note},
            {"evidence_share", shares(n)},
            {"power_evidence_share", power_shares(n)},
            {"unknown_nodes", n.unknown_nodes},
            {"unknown_operations", n.unknown_operations},
            {"lower_bound", n.lower_bound}};
}

/// The prediction as text, with its operations, which are most of it and written without a tree of JSON.
std::string prediction_text(const Forecast& forecast, int indent, bool with_operations) {
    std::string text = to_json(forecast).dump(indent, ' ', false, Json::error_handler_t::replace);
    const bool is_one_line = indent < 0;
    text.pop_back();  // the brace that closes it
    text.resize(text.find_last_not_of(" \n") + 1);
    text += (is_one_line ? ",\"memory\":" : ",\n  \"memory\": ") + memory_json(forecast.network);
    if (with_operations) {
        text += is_one_line ? ",\"operations\":[" : ",\n  \"operations\": [\n    ";
        append_operations(text, forecast.network.operations, is_one_line ? "," : ",\n    ");
        text += is_one_line ? "]" : "\n  ]";
    }
    return text + (is_one_line ? "}" : "\n}");
}

}  // namespace

std::string forecasts_to_json(const std::vector<Forecast>& forecasts) {
    std::string text = "{\"schema\": \"joulecast.prediction/1\", \"predictions\": [";
    for (const Forecast& f : forecasts) {
        if (&f != &forecasts.front()) text += ',';
        text += '\n' + prediction_text(f, 2, true);
    }
    return text + "\n]}\n";
}

std::string forecast_to_json_line(const Forecast& forecast, bool operations) {
    return prediction_text(forecast, -1, operations);
}

}  // namespace joulecast::cli
