#pragma once

#include "joulecast/graph/pointwise.h"

/// Table lines for operations that fold dimensions away, and the shapes that come out of them.
namespace joulecast::records {

/// Sizes of the first tensor without the dimensions reduced (1 with keepdim): all where `dim` is none, empty or no
/// parameter.
Sizes reduced_sizes(const Operation& operation);

/// Output rules: the first tensor's dtype (or the argument `dtype`), the accumulator of its sums, booleans, counts and
/// positions.
Types reduced_same(const Operation& operation);
Types reduced_accumulated(const Operation& operation);
Types reduced_boolean(const Operation& operation);
Types reduced_i64(const Operation& operation);

Indices saves_first_and_output(const Operation& operation);

/// The gradient is the output's, repeated without a copy.
template <auto Outputs>
constexpr Row sum(std::string_view schema) {
    return {schema, Family::reduction, Outputs, &reduced<Outputs>, &free_of_charge};
}
template <auto Outputs>
constexpr Row mean(std::string_view schema) {
    return {schema, Family::reduction, Outputs, &reduced<Outputs>, &gradient_streamed<Outputs, 1>};
}
/// Backward reads the tensor again, and compares it with what came out.
template <auto Outputs, std::int64_t cost = 1>
constexpr Row reduction(std::string_view schema) {
    return {schema,
            Family::reduction,
            Outputs,
            &reduced<Outputs, cost>,
            &gradient_with_saved<Outputs, cost>,
            &saves_first_and_output};
}
/// Of several tensors: distances, products.
template <auto Outputs, std::int64_t cost>
constexpr Row reduction_of_all(std::string_view schema) {
    return {schema,
            Family::reduction,
            Outputs,
            &reduced<Outputs, cost>,
            &factor_backward<Outputs, cost>,
            &saves_all_operands};
}
template <auto Outputs>
constexpr Row reduction_without_gradient(std::string_view schema) {
    return {schema, Family::reduction, Outputs, &reduced<Outputs>};
}

}  // namespace joulecast::records
