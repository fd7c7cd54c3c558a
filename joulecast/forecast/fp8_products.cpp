#include "joulecast/forecast/fp8_products.h"

#include <algorithm>

#include "joulecast/physics/law.h"

namespace joulecast {
namespace {

constexpr double lost_of_higher_peak = 1.1;

}  // namespace

std::optional<Operation> in_16_bits(const Operation& product) {
    if (product.target != "aten::_scaled_mm") return std::nullopt;
    const TensorType* const left = find_tensor(product, "self");
    const TensorType* const right = find_tensor(product, "mat2");
    if (!left || !right) return std::nullopt;
    const TensorType weight{Dtype::bf16, {right->sizes.at(1), right->sizes.at(0)}};
    return Operation{"aten::linear", {{"input", TensorType{Dtype::bf16, left->sizes}}, {"weight", weight}}};
}

double fp8_product_s(double twin_s, const Device& device) {
    const double share = lost_of_higher_peak * peak_flop_per_s(device, Dtype::bf16, Math::ieee) /
                         peak_flop_per_s(device, Dtype::f8e4m3fn, Math::ieee);
    if (!(share < 1)) return twin_s;
    const double start = std::min(twin_s, device.kernel_latency_s);
    return start + share * (twin_s - start);
}

}  // namespace joulecast
