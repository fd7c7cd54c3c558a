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

enum class Outcome { ok, unstable, out_of_memory, unsupported, crashed, inferred };

std::string_view name(Outcome outcome);
std::optional<Outcome> parse_outcome(std::string_view text);

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

/// How a worker measures; the defaults are those of docs/method.md.
struct MeasureSettings {
    double warm_up_s = 0.05;
    double time_budget_s = 0.25;  ///< timing of one phase, at most
    double min_block_s = 1e-3;    ///< length of a block (0.5e-3 on a GPU)
    double relative_half_width = 0.005;
    double working_set_bytes = 0;  ///< rotate over at least this much; 0: three times the last-level cache
    bool measure_hot = true;       ///< also time one set of tensors, cache-warm
    bool measure_memory = true;
    bool keep_blocks = true;  ///< send raw block times
    int threads = 0;          ///< 0: as many as there are physical cores
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
    std::optional<TimeSummary> forward;                          ///< training mode only: forward alone, in grad mode
    double energy_j = std::numeric_limits<double>::quiet_NaN();  ///< gross, per call
    double dynamic_energy_j = std::numeric_limits<double>::quiet_NaN();  ///< above idle-active power, per call
    std::string energy_missing_reason;
    double peak_memory_bytes = std::numeric_limits<double>::quiet_NaN();  ///< above what inputs and weights hold
    double working_set_bytes = 0;                                         ///< bytes rotated over
    std::int64_t rotation = 1;                                            ///< distinct sets of tensors
    std::vector<double> block_s;  ///< raw seconds per call of each block, in order (rotating)
    double wall_s = 0;            ///< what this measurement took in all
};

/// A whole network measured at one point.
struct NetworkMeasurement {
    std::string model;
    std::map<std::string, std::int64_t> symbols;
    Mode mode = Mode::inference;
    std::string precision = "fp32";
    OperatingPoint asked;
    OperatingPoint real;
    Outcome outcome = Outcome::ok;
    std::string message;
    TimeSummary time;
    std::optional<TimeSummary> forward;
    double energy_j = std::numeric_limits<double>::quiet_NaN();
    std::string energy_missing_reason;
    double peak_memory_bytes = std::numeric_limits<double>::quiet_NaN();  ///< above parameters and inputs
    double resident_bytes = std::numeric_limits<double>::quiet_NaN();     ///< parameters, buffers and inputs
    std::vector<double> block_s;
    double wall_s = 0;
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

}  // namespace joulecast
