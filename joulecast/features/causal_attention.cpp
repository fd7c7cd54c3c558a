#include "joulecast/features/causal_attention.h"

#include <cmath>
#include <variant>

namespace joulecast {
namespace {

bool is_causal(const Operation& operation) {
    const Value* const given = find_argument(operation, "is_causal");
    const bool* const yes = given ? std::get_if<bool>(given) : nullptr;
    return yes && *yes;
}

}  // namespace

double share_below_diagonal(const Operation& attention, double edge_of_tile) {
    const TensorType* const query = find_tensor(attention, "query");
    if (!is_causal(attention) || !query || query->sizes.size() < 2) return 1;
    const double tiles = std::ceil(static_cast<double>(query->sizes[query->sizes.size() - 2]) / edge_of_tile);
    return tiles > 0 ? (tiles + 1) / (2 * tiles) : 1;
}

}  // namespace joulecast
