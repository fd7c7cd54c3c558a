#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/device/device.h"
#include "joulecast/graph/operation.h"

namespace joulecast {

/// `suspect`: it has numbers, but not all of them can be right (dataset/plausible.h).
enum class Outcome { ok, unstable, out_of_memory, unsupported, crashed, inferred, suspect };

std::string_view name(Outcome outcome);
std::optional<Outcome> parse_outcome(std::string_view text);
/// It has a time that counts: ok or unstable.
bool is_timed(Outcome outcome);

/// What kept the device from its highest clock while it was measured; `unknown` where the device does not tell.
enum class LimitedBy { unknown, none, power_cap, thermal };

std::string_view name(LimitedBy limit);
std::optional<LimitedBy> parse_limited_by(std::string_view text);

/// The protocol by which numbers are taken: ours, or one of the two papers' for comparison.
enum class Method { joulecast, thesis, sponner };

std::string_view name(Method method);
std::optional<Method> parse_method(std::string_view text);

/// What updates the weights at the end of a network's training step.
enum class Optimizer { none, sgd, momentum, adam, adamw };

std::string_view name(Optimizer optimizer);
std::optional<Optimizer> parse_optimizer(std::string_view text);

/// Seconds per call from blocks of calls; what the timing rule of docs/method.md reports.
struct TimeSummary {
    double mean_s = std::numeric_limits<double>::quiet_NaN();
    double median_s = std::numeric_limits<double>::quiet_NaN();
    double half_width_s = std::numeric_limits<double>::quiet_NaN();  ///< 95 %, autocorrelation-corrected
    double p05_s = std::numeric_limits<double>::quiet_NaN();
    double p95_s = std::numeric_limits<double>::quiet_NaN();
    std::int64_t blocks = 0;           ///< kept
    double effective_blocks = 0;       ///< n / (1 + 2 sum of autocorrelations)
    std::int64_t dropped_blocks = 0;   ///< leading transient
    std::int64_t calls_per_block = 0;  ///< before randomisation
    bool converged = false;            ///< half width reached the limit before the budget ended
};

/// What a meter saw while calls ran back to back; the energy rule of docs/method.md.
struct EnergySummary {
    double energy_j = std::numeric_limits<double>::quiet_NaN();          ///< gross, per call
    double dynamic_energy_j = std::numeric_limits<double>::quiet_NaN();  ///< above idle-active power, per call
    double power_w = std::numeric_limits<double>::quiet_NaN();           ///< mean of the window
    double idle_power_w = std::numeric_limits<double>::quiet_NaN();      ///< context alive, nothing running
    /// 95 %, of energy_j: spread of the ticks, edges and time. Without the gain error.
    double half_width_j = std::numeric_limits<double>::quiet_NaN();
    double gain_error = std::numeric_limits<double>::quiet_NaN();  ///< systematic share: cancels in ratios on one card
    double window_s = std::numeric_limits<double>::quiet_NaN();    ///< between the edges
    std::int64_t ticks = 0;  ///< renewals of the meter's value in the window; its independent samples
    std::int64_t calls = 0;  ///< while the load was on: before, in and after the window
    double drift_per_s = std::numeric_limits<double>::quiet_NaN();  ///< slope of power over the window / its mean
    std::string meter;                                              ///< MeterFacts::name
    bool suspect = false;  ///< calibration found the meter's energy and its integrated power more than 3 % apart
};

/// How a device that works apart from its host was driven. Absent on a CPU, where issuing and executing are one.
struct IssueSummary {
    double issue_s = std::numeric_limits<double>::quiet_NaN();  ///< h: host time to issue one call without waiting
    double eager_s = std::numeric_limits<double>::quiet_NaN();  ///< per call, issued one by one, waited for once
    bool launch_bound = false;                                  ///< h / d > 0.5, or d < 20 us
    std::string device_time_by = "events";                      ///< how d was taken: "events", "graph", "spin"
};

/// The device around the measured windows.
struct Conditions {
    double temperature_c = std::numeric_limits<double>::quiet_NaN();  ///< at the end
    std::string performance_state;                                    ///< "P0"; of a CPU: the frequency governor
    std::uint64_t throttle_reasons = 0;                               ///< NVML's bits, before and after together
    LimitedBy limited_by = LimitedBy::unknown;
};

/// How a worker measures; the defaults are those of docs/method.md.
struct MeasureSettings {
    Method method = Method::joulecast;
    double warm_up_s = 0.05;
    double time_budget_s = 0.25;  ///< of timing, at most; in training forward has 40 % of it
    double min_block_s = 1e-3;    ///< length of a block (0.5e-3 on a GPU)
    double relative_half_width = 0.005;
    double working_set_bytes = 0;  ///< rotate over at least this much; 0: three times the last-level cache
    bool measure_hot = true;       ///< also time one set of tensors, cache-warm
    bool measure_memory = true;
    bool measure_energy = true;    ///< where there is a meter
    double energy_window_s = 0.6;  ///< at least; widened to six periods of the meter
    double longest_soak_s = 60;    ///< preparing ends here, whether the temperature has settled or not
    std::string meter = "auto";    ///< which meter (docs/energy.md); "none" measures no energy
    bool keep_blocks = true;       ///< send raw block times
    int threads = 0;               ///< 0: as many as there are physical cores
    std::uint64_t seed = 1;
};

/// One operation measured at one point. In training mode `time` is forward + backward and `forward` stands apart.
struct Measurement {
    Operation operation;
    OperatingPoint asked;
    OperatingPoint real;
    Outcome outcome = Outcome::ok;
    std::string message;             ///< why, if the outcome is not ok
    TimeSummary time;                ///< rotating working set: weights and inputs not left in cache by the last call
    std::optional<TimeSummary> hot;  ///< one set of tensors, again and again
    std::optional<TimeSummary> forward;  ///< training mode only: forward alone, in grad mode
    std::optional<IssueSummary> issue;
    std::optional<EnergySummary> energy;
    std::string energy_missing_reason;
    Conditions conditions;
    double peak_memory_bytes = std::numeric_limits<double>::quiet_NaN();  ///< above what inputs and weights hold
    double workspace_bytes = std::numeric_limits<double>::quiet_NaN();    ///< of libraries, kept between calls
    double working_set_bytes = 0;                                         ///< bytes rotated over
    std::int64_t rotation = 1;                                            ///< distinct sets of tensors
    std::vector<double> block_s;  ///< raw seconds per call of each block, in order (rotating)
    double wall_s = 0;            ///< what this measurement took in all
    /// ISO 8601, UTC, with milliseconds, by the clock of whoever asked: fits a continuous power log beside it.
    std::string started_at;
    std::string ended_at;
};

/// A kernel of an engine that rewrites a network before it runs it.
struct NetworkKernel {
    std::string kernel;                    ///< the engine's name for it
    std::vector<std::int32_t> operations;  ///< nodes of the graph that it does, ascending; empty: nobody can tell
    friend bool operator==(const NetworkKernel&, const NetworkKernel&) = default;
};

/// A whole network measured at one point.
struct NetworkMeasurement {
    std::string model;
    std::map<std::string, std::int64_t> symbols;
    Mode mode = Mode::inference;
    std::string precision = "fp32";
    Optimizer optimizer = Optimizer::none;  ///< training mode: part of the step
    OperatingPoint asked;
    OperatingPoint real;
    Outcome outcome = Outcome::ok;
    std::string message;
    TimeSummary time;
    std::optional<TimeSummary> forward;
    std::optional<IssueSummary> issue;
    std::optional<EnergySummary> energy;
    std::string energy_missing_reason;
    Conditions conditions;
    double peak_memory_bytes = std::numeric_limits<double>::quiet_NaN();  ///< above parameters and inputs
    double workspace_bytes = std::numeric_limits<double>::quiet_NaN();    ///< of libraries, kept between calls
    double resident_bytes = std::numeric_limits<double>::quiet_NaN();     ///< parameters, buffers and inputs
    double memory_active = std::numeric_limits<double>::quiet_NaN();      ///< bytes moved over what could be, 0 to 1
    /// In the order in which they run; a node in none of them is not run. Empty: the engine does not say.
    std::vector<NetworkKernel> kernels;
    std::vector<double> block_s;
    double wall_s = 0;
    std::string started_at;  ///< as of Measurement
    std::string ended_at;
};

/// Who measured: stored with every row.
struct Provenance {
    std::string session;    ///< one id per sweep and worker start
    std::string started;    ///< ISO 8601, UTC
    std::string worker;     ///< "joulecast-torch 0.1.0"
    std::string framework;  ///< "torch 2.13.0"
    std::string machine;    ///< CPU model, cores, kernel
    std::string governor;   ///< CPU frequency governor, or "unknown"
    std::string method = "joulecast";
    std::string settings;        ///< MeasureSettings as JSON
    std::string source = "own";  ///< "own", or the table it was imported from
};

/// OperatingPoint::engine of who names that framework and says no more: its name in lower case without version,
/// "onnxruntime 1.31" -> "onnxruntime". "torch" for who names none.
std::string engine_of(std::string_view framework);
/// It is such a name: 1 to 40 of a-z, 0-9, '.', '_' and '-'.
bool is_engine(std::string_view text);

}  // namespace joulecast
