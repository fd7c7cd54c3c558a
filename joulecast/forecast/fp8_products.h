#pragma once

#include <optional>

#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// Products of 8 bits by torch._scaled_mm, on a device that was never measured. What the published tables have of them
/// was timed in serving engines together with the quantisation of their input: 12 us on a B200 and an H100 for products
/// whose twins in bf16 take 2 to 3 (AIConfigurator). PyTorch's kernel has none of that, and a network in fp8 has the
/// quantisation in calls of its own (graph/fp8.h). So the twin in bf16 tells.

/// The product of the same sizes in bf16; absent of other calls.
std::optional<Operation> in_16_bits(const Operation& product);

/// What the kernel of 8 bits takes where its twin takes `twin_s`: a start of one kernel alike, and of the rest the
/// ratio of the sheet's peaks, times 1.1, since less of the higher peak is reached. Ten products of an H200 and an
/// H100, of 1.2 to 1,100 GFLOP, are told 12 % off by this, in the mean, beside twins of which the same cards' tables
/// tell (docs/decisions/0048). No more than `twin_s`.
double fp8_product_s(double twin_s, const Device& device);

/// What it may be off by beside its twin: standard deviation of the logarithm.
inline constexpr double sigma_of_fp8_products = 0.15;

}  // namespace joulecast
