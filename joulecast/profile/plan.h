#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/profile/request.h"

namespace joulecast {

struct PlannedOperation {
    Operation operation;
    double share_s = 0;  ///< seconds of all calls in all networks of the request, by the roofline: ranks, no forecast
    double cost_s = 0;   ///< what measuring it will take
};

struct PlannedNetwork {
    Variation variation;
    double cost_s = 0;
};

/// What is missing, in the order in which it will be measured.
struct Plan {
    std::vector<PlannedOperation> operations;
    std::vector<PlannedNetwork> networks;
    std::int64_t wanted = 0;    ///< unique operations and networks of the request (of this shard)
    std::int64_t measured = 0;  ///< of these, in the database already
    std::int64_t left_out = 0;  ///< of these, beyond the budget
    double covered_share = 1;   ///< estimated network time of planned and measured operations / of all
    double cost_s = 0;
    std::optional<double> limit_s;  ///< what the budgets leave for this sweep

    double networks_cost_s() const;
};

struct PlanSettings {
    Device device;
    OperatingPoint point;
    std::optional<double> budget_s;        ///< for this sweep
    std::optional<double> whole_budget_s;  ///< for all of the plan, what is measured already included
    int shard = 1;                         ///< from 1 to shards
    int shards = 1;
    std::uint64_t seed = 1;  ///< of the order
};

/// Unique operations over all variations, without those that cost nothing (views, computing of sizes), minus what the
/// dataset (if there is one yet) holds. Each costs what operations took on average so far, or else 0.5 s. With a budget
/// the operations with the largest share of network time are taken first; networks get half of it at most. A budget for
/// the whole plan of which nine tenths are spent counts as used up, so that a finished plan stays finished although
/// estimates change. Operations are then put into random order, so that no drift of the machine hits one kind of them.
Plan make_plan(const std::vector<Variation>& variations, const Dataset* dataset, const PlanSettings& settings);

/// Key under which the dataset finds an operation measured at that point.
MeasurementKey key_of(const Operation& operation, const OperatingPoint& point);
/// The network measurement to be, without results.
NetworkMeasurement describe(const Variation& variation, const OperatingPoint& point);

/// The operation does something on the device, and can be called by name.
bool is_measurable(const Operation& operation);
/// `larger` is `smaller` with one or more tensors larger in dimension 0 and nothing else different.
bool is_larger_batch(const Operation& smaller, const Operation& larger);
/// `larger` is the same network at larger symbols, none smaller.
bool is_larger_batch(const NetworkMeasurement& smaller, const NetworkMeasurement& larger);

}  // namespace joulecast
