#include "joulecast/forecast/issue_cost.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "joulecast/graph/family.h"
#include "joulecast/model/predictor.h"

namespace joulecast {
namespace {

constexpr double of_gradient_s = 29e-6;
constexpr double of_view_backward_s = 20e-6;
constexpr double of_view_s = 1e-6;
constexpr double of_elementwise_s = 7.3e-6;
constexpr double of_other_s = 8.5e-6;

struct NamedCost {
    std::string_view name;  ///< of the operator without its overload, or how that begins
    double seconds = 0;
};
// The first that fits.
constexpr std::array named_costs{
    NamedCost{"aten::conv_transpose", 27e-6}, NamedCost{"aten::batch_norm", 22e-6},
    NamedCost{"aten::group_norm", 22e-6},     NamedCost{"aten::layer_norm", 12e-6},
    NamedCost{"aten::rms_norm", 13e-6},       NamedCost{"aten::linear", 18e-6},
    NamedCost{"aten::_scaled_mm", 22e-6},     NamedCost{"aten::embedding", 12e-6},
};

double cost_of_family(Family family) {
    switch (family) {
        case Family::convolution:
            return 22e-6;
        case Family::attention:
            return 18e-6;
        case Family::normalization:
        case Family::matmul:
            return 14e-6;
        case Family::softmax:
        case Family::creation:
            return 7e-6;
        case Family::elementwise:
            return of_elementwise_s;
        case Family::copy:
        case Family::pooling:
            return 8e-6;
        default:
            return of_other_s;
    }
}

double forward_s(const Operation& operation, Family family) {
    const auto named = std::ranges::find_if(
        named_costs, [&](const NamedCost& cost) { return operation.target.starts_with(cost.name); });
    return named != named_costs.end() ? named->seconds : cost_of_family(family);
}

}  // namespace

double python_call_s(Mode mode, Device::Kind kind) {
    return mode == Mode::training && kind == Device::Kind::gpu ? 30e-6 : 8e-6;
}

double pace_of_age(const Device& device) {
    constexpr double first_year_of_fast_hosts = 2022;
    constexpr double of_older_hosts = 1.5;
    return device.release_year < first_year_of_fast_hosts ? of_older_hosts : 1;
}

double pace_of_hosts(const Unseen& model, const Device& device) {
    return model.issue_pace > 0 ? model.issue_pace : pace_of_age(device);
}

double issue_from_cpp_s(const PreparedOperation& call, const Device& device) {
    const Mode mode = joulecast::mode(call.operation);
    if (costs_nothing(call.family())) return mode == Mode::training ? of_view_backward_s : of_view_s;
    // Kernels within the call: those of attention that is split, a linear layer's copies.
    const double inner = launches(call, device) - (1 + gradients(call));
    return forward_s(call.operation, call.family()) + of_gradient_s * gradients(call) +
           of_elementwise_s * std::max(0.0, inner);
}

}  // namespace joulecast
