#include "joulecast/graph/pointwise.h"

namespace joulecast::records {

Sizes broadcast_of_all(const Operation& operation) {
    Sizes sizes;
    for (const TensorType* operand : tensors(operation)) sizes = broadcast(operation, sizes, operand->sizes);
    return sizes;
}

namespace {

Dtype pair_dtype(const Operation& operation) {
    const auto parameters = find_record(operation.target)->parameters;
    return promoted(operation, {parameters[0].name, parameters[1].name});
}

}  // namespace

Types pair_outputs(const Operation& operation) {
    return {iterated(operation, pair_dtype(operation), broadcast_of_all(operation))};
}

Types floating_pair_outputs(const Operation& operation) {
    return {iterated(operation, to_floating(pair_dtype(operation)), broadcast_of_all(operation))};
}

Types boolean_pair_outputs(const Operation& operation) {
    return {iterated(operation, Dtype::boolean, broadcast_of_all(operation))};
}

Indices saves_other_operand(const Operation& operation) {
    const auto operands = tensors(operation);
    Indices kept;
    if (operands.size() != 2) return kept;
    if (operands[1]->requires_grad) kept.push_back(0);
    if (operands[0]->requires_grad) kept.push_back(1);
    return kept;
}

Indices saves_all_operands(const Operation& operation) {
    Indices kept;
    const auto count = static_cast<std::int32_t>(tensors(operation).size());
    for (std::int32_t i = 0; i < count; ++i) kept.push_back(i);
    return kept;
}

std::int64_t copied_bytes(const Operation& operation) {
    return gradient_bytes(&first(operation));
}

}  // namespace joulecast::records
