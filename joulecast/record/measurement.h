#pragma once

#include <cstdint>
#include <tuple>

#include "joulecast/device/device.h"
#include "joulecast/measure/measurement.h"
#include "joulecast/record/description.h"

// What a measurement is made of, for the protocol of workers and the database.
namespace joulecast::record {

template <>
struct Words<Math> {
    static constexpr auto parse = parse_math;
    static constexpr const char* kind = "math (ieee or tf32)";
};

template <>
struct Words<Host> {
    static constexpr auto parse = parse_host;
    static constexpr const char* kind = "host (python, cpp or graph)";
};

template <>
struct Words<Mode> {
    static constexpr auto parse = parse_mode;
    static constexpr const char* kind = "mode (inference or training)";
};

template <>
struct Words<Outcome> {
    static constexpr auto parse = parse_outcome;
    static constexpr const char* kind = "outcome";
};

template <>
struct Words<LimitedBy> {
    static constexpr auto parse = parse_limited_by;
    static constexpr const char* kind = "limit (unknown, none, power_cap, thermal)";
};

template <>
struct Words<Method> {
    static constexpr auto parse = parse_method;
    static constexpr const char* kind = "method (joulecast, thesis or sponner)";
};

template <>
struct Words<Optimizer> {
    static constexpr auto parse = parse_optimizer;
    static constexpr const char* kind = "optimizer (none, sgd, momentum, adam or adamw)";
};

template <>
struct Description<TimeSummary> {
    using S = TimeSummary;
    static constexpr std::tuple fields{
        Field{"mean_s", &S::mean_s},
        Field{"median_s", &S::median_s},
        Field{"half_width_s", &S::half_width_s},
        Field{"p05_s", &S::p05_s},
        Field{"p95_s", &S::p95_s},
        Field{"blocks", &S::blocks},
        Field{"effective_blocks", &S::effective_blocks, {.range = Range{}}},
        Field{"dropped_blocks", &S::dropped_blocks},
        Field{"calls_per_block", &S::calls_per_block},
        Field{"converged", &S::converged},
    };
};

template <>
struct Description<EnergySummary> {
    using S = EnergySummary;
    static constexpr std::tuple fields{
        Field{"energy_j", &S::energy_j},
        Field{"dynamic_energy_j", &S::dynamic_energy_j},
        Field{"power_w", &S::power_w},
        Field{"idle_power_w", &S::idle_power_w},
        Field{"half_width_j", &S::half_width_j, {.column = "energy_half_width_j"}},
        Field{"gain_error", &S::gain_error, {.column = "energy_gain_error"}},
        Field{"window_s", &S::window_s, {.column = "energy_window_s"}},
        Field{"ticks", &S::ticks, {.column = "energy_ticks"}},
        Field{"calls", &S::calls, {.column = "energy_calls"}},
        Field{"drift_per_s", &S::drift_per_s, {.column = "energy_drift_per_s"}},
        Field{"meter", &S::meter, {.absent = Absent::refuse, .column = "energy_meter"}},
        Field{"suspect", &S::suspect, {.column = "energy_suspect"}},
    };
};

template <>
struct Description<IssueSummary> {
    using S = IssueSummary;
    static constexpr std::tuple fields{
        Field{"issue_s", &S::issue_s},
        Field{"eager_s", &S::eager_s},
        Field{"launch_bound", &S::launch_bound},
        Field{"device_time_by", &S::device_time_by, {.absent = Absent::refuse}},
    };
};

template <>
struct Description<Conditions> {
    using S = Conditions;
    static constexpr std::tuple fields{
        Field{"temperature_c", &S::temperature_c},
        Field{"performance_state", &S::performance_state},
        Field{"throttle_reasons", &S::throttle_reasons, {.is_later = true}},
        Field{"limited_by", &S::limited_by, {.is_later = true}},
    };
};

/// The database keeps of asked and real point what they share once (joulecast/dataset/columns.cpp).
template <>
struct Description<OperatingPoint> {
    using S = OperatingPoint;
    static constexpr std::tuple fields{
        Field{"device", &S::device, {.absent = Absent::refuse}},
        Field{"sm_clock_mhz", &S::sm_clock_mhz},
        Field{"memory_clock_mhz", &S::memory_clock_mhz},
        Field{"power_limit_w", &S::power_limit_w},
        Field{"math", &S::math},
        Field{"engine", &S::engine, {.is_later = true}},
        Field{"host", &S::host},
        Field{"host_cpu", &S::host_cpu},
        Field{"threads", &S::threads, {.range = {0, 65536}}},
    };
};

template <>
struct Description<MeasureSettings> {
    using S = MeasureSettings;
    static constexpr std::tuple fields{
        Field{"method", &S::method},
        Field{"warm_up_s", &S::warm_up_s, {.range = {0, 3600}}},
        Field{"time_budget_s", &S::time_budget_s, {.range = {0, 3600}}},
        Field{"min_block_s", &S::min_block_s, {.range = {0, 60}}},
        Field{"relative_half_width", &S::relative_half_width, {.range = {0, 1}}},
        Field{"working_set_bytes", &S::working_set_bytes, {.range = {0, 1e15}}},
        Field{"measure_hot", &S::measure_hot},
        Field{"measure_memory", &S::measure_memory},
        Field{"measure_energy", &S::measure_energy},
        Field{"energy_window_s", &S::energy_window_s, {.range = {0, 3600}}},
        Field{"longest_soak_s", &S::longest_soak_s, {.range = {0, 3600}}},
        Field{"meter", &S::meter},
        Field{"keep_blocks", &S::keep_blocks},
        Field{"threads", &S::threads, {.range = {0, 65536}}},
        Field{"seed", &S::seed},
    };
};

template <>
struct Description<Provenance> {
    using S = Provenance;
    static constexpr std::tuple fields{
        Field{"session", &S::session, {.absent = Absent::refuse}},
        Field{"started", &S::started, {.absent = Absent::refuse}},
        Field{"worker", &S::worker, {.absent = Absent::refuse}},
        Field{"framework", &S::framework, {.absent = Absent::refuse}},
        Field{"machine", &S::machine},
        Field{"governor", &S::governor},
        Field{"method", &S::method},
        Field{"settings", &S::settings},
        Field{"source", &S::source},
    };
};

/// What operations and networks have alike. Raw blocks are stored in a table of their own; when it was measured is
/// written by who asked for it.
template <class S>
inline constexpr std::tuple measured_fields{
    Field{"outcome", &S::outcome, {.absent = Absent::refuse}},
    Field{"message", &S::message},
    Field{"time", &S::time, {.absent = Absent::refuse, .column = "time_"}},
    Field{"forward", &S::forward, {.column = "forward_"}},
    Field{"issue", &S::issue, {.column = ""}},
    Field{"energy", &S::energy, {.column = ""}},
    Field{"energy_missing_reason", &S::energy_missing_reason},
    Field{"conditions", &S::conditions, {.column = ""}},
    Field{"peak_memory_bytes", &S::peak_memory_bytes},
    Field{"workspace_bytes", &S::workspace_bytes},
    Field{"block_s", &S::block_s, {.where = Where::json}},
    Field{"wall_s", &S::wall_s, {.range = Range{}}},
    Field{"started_at", &S::started_at, {.where = Where::database}},
    Field{"ended_at", &S::ended_at, {.where = Where::database}},
};

template <class S>
inline constexpr std::tuple point_fields{
    Field{"asked", &S::asked, {.absent = Absent::refuse, .column = "asked_"}},
    Field{"real", &S::real, {.absent = Absent::refuse, .column = "real_"}},
};

template <>
struct Description<Measurement> {
    using S = Measurement;
    static constexpr auto fields = std::tuple_cat(
        std::tuple{Field{"operation", &S::operation, {.absent = Absent::refuse}}}, point_fields<S>, measured_fields<S>,
        std::tuple{
            Field{"hot", &S::hot, {.column = "hot_"}},
            Field{"working_set_bytes", &S::working_set_bytes, {.range = Range{}}},
            Field{"rotation", &S::rotation, {.range = Range{.low = 1}}},
        });
};

template <>
struct Description<NetworkKernel> {
    using S = NetworkKernel;
    static constexpr std::tuple fields{
        Field{"kernel", &S::kernel, {.absent = Absent::refuse}},
        Field{"operations", &S::operations},
    };
};

template <>
struct Description<NetworkMeasurement> {
    using S = NetworkMeasurement;
    static constexpr auto fields = std::tuple_cat(
        std::tuple{
            Field{"model", &S::model, {.absent = Absent::refuse}},
            Field{"symbols", &S::symbols, {.absent = Absent::refuse}},
            Field{"mode", &S::mode, {.absent = Absent::refuse}},
            Field{"precision", &S::precision},
            Field{"optimizer", &S::optimizer, {.is_later = true}},
        },
        point_fields<S>, measured_fields<S>,
        std::tuple{
            Field{"resident_bytes", &S::resident_bytes},
            Field{"memory_active", &S::memory_active, {.where = Where::database}},
            Field{"kernels", &S::kernels, {.is_later = true}},
        });
};

}  // namespace joulecast::record
