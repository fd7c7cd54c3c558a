#include "joulecast/profile/larger_batch.h"

#include <variant>

namespace joulecast {
namespace {

/// The sizes agree but for dimension 0, which may have grown; `grew` is set if it has.
bool same_but_batch(const TensorType& smaller, const TensorType& larger, bool& grew) {
    TensorType copy = larger;
    if (!smaller.sizes.empty() && smaller.sizes.size() == larger.sizes.size() && larger.sizes[0] > smaller.sizes[0]) {
        copy.sizes[0] = smaller.sizes[0];
        grew = true;
    }
    return copy == smaller;
}

}  // namespace

bool is_larger_batch(const Operation& smaller, const Operation& larger) {
    if (smaller.target != larger.target || smaller.arguments.size() != larger.arguments.size()) return false;
    bool grew = false;
    for (std::size_t i = 0; i < smaller.arguments.size(); ++i) {
        const Argument& a = smaller.arguments[i];
        const Argument& b = larger.arguments[i];
        if (a.name != b.name || a.value.index() != b.value.index()) return false;
        if (const auto* tensor = std::get_if<TensorType>(&a.value)) {
            if (!same_but_batch(*tensor, std::get<TensorType>(b.value), grew)) return false;
        } else if (const auto* list = std::get_if<TensorList>(&a.value)) {
            const auto& other = std::get<TensorList>(b.value);
            if (list->size() != other.size()) return false;
            for (std::size_t k = 0; k < list->size(); ++k) {
                if ((*list)[k].has_value() != other[k].has_value()) return false;
                if ((*list)[k] && !same_but_batch(*(*list)[k], *other[k], grew)) return false;
            }
        } else if (!(a == b)) {
            return false;
        }
    }
    return grew;
}

bool is_larger_batch(const NetworkMeasurement& smaller, const NetworkMeasurement& larger) {
    if (smaller.model != larger.model || smaller.mode != larger.mode || smaller.precision != larger.precision ||
        smaller.optimizer != larger.optimizer)
        return false;
    bool grew = false;
    for (const auto& [symbol, value] : larger.symbols) {
        const auto before = smaller.symbols.find(symbol);
        if (before == smaller.symbols.end() || before->second > value) return false;
        grew = grew || before->second < value;
    }
    return grew && smaller.symbols.size() == larger.symbols.size();
}

}  // namespace joulecast
