#include <string>
#include <utility>

#include "cli/forecast_text.h"
#include "cli/json_object.h"
#include "cli/memory_output.h"
#include "cli/operation_json.h"
#include "joulecast/learn/parallel.h"

namespace joulecast::cli {
namespace {

using Layout = JsonObject::Layout;

/// Forward and backward passes in what time and energy are of.
double passes(const NetworkForecast& n) {
    return static_cast<double>(n.training.accumulation);
}

void add_symbols(JsonObject& to, const NetworkForecast& n) {
    JsonObject symbols = to.object("symbols");
    for (const auto& [symbol, value] : n.symbols) symbols.add(symbol, value);
    symbols.end();
}

/// Every evidence of times, and by how the power of operations came about those that occur.
void add_shares(JsonObject& to, const NetworkForecast& n) {
    JsonObject shares = to.object("evidence_share");
    for (const Evidence evidence :
         {Evidence::measured, Evidence::interpolated, Evidence::extrapolated, Evidence::analytic, Evidence::unknown}) {
        const auto found = n.evidence_share.find(evidence);
        shares.add(name(evidence), found == n.evidence_share.end() ? 0.0 : found->second);
    }
    shares.end();
    JsonObject power = to.object("power_evidence_share");
    for (const auto& [evidence, share] : n.power_evidence_share) power.add(name(evidence), share);
    power.end();
}

/// What was asked for.
void add_setting(JsonObject& to, const Forecast& forecast) {
    const NetworkForecast& n = forecast.network;
    to.add("model", n.model);
    to.add("device", n.device);
    to.add("device_name", forecast.device_name);
    to.add("clock_mhz", n.point.sm_clock_mhz);
    to.add("memory_clock_mhz", n.point.memory_clock_mhz);
    to.add("asked_clock_mhz", n.asked.sm_clock_mhz);
    to.add("asked_memory_clock_mhz", n.asked.memory_clock_mhz);
    to.add("asked_power_limit_w", n.asked.power_limit_w);
    to.add("clock_workloads", forecast.clock_workloads);
    to.add("mode", name(n.mode));
    to.add("precision", n.precision);
    to.add("engine", n.point.engine);
    to.add("host", name(n.point.host));
    n.point.host_cpu.empty() ? to.add_null("host_cpu") : to.add("host_cpu", n.point.host_cpu);
    to.add("threads", n.point.threads);
    add_symbols(to, n);
}

void add_costs(JsonObject& to, const NetworkForecast& n) {
    to.add("time_s", n.time);
    to.add("device_time_s", n.cost.device_time);
    to.add("host_time_s", n.cost.host_time);
    to.add("host_adds_s", n.host_adds);
    to.add("host_evidence", name(n.host_evidence));
    to.add("host_networks", n.host_networks);
    to.add("energy_j", n.energy);
    to.add("idle_energy_j", n.idle_energy_j);
    to.add("dynamic_energy_j", n.dynamic_energy_j);
    to.add("power_w", n.power);
    to.add("energy_missing_reason", n.energy_missing_reason);
    to.add("peak_memory_bytes", n.cost.peak_memory);
    to.add("memory_missing_reason", n.memory_missing_reason);
    to.add("resident_bytes", n.resident_bytes);
    to.add("composition", name(n.composition));
    to.add("optimizer", name(n.training.optimizer));
    to.add("accumulate", n.training.accumulation);
    to.add("checkpointing", n.training.checkpointing);
    to.add("update_time_s", n.update_time);
    to.add("step_time_s", n.time.value.value() / passes(n));
    to.add("step_energy_j", n.energy.value.value() / passes(n));
    to.add("limited_by", name(n.limited_by));
}

/// Over the forecast at the device's own clock; null where no clock or limit is asked for.
void add_relative(JsonObject& to, const std::optional<RelativeToDefault>& relative) {
    if (!relative) {
        to.add_null("relative_to_default");
        return;
    }
    JsonObject over = to.object("relative_to_default");
    over.add("clock_mhz", relative->point.sm_clock_mhz);
    over.add("memory_clock_mhz", relative->point.memory_clock_mhz);
    over.add("time", relative->cost.time);
    over.add("energy", relative->cost.energy);
    over.add("power", relative->cost.power);
    over.end();
}

/// What it rests on.
void add_evidence(JsonObject& to, const Forecast& forecast) {
    const NetworkForecast& n = forecast.network;
    to.add("predictor", n.predictor);
    to.add("predictor_method", n.method);
    to.add("predictor_note", forecast.note);
    add_shares(to, n);
    to.add("unknown_nodes", n.unknown_nodes);
    to.add("unknown_operations", n.unknown_operations);
    to.add("lower_bound", n.lower_bound);
}

void append_prediction(std::string& text, const Forecast& forecast, Layout layout, bool with_operations) {
    JsonObject prediction(text, layout);
    add_setting(prediction, forecast);
    add_costs(prediction, forecast.network);
    add_relative(prediction, forecast.relative_to_default);
    add_evidence(prediction, forecast);
    append_memory(prediction.entry("memory"), forecast.network);
    if (with_operations) {
        const bool is_one_line = layout == Layout::one_line;
        prediction.entry("operations") += is_one_line ? "[" : "[\n    ";
        append_operations(text, forecast.network.operations, is_one_line ? "," : ",\n    ");
        text += is_one_line ? "]" : "\n  ]";
    }
    prediction.end();
}

}  // namespace

std::string forecasts_to_json(const std::vector<Forecast>& forecasts) {
    // Side by side, and without copies: a list of operations is 50 kB.
    std::vector<std::string> predictions(forecasts.size());
    in_parallel(forecasts.size(), 0, [&](std::size_t i) {
        predictions[i].reserve(4096 + 600 * forecasts[i].network.operations.size());
        append_prediction(predictions[i], forecasts[i], Layout::lines, true);
    });
    std::string text = "{\"schema\": \"joulecast.prediction/1\", \"predictions\": [";
    std::size_t size = text.size() + 16;
    for (const std::string& prediction : predictions) size += prediction.size() + 2;
    text.reserve(size);
    for (std::string& prediction : predictions) {
        if (&prediction != &predictions.front()) text += ',';
        text += '\n';
        text += std::exchange(prediction, {});
    }
    return text += "\n]}\n";
}

std::string forecast_to_json_line(const Forecast& forecast, bool operations) {
    std::string text;
    append_prediction(text, forecast, Layout::one_line, operations);
    return text;
}

}  // namespace joulecast::cli
