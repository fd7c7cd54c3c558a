#include "joulecast/profile/checked_answer.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "joulecast/dataset/columns.h"

namespace joulecast {
namespace {

/// What a failed trial keeps: that it was tried, and why it failed.
template <class Result>
void forget_numbers(Result& result) {
    result.time = {};
    result.forward.reset();
    result.issue.reset();
    result.energy.reset();
    result.peak_memory_bytes = result.workspace_bytes = std::numeric_limits<double>::quiet_NaN();
    result.block_s.clear();
    result.wall_s = 0;
    result.conditions = {};
    OperatingPoint& real = result.real;
    real.sm_clock_mhz = real.memory_clock_mhz = real.power_limit_w = std::numeric_limits<double>::quiet_NaN();
    real.threads = std::max(0, real.threads);
    if constexpr (requires { result.hot; }) {
        result.hot.reset();
        result.working_set_bytes = 0;
        result.rotation = 1;
    } else {
        result.resident_bytes = std::numeric_limits<double>::quiet_NaN();
        result.kernels.clear();
    }
}

template <class Result>
void refuse(Result& result, const std::string& why) {
    result.outcome = Outcome::crashed;
    result.message = why;
    forget_numbers(result);
}

template <class Result>
void refuse_impossible(Result& result) {
    if (const auto why = impossible(result)) refuse(result, "the worker answered with numbers that cannot be: " + *why);
}

template <class Result>
void refuse_other_device(Result& result) {
    if (result.real.device != result.asked.device)
        refuse(result, "the worker answered of " + result.real.device + ", not of " + result.asked.device);
    result.real.device = result.asked.device;
}

/// A worker that knows of engines measures with the one it was asked for; one that does not says nothing of it, which
/// reads as the default.
template <class Result>
void refuse_other_engine(Result& result) {
    std::string& real = result.real.engine;
    if (real != result.asked.engine && real != OperatingPoint{}.engine) {
        refuse(result, "the worker measured with engine " + real + ", not " + result.asked.engine);
    }
    real = result.asked.engine;
}

/// Its kernels are to be looked up in the graph later.
void refuse_other_nodes(NetworkMeasurement& result, std::size_t nodes) {
    const auto is_other = [nodes](std::int32_t node) { return static_cast<std::size_t>(node) >= nodes; };
    for (const NetworkKernel& kernel : result.kernels) {
        if (!std::ranges::any_of(kernel.operations, is_other)) continue;
        return refuse(result, "the worker answered with a kernel of nodes that the network does not have");
    }
}

}  // namespace

Measurement checked(Measurement answer, const Operation& operation, const OperatingPoint& point) {
    answer.asked = point;
    if (answer.operation != operation)
        refuse(answer, "the worker answered of another operation: " + signature(answer.operation));
    answer.operation = operation;
    refuse_other_device(answer);
    refuse_other_engine(answer);
    refuse_impossible(answer);
    return answer;
}

NetworkMeasurement checked(NetworkMeasurement answer, const NetworkMeasurement& asked, std::size_t nodes) {
    answer.model = asked.model;
    answer.symbols = asked.symbols;
    answer.mode = asked.mode;
    answer.precision = asked.precision;
    answer.asked = asked.asked;
    refuse_other_device(answer);
    refuse_other_engine(answer);
    refuse_impossible(answer);
    refuse_other_nodes(answer, nodes);
    if (is_timed(answer.outcome) && answer.optimizer != asked.optimizer) {
        answer.outcome = Outcome::unsupported;
        answer.message = "the worker did not update the weights with " + std::string(name(asked.optimizer));
        forget_numbers(answer);
    }
    answer.optimizer = asked.optimizer;
    return answer;
}

}  // namespace joulecast
