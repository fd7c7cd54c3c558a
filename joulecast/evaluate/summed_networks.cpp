#include "joulecast/evaluate/summed_networks.h"

#include <cmath>

#include "joulecast/features/dimensions.h"
#include "joulecast/physics/law.h"
#include "joulecast/units/normal.h"

namespace joulecast {
namespace {

/// Half of the 95 % interval behind one of 90 %.
template <class Unit>
double half_width_95(const Estimate<Unit>& estimate) {
    return (estimate.high.value() - estimate.low.value()) / 2 * normal_95 / normal_90;
}

/// What was measured of a call, or of what stands for it.
struct Found {
    const MeasuredOperation* measured = nullptr;
    double input_gradient_share = 0;  ///< of its time, for a gradient that the call does not compute
    bool batch_statistics = false;    ///< it computes those of its batch, the call does not
};

const MeasuredOperation* find(const Operation& operation, const MeasuredOperations& measured) {
    const auto found = measured.find(signature(operation));
    return found == measured.end() ? nullptr : &found->second;
}

/// The call itself or its sibling: the same arithmetic, in place or not.
const MeasuredOperation* find_either(Operation operation, const MeasuredOperations& measured) {
    if (const auto* itself = find(operation, measured)) return itself;
    operation.target = sibling_target(operation.target);
    return find(operation, measured);
}

double training_flop(const Operation& operation) {
    const Dimensions d = dimensions(operation);
    return static_cast<double>(d.forward.flop + d.forward.other_flop + d.backward.flop + d.backward.other_flop);
}

/// Batch norm in training state, for one that is not.
const MeasuredOperation* find_batch_statistics(Operation call, const MeasuredOperations& measured) {
    if (mode(call) == Mode::training || call.target != "aten::batch_norm") return nullptr;
    for (Argument& argument : call.arguments) {
        if (argument.name == "training") argument.value = true;
    }
    return find(call, measured);
}

Found find_for(const Operation& call, const MeasuredOperations& measured) {
    if (const auto* itself = find_either(call, measured)) return {itself};
    if (const auto* in_training_state = find_batch_statistics(call, measured)) return {in_training_state, 0, true};
    Operation with_gradient = call;
    const auto inputs = tensors(with_gradient);
    const bool is_first_layer = mode(call) == Mode::training && !inputs.empty() && !inputs.front()->requires_grad &&
                                is_floating(inputs.front()->dtype);
    if (!is_first_layer) return {};
    inputs.front()->requires_grad = true;
    const auto* stand_in = find_either(with_gradient, measured);
    if (!stand_in) return {};
    const double flop = training_flop(with_gradient);
    return {stand_in, flop > 0 ? 1 - training_flop(call) / flop : 0};
}

/// The batches that batch norm has seen: a layer measured as a whole counts them in its own time.
bool is_batch_counter(const Operation& operation) {
    const auto operands = tensors(operation);
    return is_in_place(operation) && operands.size() == 1 && operands.front()->sizes.empty() &&
           !is_floating(operands.front()->dtype);
}

/// torch returns the input itself.
bool drops_nothing(const Operation& operation) {
    if (operation.target != "aten::dropout" && operation.target != "aten::dropout_") return false;
    const Value* p = find_argument(operation, "p");
    const Value* train = find_argument(operation, "train");
    return (p && *p == Value(0.0)) || (train && *train == Value(false));
}

SummedNetwork summed(const TrainingNetwork& network, const MeasuredOperations& measured) {
    SummedNetwork sum;
    const NetworkMeasurement& m = sum.measurement = network.measurement;
    sum.time_s = {m.time.median_s, m.time.half_width_s};
    sum.energy_j.value = measured_joules(m);
    if (m.energy) sum.energy_j.half_width = m.energy->half_width_j;
    double time_s = 0, time_variance = 0, energy_j = 0, energy_variance = 0;
    for (const CountedOperation& counted : count_operations(network.graph)) {
        const Family kind = family(counted.operation);
        if (kind == Family::view || kind == Family::symbolic) continue;
        const Found found = find_for(counted.operation, measured);
        if (!found.measured && (is_batch_counter(counted.operation) || drops_nothing(counted.operation))) continue;
        sum.calls += counted.count;
        if (!found.measured) continue;
        sum.measured_calls += counted.count;
        const auto count = static_cast<double>(counted.count);
        const MeasuredOperation& measurement = *found.measured;
        const double seconds = measurement.time.value.value();
        sum.input_gradient_s += count * seconds * found.input_gradient_share;
        if (found.batch_statistics) sum.batch_statistics_s += count * seconds;
        const double watts = measurement.power.value.value();
        const double time_error = half_width_95(measurement.time);
        time_s += count * seconds;
        time_variance += std::pow(count * time_error, 2);
        energy_j += count * seconds * watts;
        energy_variance +=
            std::pow(count * std::hypot(watts * time_error, seconds * half_width_95(measurement.power)), 2);
    }
    if (sum.measured_calls == 0) return sum;
    sum.summed_time_s = {time_s, std::sqrt(time_variance)};
    sum.summed_energy_j = {energy_j, std::sqrt(energy_variance)};
    return sum;
}

}  // namespace

std::vector<SummedNetwork> summed_networks(std::span<const TrainingNetwork> networks,
                                           const MeasuredOperations& measured) {
    std::vector<SummedNetwork> sums;
    for (const TrainingNetwork& network : networks) sums.push_back(summed(network, measured));
    return sums;
}

}  // namespace joulecast
