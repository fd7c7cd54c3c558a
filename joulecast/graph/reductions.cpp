#include "joulecast/graph/reductions.h"

namespace joulecast::records {

Sizes reduced_sizes(const Operation& operation) {
    const TensorType& self = first(operation);
    std::optional<Sizes> dims;
    if (has_parameter(operation, "dim")) dims = optional_integers(operation, "dim");
    // any.dims and all.dims tell an empty list from none.
    const bool empty_is_all = operation.target != "aten::any.dims" && operation.target != "aten::all.dims";
    const bool over_all = !dims || (dims->empty() && empty_is_all);
    std::vector<bool> is_reduced(rank(self), over_all);
    for (const std::int64_t dim : dims.value_or(Sizes{})) {
        const std::size_t at = dimension(operation, dim, rank(self));
        if (at < is_reduced.size()) is_reduced[at] = true;
    }
    const bool keeps = has_parameter(operation, "keepdim") && flag(operation, "keepdim");
    Sizes sizes;
    for (std::size_t i = 0; i < rank(self); ++i) {
        if (!is_reduced[i]) sizes.push_back(self.sizes[i]);
        if (is_reduced[i] && keeps) sizes.push_back(1);
    }
    return sizes;
}

Types reduced_same(const Operation& operation) {
    return {make(dtype_or(operation, first(operation).dtype), reduced_sizes(operation))};
}

Types reduced_accumulated(const Operation& operation) {
    return {make(dtype_or(operation, to_accumulator(first(operation).dtype)), reduced_sizes(operation))};
}

Types reduced_boolean(const Operation& operation) {
    return {make(Dtype::boolean, reduced_sizes(operation))};
}

Types reduced_i64(const Operation& operation) {
    return {make(Dtype::i64, reduced_sizes(operation))};
}

Indices saves_first_and_output(const Operation& operation) {
    return {0, static_cast<std::int32_t>(tensors(operation).size())};
}

}  // namespace joulecast::records
