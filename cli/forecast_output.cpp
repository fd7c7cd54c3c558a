// Forecasts as JSON and CSV. What is reported of one is a line in the lists below, in both.
#include <cmath>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/forecast_text.h"
#include "cli/forecast_words.h"
#include "cli/json_object.h"
#include "cli/memory_output.h"
#include "cli/operation_output.h"
#include "cli/reported.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/learn/parallel.h"
#include "joulecast/units/digits.h"

namespace joulecast::cli {
namespace {

using Layout = JsonObject::Layout;

void add_symbols(JsonObject& to, const Forecast& forecast) {
    JsonObject symbols = to.object("symbols");
    for (const auto& [symbol, value] : forecast.network.symbols) symbols.add(symbol, value);
    symbols.end();
}

/// Every evidence of times, and by how the power of operations came about those that occur.
void add_shares(JsonObject& to, const Forecast& forecast) {
    const NetworkForecast& n = forecast.network;
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

/// Of energy and time, what one forward and backward pass takes of an update with several.
double of_a_pass(double whole, const NetworkForecast& n) {
    return whole / static_cast<double>(n.training.accumulation);
}

std::optional<std::string> if_any(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

using F = const Forecast&;

constexpr Reported model_line{"model", "", [](F f) { return f.network.model; }};
constexpr Reported mode_line{"mode", "", [](F f) { return name(f.network.mode); }};
constexpr Reported precision_line{"precision", "", [](F f) { return f.network.precision; }};
constexpr Reported engine_line{"engine", "", [](F f) { return f.network.point.engine; }};
constexpr Reported host_line{"host", "", [](F f) { return name(f.network.point.host); }};

constexpr std::tuple device_lines{
    Reported{"device", "", [](F f) { return f.network.device; }},
    Reported{"device_name", "", [](F f) { return f.device_name; }},
    Reported{"clock", "mhz", [](F f) { return f.network.point.sm_clock_mhz; }},
    Reported{"memory_clock", "mhz", [](F f) { return f.network.point.memory_clock_mhz; }},
    Reported{"asked_clock", "mhz", [](F f) { return f.network.asked.sm_clock_mhz; }},
    Reported{"asked_memory_clock", "mhz", [](F f) { return f.network.asked.memory_clock_mhz; }},
    Reported{"asked_power_limit", "w", [](F f) { return f.network.asked.power_limit_w; }},
};

constexpr std::tuple setting_lines{
    Reported{"clock_workloads", "", [](F f) { return f.clock_workloads; }},
    mode_line,
    precision_line,
    engine_line,
    host_line,
    Reported{"host_cpu", "", [](F f) { return if_any(f.network.point.host_cpu); }},
    Reported{"threads", "", [](F f) { return f.network.point.threads; }},
    ReportedAsJson{add_symbols},
    Reported{"symbols", "", [](F f) { return values_text(f.network.symbols); }, In::csv},
};

constexpr std::tuple cost_lines{
    Reported{"time", "s", [](F f) { return f.network.time; }},
    Reported{"device_time", "s", [](F f) { return f.network.cost.device_time; }},
    Reported{"host_time", "s", [](F f) { return f.network.cost.host_time; }},
    Reported{"host_adds", "s", [](F f) { return f.network.host_adds; }},
    Reported{"host_evidence", "", [](F f) { return name(f.network.host_evidence); }},
    Reported{"host_networks", "", [](F f) { return f.network.host_networks; }},
    Reported{"energy", "j", [](F f) { return f.network.energy; }},
    Reported{"idle_energy", "j", [](F f) { return f.network.idle_energy_j; }},
    Reported{"dynamic_energy", "j", [](F f) { return f.network.dynamic_energy_j; }},
    Reported{"power", "w", [](F f) { return f.network.power; }},
    Reported{"energy_missing_reason", "", [](F f) { return f.network.energy_missing_reason; }},
    Reported{"peak_memory", "bytes", [](F f) { return f.network.cost.peak_memory; }},
    Reported{"memory_missing_reason", "", [](F f) { return f.network.memory_missing_reason; }},
    Reported{"resident", "bytes", [](F f) { return f.network.resident_bytes; }},
    Reported{"needed", "bytes", [](F f) { return f.network.memory_fit.value_or(MemoryFit{}).needed_bytes; }, In::csv},
    Reported{"composition", "", [](F f) { return name(f.network.composition); }},
    Reported{"optimizer", "", [](F f) { return name(f.network.training.optimizer); }},
    Reported{"accumulate", "", [](F f) { return f.network.training.accumulation; }},
    Reported{"checkpointing", "", [](F f) { return f.network.training.checkpointing; }},
    Reported{"checkpointed_blocks", "", [](F f) { return f.network.checkpointed_blocks; }, In::csv},
    Reported{"update_time", "s", [](F f) { return f.network.update_time; }},
    Reported{"step_time", "s", [](F f) { return of_a_pass(f.network.time.value.value(), f.network); }},
    Reported{"step_energy", "j", [](F f) { return of_a_pass(f.network.energy.value.value(), f.network); }},
    Reported{"limited_by", "", [](F f) { return name(f.network.limited_by); }},
};

/// Over the forecast at the device's own clock, where a clock or limit is asked for.
constexpr std::tuple relative_lines{
    Reported{"clock", "mhz", [](const RelativeToDefault& r) { return r.point.sm_clock_mhz; }},
    Reported{"memory_clock", "mhz", [](const RelativeToDefault& r) { return r.point.memory_clock_mhz; }},
    Reported{"time", "", [](const RelativeToDefault& r) { return r.cost.time; }},
    Reported{"energy", "", [](const RelativeToDefault& r) { return r.cost.energy; }},
    Reported{"power", "", [](const RelativeToDefault& r) { return r.cost.power; }},
};

const RelativeToDefault* relative(F forecast) {
    return forecast.relative_to_default ? &*forecast.relative_to_default : nullptr;
}

constexpr std::tuple evidence_lines{
    Reported{"predictor", "", [](F f) { return f.network.predictor; }},
    Reported{"predictor_method", "", [](F f) { return f.network.method; }},
    Reported{"predictor_note", "", [](F f) { return f.note; }},
    ReportedAsJson{add_shares},
    Reported{"power_evidence", "", [](F f) { return power_evidence_words(f.network); }, In::csv},
    Reported{"unknown_nodes", "", [](F f) { return f.network.unknown_nodes; }},
    Reported{"unknown_operations", "", [](F f) { return f.network.unknown_operations; }},
    Reported{"lower_bound", "", [](F f) { return f.network.lower_bound; }},
};

constexpr auto forecast_lines = std::tuple_cat(
    std::tuple{model_line}, device_lines, setting_lines, cost_lines,
    std::tuple{ReportedPart{"relative_to_default", "relative_", relative, relative_lines}}, evidence_lines);

/// Of all calls of an operation in a network.
constexpr std::tuple call_lines{
    Reported{"op", "", [](const OperationForecast& o) { return o.operation.target; }},
    Reported{"signature", "", [](const OperationForecast& o) { return signature(o.operation); }},
    Reported{"count", "", [](const OperationForecast& o) { return o.count; }},
    Reported{"time", "s", [](const OperationForecast& o) { return o.cost.device_time; }},
    Reported{"energy", "j", [](const OperationForecast& o) { return o.energy; }},
    Reported{"power", "w", [](const OperationForecast& o) { return o.power; }},
    Reported{"part", "", [](const OperationForecast& o) { return name(o.part); }},
    Reported{"evidence", "", [](const OperationForecast& o) { return name(o.evidence); }},
    Reported{"power_evidence", "", [](const OperationForecast& o) { return name(o.power_evidence); }},
};

/// What `predict --operation` forecasts is a network of one call.
const OperationForecast& call(F forecast) {
    return forecast.network.operations.front();
}

constexpr auto single_call_lines =
    std::tuple_cat(std::tuple{model_line, Reported{"op", "", [](F f) { return call(f).operation.target; }},
                              Reported{"signature", "", [](F f) { return signature(call(f).operation); }}},
                   device_lines, std::tuple{mode_line, precision_line, engine_line, host_line},
                   std::tuple{
                       Reported{"time", "s", [](F f) { return call(f).cost.device_time; }},
                       Reported{"power", "w", [](F f) { return call(f).power; }},
                       Reported{"energy", "j", [](F f) { return call(f).energy; }},
                       Reported{"evidence", "", [](F f) { return name(call(f).evidence); }},
                       Reported{"power_evidence", "", [](F f) { return name(call(f).power_evidence); }},
                       Reported{"predictor", "", [](F f) { return f.network.predictor; }},
                       Reported{"predictor_note", "", [](F f) { return f.note; }},
                   });

/// As JsonObject, in one line and in a third of the time: calls are most of an answer.
class CallObject {
  public:
    explicit CallObject(std::string& text) : text_(text) { text_ += '{'; }

    void add(std::string_view key, std::string_view value) { append_quoted(entry(key), value); }
    void add(std::string_view key, std::int64_t value) { append_digits(entry(key), value); }
    template <class Unit>
    void add(std::string_view key, const Estimate<Unit>& estimate) {
        entry(key) += "{\"value\":";
        append(estimate.value.value());
        text_ += ",\"low\":";
        append(estimate.low.value());
        text_ += ",\"high\":";
        append(estimate.high.value());
        text_ += '}';
    }
    void end() { text_ += '}'; }

  private:
    std::string& entry(std::string_view key) {
        if (text_.back() != '{') text_ += ',';
        return text_.append("\"").append(key).append("\":");
    }
    /// NaN and infinity are null: JSON has no other way to say them.
    void append(double value) { std::isfinite(value) ? append_digits(text_, value) : void(text_ += "null"); }

    std::string& text_;
};

void append_prediction(std::string& text, F forecast, Layout layout, bool with_operations) {
    JsonObject prediction(text, layout);
    add_reported(prediction, forecast, forecast_lines);
    append_memory(prediction.entry("memory"), forecast.network);
    if (with_operations) {
        const bool is_one_line = layout == Layout::one_line;
        prediction.entry("operations") += is_one_line ? "[" : "[\n    ";
        const auto& operations = forecast.network.operations;
        for (const OperationForecast& operation : operations) {
            if (&operation != &operations.front()) text += is_one_line ? "," : ",\n    ";
            CallObject object(text);
            add_reported(object, operation, call_lines);
            object.end();
        }
        text += is_one_line ? "]" : "\n  ]";
    }
    prediction.end();
}

template <class Append>
std::string predictions_json(const std::vector<Forecast>& forecasts, Append append) {
    // Side by side, and without copies: a list of operations is 50 kB.
    std::vector<std::string> predictions(forecasts.size());
    in_parallel(forecasts.size(), 0, [&](std::size_t i) {
        predictions[i].reserve(4096 + 600 * forecasts[i].network.operations.size());
        append(predictions[i], forecasts[i]);
    });
    std::string text = "{\"schema\": \"joulecast.prediction/1\", \"predictions\": [";
    std::size_t size = text.size() + 16;
    for (const std::string& prediction : predictions) size += prediction.size() + 2;
    text.reserve(size);
    for (std::string& prediction : predictions) {
        text += &prediction == &predictions.front() ? "\n" : ",\n";
        text += std::exchange(prediction, {});
    }
    text += "\n]}\n";
    return text;  // not `text +=`, which would be a copy of some MB
}

/// All calls of one operation in one network.
struct CallsOf {
    const Forecast* forecast = nullptr;
    const OperationForecast* operation = nullptr;
};

std::string calls_to_csv(const std::vector<Forecast>& forecasts) {
    std::vector<CallsOf> calls;
    for (const Forecast& forecast : forecasts) {
        for (const OperationForecast& operation : forecast.network.operations) calls.push_back({&forecast, &operation});
    }
    const auto network = [](const CallsOf& c) { return c.forecast; };
    std::vector<Column<CallsOf>> columns;
    append_all_columns(columns, "", network, std::tuple{model_line, mode_line, precision_line});
    append_all_columns(columns, "", [](const CallsOf& c) { return c.operation; }, call_lines);
    append_all_columns(columns, "", network, std::tuple{engine_line, host_line});
    return to_csv(fill(columns, calls));
}

const Forecast* itself(F forecast) {
    return &forecast;
}

}  // namespace

std::string forecasts_to_json(const std::vector<Forecast>& forecasts) {
    return predictions_json(forecasts,
                            [](std::string& text, F one) { append_prediction(text, one, Layout::lines, true); });
}

std::string forecast_to_json_line(const Forecast& forecast, bool operations) {
    std::string text;
    append_prediction(text, forecast, Layout::one_line, operations);
    return text;
}

std::string forecasts_to_csv(const std::vector<Forecast>& forecasts, bool per_operation) {
    if (per_operation) return calls_to_csv(forecasts);
    return to_csv(fill(csv_columns<Forecast>(itself, forecast_lines), forecasts));
}

std::string operations_to_csv(const std::vector<Forecast>& forecasts) {
    return to_csv(fill(csv_columns<Forecast>(itself, single_call_lines), forecasts));
}

std::string operations_to_json(const std::vector<Forecast>& forecasts) {
    return predictions_json(forecasts, [](std::string& text, F one) {
        JsonObject to(text, Layout::lines);
        add_reported(to, one, single_call_lines);
        to.end();
    });
}

}  // namespace joulecast::cli
