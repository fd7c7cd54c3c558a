#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "cli/forecast_words.h"
#include "cli/reported.h"
#include "joulecast/answer/answer.h"
#include "joulecast/graph/symbol_values.h"

// What is reported of a forecast: a line for each number or word. JSON, CSV and Python follow it.
namespace joulecast::cli::forecast_report {

template <class Object>
void add_symbols(Object& to, const Forecast& forecast) {
    Object symbols = to.object("symbols");
    for (const auto& [symbol, value] : forecast.network.symbols) symbols.add(symbol, value);
    symbols.end();
}

/// Every evidence of times, and by how the power of operations came about those that occur.
template <class Object>
void add_shares(Object& to, const Forecast& forecast) {
    const NetworkForecast& n = forecast.network;
    Object shares = to.object("evidence_share");
    for (const Evidence evidence :
         {Evidence::measured, Evidence::interpolated, Evidence::extrapolated, Evidence::analytic, Evidence::unknown}) {
        const auto found = n.evidence_share.find(evidence);
        shares.add(name(evidence), found == n.evidence_share.end() ? 0.0 : found->second);
    }
    shares.end();
    Object power = to.object("power_evidence_share");
    for (const auto& [evidence, share] : n.power_evidence_share) power.add(name(evidence), share);
    power.end();
}

/// Of energy and time, what one forward and backward pass takes of an update with several.
inline double of_a_pass(double whole, const NetworkForecast& n) {
    return whole / static_cast<double>(n.training.accumulation);
}

/// Of an engine whose fusion is known.
template <class Object>
void add_fusion(Object& to, const Forecast& forecast) {
    if (!forecast.network.fusion) return;
    const FusedCalls& calls = *forecast.network.fusion;
    Object fusion = to.object("fusion");
    fusion.add("framework", calls.framework);
    fusion.add("networks", calls.networks);
    fusion.add("alone", calls.alone);
    fusion.add("fused", calls.fused);
    fusion.add("not_run", calls.not_run);
    fusion.end();
}

inline std::optional<std::string> if_any(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

using F = const Forecast&;

inline constexpr Reported model_line{"model", "", [](F f) { return f.network.model; }};
inline constexpr Reported mode_line{"mode", "", [](F f) { return name(f.network.mode); }};
inline constexpr Reported precision_line{"precision", "", [](F f) { return f.network.precision; }};
inline constexpr Reported memory_format_line{"memory_format", "", [](F f) { return name(f.network.memory_format); }};
inline constexpr Reported engine_line{"engine", "", [](F f) { return f.network.point.engine; }};
inline constexpr Reported host_line{"host", "", [](F f) { return name(f.network.point.host); }};

inline constexpr std::tuple device_lines{
    Reported{"device", "", [](F f) { return f.network.device; }},
    Reported{"device_name", "", [](F f) { return f.device_name; }},
    Reported{"clock", "mhz", [](F f) { return f.network.point.sm_clock_mhz; }},
    Reported{"memory_clock", "mhz", [](F f) { return f.network.point.memory_clock_mhz; }},
    Reported{"asked_clock", "mhz", [](F f) { return f.network.asked.sm_clock_mhz; }},
    Reported{"asked_memory_clock", "mhz", [](F f) { return f.network.asked.memory_clock_mhz; }},
    Reported{"asked_power_limit", "w", [](F f) { return f.network.asked.power_limit_w; }},
};

inline constexpr std::tuple setting_lines{
    Reported{"clock_workloads", "", [](F f) { return f.clock_workloads; }},
    mode_line,
    precision_line,
    memory_format_line,
    engine_line,
    host_line,
    Reported{"host_cpu", "", [](F f) { return if_any(f.network.point.host_cpu); }},
    Reported{"threads", "", [](F f) { return f.network.point.threads; }},
    ReportedInObject{[](auto& to, F f) { add_symbols(to, f); }},
    Reported{"symbols", "", [](F f) { return values_text(f.network.symbols); }, In::csv},
};

inline constexpr std::tuple cost_lines{
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
    Reported{"tokens_per", "s", [](F f) { return tokens_of(f.network) / f.network.time.value.value(); }},
    Reported{"energy_per_token", "j", [](F f) { return f.network.energy.value.value() / tokens_of(f.network); }},
};

/// Over the forecast at the device's own clock, where a clock or limit is asked for.
inline constexpr std::tuple relative_lines{
    Reported{"clock", "mhz", [](const RelativeToDefault& r) { return r.point.sm_clock_mhz; }},
    Reported{"memory_clock", "mhz", [](const RelativeToDefault& r) { return r.point.memory_clock_mhz; }},
    Reported{"time", "", [](const RelativeToDefault& r) { return r.cost.time; }},
    Reported{"energy", "", [](const RelativeToDefault& r) { return r.cost.energy; }},
    Reported{"power", "", [](const RelativeToDefault& r) { return r.cost.power; }},
};

inline const RelativeToDefault* relative(F forecast) {
    return forecast.relative_to_default ? &*forecast.relative_to_default : nullptr;
}

inline constexpr std::tuple evidence_lines{
    Reported{"predictor", "", [](F f) { return f.network.predictor; }},
    Reported{"predictor_method", "", [](F f) { return f.network.method; }},
    Reported{"predictor_note", "", [](F f) { return f.note; }},
    ReportedInObject{[](auto& to, F f) { add_shares(to, f); }},
    ReportedInObject{[](auto& to, F f) { add_fusion(to, f); }},
    Reported{"power_evidence", "", [](F f) { return power_evidence_words(f.network); }, In::csv},
    Reported{"unknown_nodes", "", [](F f) { return f.network.unknown_nodes; }},
    Reported{"unknown_operations", "", [](F f) { return f.network.unknown_operations; }},
    Reported{"lower_bound", "", [](F f) { return f.network.lower_bound; }},
};

using N = const NetworkForecast&;

/// Where the memory goes, whether it fits, and the published estimates beside it; of a network with a plan.
inline constexpr std::tuple memory_lines{
    Reported{"parameter", "bytes", [](N n) { return n.memory_plan->parameter_bytes; }},
    Reported{"buffer", "bytes", [](N n) { return n.memory_plan->buffer_bytes; }},
    Reported{"input", "bytes", [](N n) { return n.memory_plan->input_bytes; }},
    Reported{"output", "bytes", [](N n) { return n.memory_plan->output_bytes; }},
    Reported{"activation", "bytes", [](N n) { return n.memory_plan->activation_bytes; }},
    Reported{"saved", "bytes", [](N n) { return n.memory_plan->saved_bytes; }},
    Reported{"gradient", "bytes", [](N n) { return n.memory_plan->gradient_bytes; }},
    Reported{"optimizer", "bytes", [](N n) { return n.memory_plan->optimizer_bytes; }},
    Reported{"workspace", "bytes", [](N n) { return n.memory_plan->workspace_bytes; }},
    Reported{"library", "bytes", [](N n) { return n.memory_plan->library_bytes; }},
    Reported{"reserved", "bytes", [](N n) { return n.memory_plan->reserved_bytes; }},
    ReportedInObject{[](auto& to, N n) {
        const MemoryPlan& plan = *n.memory_plan;
        if (plan.peak_at < plan.timeline.size()) to.add("peak_in", name(plan.timeline[plan.peak_at].pass));
    }},
    Reported{"checkpointed_blocks", "", [](N n) { return n.checkpointed_blocks; }},
    Reported{"needed", "bytes", [](N n) { return n.memory_fit.value_or(MemoryFit{}).needed_bytes; }},
    Reported{"available", "bytes", [](N n) { return n.memory_fit.value_or(MemoryFit{}).available_bytes; }},
    Reported{"fits", "", [](N n) { return n.memory_fit.value_or(MemoryFit{}).fits(); }},
    Reported{"sponner_optimistic", "bytes", [](N n) { return n.sponner ? n.sponner->optimistic_bytes : std::nan(""); }},
    Reported{"sponner_pessimistic", "bytes",
             [](N n) { return n.sponner ? n.sponner->pessimistic_bytes : std::nan(""); }},
};

template <class Object>
void add_memory(Object& to, N network) {
    if (!network.memory_plan) return to.add_null("memory");
    Object memory = to.line("memory");
    add_reported(memory, network, memory_lines);
    memory.end();
}

inline constexpr auto forecast_lines =
    std::tuple_cat(std::tuple{model_line}, device_lines, setting_lines, cost_lines,
                   std::tuple{ReportedPart{"relative_to_default", "relative_", relative, relative_lines}},
                   evidence_lines, std::tuple{ReportedInObject{[](auto& to, F f) { add_memory(to, f.network); }}});

/// Of all calls of an operation in a network.
inline constexpr std::tuple call_lines{
    Reported{"op", "", [](const OperationForecast& o) { return o.operation.target; }},
    Reported{"signature", "", [](const OperationForecast& o) { return signature(o.operation); }},
    Reported{"count", "", [](const OperationForecast& o) { return o.count; }},
    Reported{"time", "s", [](const OperationForecast& o) { return o.cost.device_time; }},
    Reported{"energy", "j", [](const OperationForecast& o) { return o.energy; }},
    Reported{"power", "w", [](const OperationForecast& o) { return o.power; }},
    Reported{"part", "", [](const OperationForecast& o) { return name(o.part); }},
    ReportedInObject{[](auto& to, const OperationForecast& o) {
        if (!o.role.empty()) to.add("role", o.role);
    }},
    Reported{"evidence", "", [](const OperationForecast& o) { return name(o.evidence); }},
    Reported{"power_evidence", "", [](const OperationForecast& o) { return name(o.power_evidence); }},
};

/// What `predict --operation` forecasts is a network of one call.
inline const OperationForecast& call(F forecast) {
    return forecast.network.operations.front();
}

inline constexpr auto single_call_lines =
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

}  // namespace joulecast::cli::forecast_report
