#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/device/cost.h"
#include "joulecast/device/device.h"
#include "joulecast/forecast/training_setup.h"
#include "joulecast/graph/graph.h"
#include "joulecast/graph/memory_format.h"
#include "joulecast/physics/clock_curve.h"
#include "joulecast/physics/memory.h"
#include "joulecast/physics/memory_fit.h"
#include "joulecast/physics/sponner_bounds.h"

namespace joulecast {

/// What decides a network's time, or its power: computing, issuing, or the device's power limit.
enum class Bound { device, host, power_cap };

std::string_view name(Bound bound);

/// How calls become a network (compose.h): on two timelines, in the order in which they are issued, or, where that is
/// not known, by their sums alone.
enum class Composition { timeline, aggregate };

std::string_view name(Composition composition);

/// How a number came about. analytic: roofline only; unknown: nothing to go by, never counted as zero.
enum class Evidence { measured, interpolated, extrapolated, analytic, unknown };

std::string_view name(Evidence evidence);

/// How a power came about. learned: by a model of measured ones; shared: of a family that was never metered, between
/// what the device draws idle and busy; physical: from the data sheet (physics/physical_power.h), since no power was
/// measured on the device.
enum class PowerEvidence { none, measured, learned, shared, physical };

/// "measured", "learned", "between idle and busy", "physical power model"; none is "unknown".
std::string_view name(PowerEvidence evidence);

struct KernelError;

struct OperationForecast {
    Operation operation;
    std::int64_t count = 1;
    Cost cost;                              ///< of one call
    Estimate<Watts> power;                  ///< while it runs again and again; unknown() where nobody can tell
    Estimate<Joules> energy;                ///< of one call, idle power included
    Evidence evidence = Evidence::unknown;  ///< of the time
    PowerEvidence power_evidence = PowerEvidence::none;
    /// What it would draw if no limit held it, where `power` stands at the limit; else NaN. Its dynamic energy is by
    /// this.
    double unlimited_w = std::numeric_limits<double>::quiet_NaN();
    /// What the device works for a call in a network, where the forecast knows it apart from launching; else NaN, and
    /// it is what the time has beyond the host's share.
    double kernel_s = std::numeric_limits<double>::quiet_NaN();
    /// Of such a kernel: told by measurements of the device itself, at the clock that its power limit left.
    bool is_own = false;
    /// Of a convolution on a device that was never measured: copies of images (tensor_core_convolution.h).
    double turned_bytes = 0;
    /// On a device that was never measured: what its error has in common with those of other calls
    /// (unseen_network.h). Null elsewhere, and of a call that stands for a list of parameters.
    std::shared_ptr<const KernelError> error = {};
    /// Of the kernel, by its counts and the data sheet, at the highest clocks: how arithmetic and bytes balance decides
    /// how its time follows the clocks (clock_balance.h). All zero where it computes nothing.
    KernelTime balance;
    /// forward: a call of the graph, in training with its backward pass; else what a training step adds.
    StepPart part = StepPart::forward;
    /// In the kernel of an engine that fuses calls, "convolution+relu" (fused_calls.h); empty where that is not known.
    std::string role = {};
};

/// A network's calls under an engine that fuses them, by rules that were learnt from other networks.
struct FusedCalls {
    std::string framework;      ///< "onnxruntime 1.32.0": whose rules
    std::int64_t networks = 0;  ///< that they were learnt from
    double sigma = 0;           ///< systematic log error of a network's time
    // Of the calls that compute:
    std::int64_t alone = 0;    ///< run in a kernel of their own, or one that others are fused into
    std::int64_t fused = 0;    ///< run in the kernel of another
    std::int64_t not_run = 0;  ///< in none
};

/// A call of it there, in the order of NetworkForecast::operations.
struct CallAtClock {
    Estimate<Seconds> time;
    Estimate<Watts> power;
    Estimate<Joules> dynamic_energy;
    Evidence evidence = Evidence::unknown;
};

/// A network at clocks that its operations were measured at, with no power limit.
struct ForecastAtClock {
    double sm_clock_mhz = 0;
    double memory_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    Estimate<Seconds> time;
    Estimate<Seconds> device_time;
    Estimate<Seconds> host_time;
    Estimate<Watts> power;  ///< unknown() where nobody can tell
    Estimate<Joules> energy;
    std::vector<CallAtClock> calls;
};

/// A call with a tensor of more elements than the indices of its fast kernels reach.
struct BeyondIndices {
    double elements = 0;
    double largest_batch = 0;  ///< that they reach
};

struct NetworkForecast {
    std::string model;
    std::string device;
    OperatingPoint point;
    OperatingPoint
        asked;  ///< clocks and power limit that were asked for (at_point.h); `point` is what the limit leaves
    Mode mode = Mode::inference;
    std::string precision = "fp32";
    MemoryFormat memory_format = MemoryFormat::contiguous;
    std::map<std::string, std::int64_t> symbols;
    Cost cost;
    Estimate<Seconds> time;
    Estimate<Joules> energy;      ///< unknown() where no power is known of the device, with the reason below
    Estimate<Watts> power;        ///< energy over time
    Estimate<Seconds> host_adds;  ///< to the time, beyond that of the host that the operations were measured with
    /// measured: by the operations' own host; interpolated: fitted to networks measured from this one; analytic:
    /// neither, or issued by another CPU
    Evidence host_evidence = Evidence::measured;
    std::int64_t host_networks = 0;  ///< models measured from this host, where that is not the operations'
    /// Of a GPU's host that nobody measured and whose CPU nobody named: how many times as slow as the costs of calls
    /// say it is taken to be (issue_cost.h); NaN: a host that is known.
    double guessed_host_pace = std::numeric_limits<double>::quiet_NaN();
    Composition composition = Composition::aggregate;
    TrainingSetup training;         ///< what time and energy are of: one update with all passes before it
    Estimate<Seconds> update_time;  ///< of that, the optimizer's; unknown() without one
    Bound limited_by = Bound::device;
    /// Of its kernels' time at these clocks, that of kernels whose arithmetic takes longer than their bytes, by counts
    /// and data sheet; NaN: not known of any.
    double compute_share = std::numeric_limits<double>::quiet_NaN();
    double idle_energy_j = std::numeric_limits<double>::quiet_NaN();     ///< what the idle device would have drawn
    double dynamic_energy_j = std::numeric_limits<double>::quiet_NaN();  ///< the rest
    std::string energy_missing_reason;
    /// Empty where the peak memory is known.
    std::string memory_missing_reason;
    double resident_bytes =
        std::numeric_limits<double>::quiet_NaN();   ///< parameters, buffers, inputs; NaN without edges
    std::shared_ptr<const MemoryPlan> memory_plan;  ///< the same at every clock; null without edges
    std::optional<MemoryFit> memory_fit;            ///< absent without edges
    std::string overflow;                           ///< why the device's memory is too small (memory_fit.h); else empty
    std::optional<SponnerBounds> sponner;           ///< a baseline of the whole memory
    std::int64_t checkpointed_blocks = 0;
    std::optional<BeyondIndices> beyond_indices;  ///< the farthest beyond, of depthwise convolutions with channels last
    std::map<Evidence, double> evidence_share;    ///< of the forecast time
    std::map<PowerEvidence, double> power_evidence_share;  ///< of the operations' energy; empty without one
    std::int64_t unknown_nodes = 0;
    std::vector<std::string> unknown_operations;
    bool lower_bound = false;
    std::optional<FusedCalls> fusion;  ///< absent: every call runs by itself, as far as is known
    std::string predictor;
    std::string method = "joulecast";  ///< or the published one that forecasts: "thesis", "sponner"
    /// Of a model over clocks: the same network at each of its clocks, whose curve at_point() follows. Ascending by
    /// memory clock, then by core clock.
    std::vector<ForecastAtClock> at_clocks;
    std::vector<OperationForecast> operations;  ///< unique operations, dearest first
};

/// Parameters, buffers, inputs and the peak above them, in bytes; NaN where one is not known.
double memory_bytes(const NetworkForecast& network);

/// Tokens of a run: of all sequences of the batch those that it reads, or the one that each decoding step writes (the
/// symbol `past`); NaN of a network that is not over sequences.
double tokens_of(const NetworkForecast& network);

}  // namespace joulecast
