#pragma once

#include <functional>
#include <string>

#include "joulecast/measure/block_timer.h"
#include "joulecast/measure/measurement.h"
#include "joulecast/measure/meter_traits.h"
#include "joulecast/measure/workload.h"
#include "joulecast/meter/device_state.h"
#include "joulecast/meter/meter.h"

namespace joulecast {

/// Another way to run launch-bound calls, so that the device is busy with them alone.
struct Replay {
    /// A captured graph of unrolled calls (hot: another one), or for "spin" the calls as they are; null: there is none.
    Workload* workload = nullptr;
    BlockTimer* timer = nullptr;           ///< how it is timed; null: as all else
    std::string device_time_by = "graph";  ///< or "spin": the calls wait behind a kernel that holds the stream
};

/// A workload, and how to replay it should it turn out launch-bound.
struct Phase {
    Workload* workload = nullptr;
    /// Asked at most once. Empty, or a Replay without a workload: it cannot be captured.
    std::function<Replay()> replay = nullptr;
};

/// What there is to measure of one operation or network.
struct Calls {
    Phase whole;       ///< in training mode forward + backward
    Phase forward;     ///< training mode: forward alone, in grad mode
    bool hot = false;  ///< also cache-warm
    /// Peak bytes of one call, in a pass of its own, nothing of it timed. Empty: not measured.
    std::function<double()> peak_memory_bytes;
};

/// What it is measured with.
struct Instruments {
    Clock& clock;
    BlockTimer& timer;       ///< of the device
    Meter* meter = nullptr;  ///< null: no energy, because of:
    std::string energy_missing_reason;
    MeterTraits traits;                 ///< of the meter, calibrated
    DeviceStateProbe* state = nullptr;  ///< null: conditions stay unknown
};

/// The recipe: warm up, classify, time, energy, memory, summarise, by the protocol that settings.method names. Fills
/// time, forward, hot, issue, energy or why not, conditions, outcome and message, peak memory, blocks, and the clocks
/// of `real` where the probe knows them; the rest is the caller's. What the workload throws passes through.
void measure_calls(const Calls& calls, const Instruments& instruments, const MeasureSettings& settings,
                   Measurement& measurement);
/// A network gets ten times the time budget, since its noise is that of hundreds of operations.
void measure_calls(const Calls& calls, const Instruments& instruments, const MeasureSettings& settings,
                   NetworkMeasurement& measurement);

}  // namespace joulecast
