#pragma once

#include <cstdint>

#include "joulecast/worker/protocol.h"
#include "workers/pretend/card.h"
#include "workers/pretend/options.h"

namespace joulecast::pretend {

/// What makes one trial differ from the laws.
struct Luck {
    double time = 1;         ///< factor of all times
    double power = 1;        ///< of all powers
    double noise = 0;        ///< between blocks
    std::uint64_t seed = 1;  ///< of the latter
    bool no_energy = false;
    bool thermal = false;  ///< too hot for its clock
};

/// Measures the operation or network in pretended time, by the recipe of joulecast/measure. Throws Error for a point
/// that the card cannot be brought to.
Measurement measure_operation(const Card& card, const protocol::Measure& request, const Luck& luck);
NetworkMeasurement measure_network(const Card& card, const protocol::MeasureGraph& request, const Luck& luck);
protocol::TimedRuns time_runs(const Card& card, const protocol::TimeRuns& request, const Luck& luck);
protocol::Prepared prepare_point(const Card& card, const protocol::Prepare& request);

/// What the network is asked for as, with its model, symbols, mode and precision.
NetworkMeasurement described(const protocol::MeasureGraph& request);

}  // namespace joulecast::pretend
