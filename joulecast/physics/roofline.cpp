#include "joulecast/physics/roofline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "joulecast/error.h"
#include "joulecast/graph/each_tensor.h"
#include "joulecast/graph/family.h"

namespace joulecast {

Dtype compute_dtype(const Operation& operation) {
    std::optional<Dtype> first, first_floating;
    each_tensor(operation, [&](const TensorType& tensor) {
        if (!first) first = tensor.dtype;
        if (!first_floating && is_floating(tensor.dtype)) first_floating = tensor.dtype;
    });
    return first_floating.value_or(first.value_or(Dtype::f32));
}

Roofline roofline(const Counts& counts, Dtype dtype, const Device& device, Math math) {
    const double peak = peak_flop_per_s(device, dtype, math);
    if (!(peak > 0) || !(device.bandwidth_bytes_per_s > 0)) {
        throw Error("device " + device.id + " has no peak rate for " + std::string(name(dtype)) +
                    " or no memory bandwidth on its data sheet. Write them into a file of your own: docs/devices.md.");
    }
    const double flop = static_cast<double>(counts.flop) + static_cast<double>(counts.other_flop);
    const double bytes = static_cast<double>(counts.bytes_read) + static_cast<double>(counts.bytes_written);
    Roofline roofline;
    roofline.flop_s = flop / peak;
    roofline.byte_s = bytes / streamed_bytes_per_s(device);
    return roofline;
}

Roofline roofline(const Operation& operation, const Device& device, Math math) {
    return roofline(total_counts(operation), compute_dtype(operation), device, math_of(operation, math));
}

Math math_of(const Operation& operation, Math setting) {
    if (setting != Math::torch_default) return setting;
    constexpr std::array<std::string_view, 4> recurrent{"aten::lstm", "aten::gru", "aten::rnn_tanh", "aten::rnn_relu"};
    const bool in_cudnn =
        recorded_family(operation) == Family::convolution ||
        std::ranges::any_of(recurrent, [&](std::string_view name) { return operation.target.starts_with(name); });
    return in_cudnn ? Math::tf32 : Math::ieee;
}

double seconds(const Roofline& roofline) {
    return std::max(roofline.flop_s, roofline.byte_s);
}

}  // namespace joulecast
