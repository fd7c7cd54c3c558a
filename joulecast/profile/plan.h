#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/profile/augment.h"
#include "joulecast/profile/request.h"

namespace joulecast {

/// What a device is asked to keep while everything of a stage is measured; NaN: as it is.
struct ClockSetting {
    double sm_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    double memory_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    double power_limit_w = std::numeric_limits<double>::quiet_NaN();
    FoundClocks found = {};  ///< what "as it is" was when the plan was made
};

/// Why an operation is measured: a plan names it, a network calls it, it is one of probe_operations(), or one of
/// augment().
enum class Purpose { named, network, probe, augmentation };

/// "named", "operation" (of a network), "probe", "augmentation".
std::string_view name(Purpose purpose);

struct PlannedOperation {
    Operation operation;
    OperatingPoint point;
    std::size_t stage = 0;  ///< place in Plan::stages
    double call_s = 0;      ///< one call by the roofline
    double share_s = 0;  ///< seconds of all calls in all networks of the request, by the roofline: ranks, no forecast
    double cost_s = 0;   ///< what measuring it will take
    Purpose purpose = Purpose::network;
    double calls = 0;            ///< in all networks of the request
    bool first_of_kind = false;  ///< of the networks' calls of its target and family the one with the largest share
};

/// `a` is kept rather than `b` where not both fit: what plans name first, then the probe, then of the networks' calls
/// one of each kind, then what takes most of their time, augmentation last.
bool matters_more(const PlannedOperation& a, const PlannedOperation& b);

struct PlannedNetwork {
    Variation variation;
    OperatingPoint point;
    Optimizer optimizer = Optimizer::none;
    std::size_t stage = 0;
    double call_s = 0;  ///< one pass by the roofline
    double cost_s = 0;
};

/// An operation that the database has from a first pass alone (first_pass.h).
struct RoughOperation {
    std::int64_t row = 0;
    PlannedOperation planned;
    double error_s = 0;  ///< of a call

    /// By which operations are chosen for the second pass: what the error makes of the networks' time.
    double weight_s() const;
};

/// What is missing, in the order in which it will be measured: stage by stage, since switching clocks takes longer than
/// measuring an operation.
struct Plan {
    std::string engine = OperatingPoint{}.engine;  ///< that all is measured with
    std::vector<ClockSetting> stages;
    std::vector<PlannedOperation> operations;
    std::vector<PlannedNetwork> networks;
    std::int64_t wanted = 0;    ///< unique operations and networks of the request (of this shard)
    std::int64_t measured = 0;  ///< of these, in the database already
    std::int64_t left_out = 0;  ///< of these, beyond the budget
    double covered_share = 1;   ///< estimated network time of planned and measured operations / of all
    double cost_s = 0;
    std::optional<double> limit_s;  ///< what the budgets leave for this sweep
    /// With a budget: seconds of timing for each operation at first; absent: as MeasureSettings say.
    std::optional<double> first_pass_s;
    std::vector<RoughOperation> rough;  ///< measured already, to be measured longer when all else is done
    bool energy_wanted = false;

    /// Of the networks from that stage on.
    double networks_cost_s(std::size_t first_stage = 0) const;
};

struct PlanSettings {
    Device device;
    OperatingPoint point;                                 ///< apart from the clocks
    std::vector<ClockSetting> clocks = {ClockSetting{}};  ///< everything at each of these
    Method method = Method::joulecast;
    Optimizer optimizer = Optimizer::none;  ///< of networks in training
    bool energy_wanted = false;             ///< and there is a meter
    bool energy_required = false;           ///< of every row: there is no first pass without it
    double overhead_s = 0;                  ///< of this sweep, beside the measurements: soak, clocks, references
    std::optional<double> budget_s;         ///< for this sweep
    std::optional<double> whole_budget_s;   ///< for all of the plan, what is measured already included
    int shard = 1;                          ///< from 1 to shards
    int shards = 1;
    std::uint64_t seed = 1;            ///< of the order
    std::vector<Sample> named;         ///< to measure before all others, what matters most first
    std::vector<Sample> probe;         ///< to measure besides the variations, before them
    std::vector<Sample> augmentation;  ///< the same, after them
};

/// Unique operations over all variations, without those that cost nothing (views, computing of sizes), minus what the
/// dataset (if there is one yet) holds. Each costs what operations took on average so far, or else 0.5 s. With a budget
/// each gets a short first pass, if that is what it takes to have them all (first_pass.h); where not even that fits,
/// what matters_more() is taken; networks get half of it at most. A budget for the whole plan of which nine tenths are
/// spent counts as used up, so that a finished plan stays finished although estimates change. Operations of a stage are
/// then put into random order, so that no drift of the machine hits one kind of them.
Plan make_plan(const std::vector<Variation>& variations, const Dataset* dataset, const PlanSettings& settings);

/// Key under which the dataset finds an operation measured at that point.
MeasurementKey key_of(const Operation& operation, const OperatingPoint& point, Method method = Method::joulecast,
                      const FoundClocks& found = {});
/// The network measurement to be, without results.
NetworkMeasurement describe(const PlannedNetwork& planned);

/// The operation does something on the device, and can be called by name.
bool is_measurable(const Operation& operation);

}  // namespace joulecast
