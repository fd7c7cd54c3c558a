#include "joulecast/features/products.h"

#include "joulecast/graph/operands.h"
#include "joulecast/physics/law.h"

namespace joulecast {
namespace {

/// Narrower results are computed as sums of vectors.
constexpr double least_columns = 8;

bool needs_gradient(const Operation& operation, const char* argument) {
    const TensorType* tensor = find_tensor(operation, argument);
    return tensor && tensor->requires_grad;
}

bool any_needs_gradient(const Operation& operation, std::size_t index) {
    const auto inputs = tensors(operation);
    return index < inputs.size() && inputs[index]->requires_grad;
}

/// Of queries and keys, and of what comes out and values. Their gradients have the same sizes in another order.
void add_attention(Products& products, const Dimensions& size) {
    products.add({size.gemm_b, size.gemm_m, size.gemm_n, size.gemm_k});
    products.add({size.gemm_b, size.gemm_m, size.gemm_k, size.gemm_n});
}

/// The gradient of the first factor. That of a convolution's input is one over its own positions, each of which gathers
/// a window of the output; of a transposed one it is the plain product with the weight turned round.
ProductSize of_input(const Operation& operation, const Dimensions& size) {
    const TensorType* weight = find_tensor(operation, "weight");
    const bool is_plain = size.family != Family::convolution || !weight || weight->sizes.size() < 3 ||
                          static_cast<double>(weight->sizes[0]) != size.gemm_b * size.gemm_n;
    if (is_plain) return {size.gemm_b, size.gemm_m, size.gemm_k, size.gemm_n};
    const auto channels = static_cast<double>(weight->sizes[1]);
    const double positions = static_cast<double>(element_count(*tensors(operation).front())) / (size.groups * channels);
    return {size.gemm_b, positions, channels, size.gemm_n * size.gemm_k / channels};
}

}  // namespace

Products products(const Operation& operation, const Dimensions& size, int units) {
    Products products;
    products.units = units;
    if (!(size.gemm_n >= least_columns) || is_depthwise(operation)) return products;
    if (size.family == Family::attention) {
        add_attention(products, size);
        return products;
    }
    products.add({size.gemm_b, size.gemm_m, size.gemm_n, size.gemm_k});
    if (!(size.backward.flop > 0)) return products;
    const bool has_weight = find_argument(operation, "weight") != nullptr;
    if (has_weight ? needs_gradient(operation, "input") : any_needs_gradient(operation, 0)) {
        products.add(of_input(operation, size));
    }
    if (has_weight ? needs_gradient(operation, "weight") : any_needs_gradient(operation, 1))
        products.add({size.gemm_b, size.gemm_n, size.gemm_k, size.gemm_m});
    return products;
}

}  // namespace joulecast
