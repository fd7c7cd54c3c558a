#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/train/calibrate_networks.h"

namespace joulecast {

/// Ways from calls to a network. sum: the calls' times added up, as layer-wise papers do it; scaled_sum: that times a
/// factor fitted to other networks; aggregate and timeline: forecast/compose.h, with factors fitted likewise.
enum class ComposedBy { timeline, aggregate, scaled_sum, sum };

inline constexpr std::array all_compositions{ComposedBy::timeline, ComposedBy::aggregate, ComposedBy::scaled_sum,
                                             ComposedBy::sum};

/// "timeline", "aggregate", "scaled_sum", "sum".
std::string_view name(ComposedBy composition);

/// The calls of a network, with what they add up to.
struct ComposedCalls {
    NetworkParts parts;  ///< with the training step's additions; from the host that the network was measured from
    double sum_s = 0;    ///< of the graph's calls alone
    double sum_j = 0;    ///< gross; NaN where a power is not known
    double calls_s = 0;  ///< of all calls, the training step's too
};

/// A measured network beside its calls.
struct CompositionSample {
    std::string device;
    std::string left_out;   ///< what nothing is fitted to while this is told: its name, or its device
    std::string pool;       ///< samples of other pools are of another kind: its device, or that of all devices
    NetworkSample network;  ///< its parts are not used
    std::string precision;
    PowerFacts power;
    ComposedCalls forecast;                 ///< by models that saw no row of them
    std::optional<ComposedCalls> measured;  ///< where nine tenths of their time were measured
};

/// Of a model that did not see the network's operations; `measured` are the measured operations of its device.
CompositionSample composition_sample(const DeviceModel& device, std::span<const Feature* const> columns,
                                     const TrainingNetwork& network, const MeasuredOperations& measured);

/// How far one way of composing is off, over the networks of a device, mode, precision and host.
struct CompositionAccuracy {
    std::string device;
    std::string mode;
    std::string precision;
    std::string host;
    bool measured_operations = false;  ///< composed from measured calls, else from forecast ones
    ComposedBy composition = ComposedBy::timeline;
    std::int64_t networks = 0;
    std::int64_t without_order = 0;  ///< bags: timeline is the aggregate form for them
    double time_mape = std::numeric_limits<double>::quiet_NaN();
    double time_median_ape = std::numeric_limits<double>::quiet_NaN();
    double time_bias = std::numeric_limits<double>::quiet_NaN();  ///< geometric mean of composed / measured, less 1
    double energy_mape = std::numeric_limits<double>::quiet_NaN();
};

/// Every way over the same networks: those of which all ways tell something. Factors are fitted to the samples of the
/// same pool, mode and precision, those with the same `left_out` not among them.
std::vector<CompositionAccuracy> compare_compositions(std::span<const CompositionSample> samples);

}  // namespace joulecast
