#pragma once

#include "joulecast/graph/operation.h"

namespace joulecast {

/// Calls `visit` with each of tensors(operation), in their order, without a list of them: for what a forecast asks of
/// every call several times.
template <class AnyOperation, class Visit>
void each_tensor(AnyOperation& operation, const Visit& visit) {
    for (auto& argument : operation.arguments) {
        if (auto* tensor = std::get_if<TensorType>(&argument.value)) {
            visit(*tensor);
        } else if (auto* list = std::get_if<TensorList>(&argument.value)) {
            for (auto& item : *list) {
                if (item) visit(*item);
            }
        }
    }
}

}  // namespace joulecast
