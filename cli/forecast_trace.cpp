#include "cli/forecast_trace.h"

#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "cli/forecast_words.h"
#include "cli/known.h"
#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

/// ui.perfetto.dev takes about a gigabyte of JSON, a call's events take about one kilobyte.
constexpr std::size_t most_calls = 500'000;

std::string without_namespace(const std::string& target) {
    const std::size_t colons = target.find("::");
    return colons == std::string::npos ? target : target.substr(colons + 2);
}

std::string title(const OperationForecast& operation, const TimedCall& call) {
    const std::string target = with_role(without_namespace(operation.operation.target), operation);
    return call.part == StepPart::backward ? target + " backward" : target;
}

TraceDetails details_of(const TracedForecast& traced, const OperationForecast& operation, const TimedCall& call) {
    TraceDetails details{{"operation", signature(operation.operation)},
                         {"part", std::string(name(call.part))},
                         {"evidence", std::string(name(operation.evidence))},
                         {"power_evidence", std::string(name(operation.power_evidence))},
                         {"dynamic_energy_j", known(call.dynamic_j)}};
    if (!operation.role.empty()) details.emplace_back("role", operation.role);
    if (call.node < 0) return details;
    const Node& node = traced.graph.nodes.at(static_cast<std::size_t>(call.node));
    details.emplace_back("module", node.module_path);
    details.emplace_back("source", node.source_line);
    return details;
}

/// When a call draws its power: while it computes. One that its launch hides takes no time on the device, so it draws
/// while it is issued, and where issuing takes none either, all along.
std::pair<double, double> drawing(const TimedCall& call, double whole_s) {
    if (call.end_s > call.start_s) return {call.start_s, call.end_s};
    if (call.issue_end_s > call.issue_start_s) return {call.issue_start_s, call.issue_end_s};
    return {0, whole_s};
}

/// Idle power, and above it what the calls draw.
TraceCounter power_of(const TracedForecast& traced) {
    const double whole_s = traced.timeline.forecast.time.value.value();
    std::map<double, double> steps{{0, 0}, {whole_s, 0}};  // changes of power in W
    for (const TimedCall& call : traced.timeline.calls) {
        const auto [start_s, end_s] = drawing(call, whole_s);
        if (!(end_s > start_s)) continue;
        const double watts = call.dynamic_j / (end_s - start_s);
        steps[start_s] += watts;
        steps[end_s] -= watts;
    }
    TraceCounter power{"power", "W", {}};
    double above_idle_w = 0;
    for (const auto& [at_s, change_w] : steps) {
        above_idle_w += change_w;
        power.samples.push_back({at_s, traced.idle_w + above_idle_w});
    }
    power.samples.back().value = traced.idle_w;  // without what rounding left over
    return power;
}

TraceDetails about(const NetworkForecast& forecast) {
    TraceDetails details{{"model", forecast.model},
                         {"device", forecast.device},
                         {"mode", std::string(name(forecast.mode))},
                         {"precision", forecast.precision},
                         {"memory_format", std::string(name(forecast.memory_format))},
                         {"engine", forecast.point.engine},
                         {"host", std::string(name(forecast.point.host))},
                         {"clock_mhz", known(forecast.point.sm_clock_mhz)},
                         {"memory_clock_mhz", known(forecast.point.memory_clock_mhz)},
                         {"composition", std::string(name(forecast.composition))},
                         {"time_s", known(forecast.time.value.value())},
                         {"energy_j", known(forecast.energy.value.value())},
                         {"predictor", forecast.predictor}};
    for (const auto& [symbol, value] : forecast.symbols) details.emplace_back(symbol, value);
    return details;
}

}  // namespace

ChromeTrace trace_of(const TracedForecast& traced) {
    const NetworkForecast& forecast = traced.timeline.forecast;
    if (traced.timeline.calls.size() > most_calls)
        throw Error("a trace of " + std::to_string(traced.timeline.calls.size()) +
                    " calls is more than a viewer takes (" + std::to_string(most_calls) +
                    "). Ask for fewer passes with --accumulate");
    ChromeTrace trace;
    trace.process = forecast.model + " on " + traced.device_name + " (forecast)";
    trace.about = about(forecast);
    const bool one_track = traced.computes_where_it_issues;
    trace.tracks = one_track ? std::vector<std::string>{"CPU: issues and computes"}
                             : std::vector<std::string>{"host: issues", "device: computes"};
    for (const TimedCall& call : traced.timeline.calls) {
        const OperationForecast& operation = forecast.operations.at(call.operation);
        const std::string what = title(operation, call);
        const std::string part(name(call.part));
        TraceSpan work{one_track ? 0U : 1U, what, part, call.start_s, call.end_s, details_of(traced, operation, call)};
        if (!one_track) {
            trace.spans.push_back({0, what, part, call.issue_start_s, call.issue_end_s, {}});
            trace.arrows.push_back({trace.spans.size() - 1, trace.spans.size()});
        }
        trace.spans.push_back(std::move(work));
    }
    if (forecast.energy.known()) trace.counters.push_back(power_of(traced));
    return trace;
}

}  // namespace joulecast::cli
