#include "joulecast/graph/operation.h"

#include <utility>

#include "joulecast/graph/each_tensor.h"

namespace joulecast {

std::string_view name(Mode mode) {
    return mode == Mode::training ? "training" : "inference";
}

std::optional<Mode> parse_mode(std::string_view text) {
    if (text == "inference") return Mode::inference;
    if (text == "training") return Mode::training;
    return std::nullopt;
}

Mode mode(const Operation& operation) {
    for (const Argument& argument : operation.arguments) {
        if (const auto* tensor = std::get_if<TensorType>(&argument.value)) {
            if (tensor->requires_grad) return Mode::training;
        } else if (const auto* list = std::get_if<TensorList>(&argument.value)) {
            for (const auto& item : *list) {
                if (item && item->requires_grad) return Mode::training;
            }
        }
    }
    return Mode::inference;
}

const Value* find_argument(const Operation& operation, std::string_view name) {
    for (const Argument& argument : operation.arguments) {
        if (argument.name == name) return &argument.value;
    }
    return nullptr;
}

const TensorType* find_tensor(const Operation& operation, std::string_view name) {
    return std::get_if<TensorType>(find_argument(operation, name));
}

TensorType* find_tensor(Operation& operation, std::string_view name) {
    return const_cast<TensorType*>(find_tensor(std::as_const(operation), name));
}

namespace {

/// One for const and mutable operations.
template <class Tensor, class AnyOperation>
TensorPointers<Tensor> collect_tensors(AnyOperation& operation) {
    TensorPointers<Tensor> found;
    each_tensor(operation, [&](Tensor& tensor) { found.push_back(&tensor); });
    return found;
}

}  // namespace

TensorPointers<const TensorType> tensors(const Operation& operation) {
    return collect_tensors<const TensorType>(operation);
}

TensorPointers<TensorType> tensors(Operation& operation) {
    return collect_tensors<TensorType>(operation);
}

}  // namespace joulecast
