#pragma once

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

/// Table lines for operations that go through their tensors element by element. "Elementary operation": add, multiply,
/// divide, compare, exp, log, tanh, erf: one each, per element.
namespace joulecast::records {

Sizes broadcast_of_all(const Operation& operation);
/// The first two arguments, tensors or numbers, promoted and broadcast; the next makes integers to floats.
Types pair_outputs(const Operation& operation);
Types floating_pair_outputs(const Operation& operation);
Types boolean_pair_outputs(const Operation& operation);

/// For the gradient of one operand the other one is kept; plain numbers cost nothing.
Indices saves_other_operand(const Operation& operation);
Indices saves_all_operands(const Operation& operation);

/// Sums that fold the output's gradient into a smaller operand. Without broadcasting it is handed on as it is.
template <auto Outputs>
Counts sum_backward(const Operation& operation) {
    const Types output = Outputs(operation);
    Counts counts;
    for (const TensorType* operand : tensors(operation)) {
        if (!operand->requires_grad || operand->sizes == output.front().sizes) continue;
        counts.other_flop = added(counts.other_flop, elements(output));
        counts.bytes_read = bytes(output);  // one pass over the output's gradient feeds all sums
        counts.bytes_written = added(counts.bytes_written, byte_count(*operand));
    }
    return counts;
}

/// Each gradient multiplies the output's by something kept.
template <auto Outputs, std::int64_t per_element>
Counts factor_backward(const Operation& operation) {
    const Types output = Outputs(operation);
    Counts counts;
    counts.bytes_read = added(bytes(output), input_bytes(operation));
    counts.bytes_written = gradient_bytes(operation);
    for (const TensorType* operand : tensors(operation)) {
        if (operand->requires_grad) {
            counts.other_flop = added(counts.other_flop, checked(operation, per_element, elements(output)));
        }
    }
    return counts;
}

enum class Keeps { nothing, input, output };

/// In place, and backward needs what was there: in training autograd copies the tensor first (torch 2.13, observed with
/// saved_tensors_hooks; hardtanh_ and silu_ among them).
template <std::int64_t cost>
Counts copying_forward(const Operation& operation) {
    Counts counts = streamed<&first_itself, cost>(operation);
    const std::int64_t copied = gradient_bytes(&first(operation));
    counts.bytes_read = added(counts.bytes_read, copied);
    counts.bytes_written = added(counts.bytes_written, copied);
    return counts;
}

std::int64_t copied_bytes(const Operation& operation);

/// y = f(x) per element. Backward needs x, y or neither, as the derivative asks.
template <auto Outputs, std::int64_t cost, Keeps keeps>
constexpr Row mapped(std::string_view schema) {
    if constexpr (keeps == Keeps::nothing) {
        return {schema, Family::elementwise, Outputs, &streamed<Outputs, cost>, &gradient_streamed<Outputs, cost>};
    } else {
        return {schema,
                Family::elementwise,
                Outputs,
                &streamed<Outputs, cost>,
                &gradient_with_saved<Outputs, cost>,
                keeps == Keeps::input ? &saves_first : &saves_output};
    }
}
template <std::int64_t cost, Keeps keeps>
constexpr Row same(std::string_view schema) {
    return mapped<&same_as_first, cost, keeps>(schema);
}
template <std::int64_t cost, Keeps keeps>
constexpr Row floating(std::string_view schema) {
    return mapped<&floating_as_first, cost, keeps>(schema);
}
template <std::int64_t cost, Keeps keeps>
constexpr Row overwriting(std::string_view schema) {
    return mapped<&first_itself, cost, keeps>(schema);
}
template <std::int64_t cost>
constexpr Row copying(std::string_view schema) {
    return {
        schema,  Family::elementwise, &first_itself, &copying_forward<cost>, &gradient_with_saved<&first_itself, cost>,
        nullptr, &copied_bytes};
}
/// Rounding and tests: no gradient, or one of zeros.
template <auto Outputs, std::int64_t cost = 1>
constexpr Row constant(std::string_view schema) {
    return {schema, Family::elementwise, Outputs, &streamed<Outputs, cost>};
}
template <auto Outputs>
constexpr Row sum_of(std::string_view schema) {
    return {schema, Family::elementwise, Outputs, &streamed<Outputs, 1>, &sum_backward<Outputs>};
}
template <auto Outputs, std::int64_t cost = 1>
constexpr Row product_of(std::string_view schema) {
    return {schema,
            Family::elementwise,
            Outputs,
            &streamed<Outputs, cost>,
            &factor_backward<Outputs, cost>,
            &saves_other_operand};
}
template <auto Outputs, std::int64_t cost = 1>
constexpr Row keeping(std::string_view schema) {
    return {schema,
            Family::elementwise,
            Outputs,
            &streamed<Outputs, cost>,
            &factor_backward<Outputs, cost>,
            &saves_all_operands};
}

}  // namespace joulecast::records
