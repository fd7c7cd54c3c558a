#include <algorithm>
#include <array>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

Types embedding_outputs(const Operation& operation) {
    const TensorType& weight = tensor(operation, "weight");
    if (rank(weight) != 2) refuse(operation, "the weight is not a matrix");
    Sizes sizes = tensor(operation, "indices").sizes;
    sizes.push_back(weight.sizes[1]);
    return {make(weight.dtype, std::move(sizes))};
}

Types gather_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    dimension(operation, integer(operation, "dim"), rank(self));
    return {make(self.dtype, tensor(operation, "index").sizes)};
}

Types index_select_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    Sizes sizes = self.sizes;
    sizes[dimension_argument(operation, self)] = element_count(tensor(operation, "index"));
    return {make(self.dtype, std::move(sizes))};
}

/// How many dimensions an index takes: a mask of booleans as many as it has, a list of positions one.
std::size_t dimensions_taken(const std::optional<TensorType>& index) {
    return index && index->dtype == Dtype::boolean ? rank(*index) : 1;
}

/// What TensorIterator gives: the source lies under the output's dimensions, one element long where the indices stand
/// (from `place` on, `selected` of them), and the indices are one element long everywhere else.
TensorType indexed(const TensorType& self, const std::vector<bool>& is_taken, const Sizes& sizes, std::size_t place,
                   std::size_t selected, const Types& indices) {
    Sizes kept;
    Strides strides;
    const Strides own = strides_of(self);
    for (std::size_t i = 0; i < own.size(); ++i) {
        if (is_taken[i]) continue;
        kept.push_back(self.sizes[i]);
        strides.push_back(own[i]);
    }
    const std::size_t behind = kept.size() - place;
    kept.insert(kept.begin() + static_cast<std::ptrdiff_t>(place), selected, 1);
    strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(place), selected, 0);
    Types operands{strided(self.dtype, std::move(kept), strides)};
    for (const TensorType& index : indices) {
        Sizes padded = index.sizes;
        padded.insert(padded.end(), behind, 1);
        operands.push_back(view_of(index, std::move(padded)).value_or(index));
    }
    std::vector<const TensorType*> pointers;
    for (const TensorType& operand : operands) pointers.push_back(&operand);
    return iterated(self.dtype, make(self.dtype, sizes).sizes, pointers);
}

/// self[indices]: the broadcast of the indices stands where the first of them stood, or in front where they are not
/// side by side. How many a mask selects is not known before it runs.
Types index_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const auto indices = argument_or_default<TensorList>(operation, "indices");
    Sizes selected;
    Sizes kept;
    std::size_t dim = 0;
    std::size_t place = 0;
    std::size_t runs = 0;
    bool inside = false;
    std::vector<bool> is_taken(rank(self), false);
    Types given;
    for (const auto& index : indices) {
        if (dim + dimensions_taken(index) > rank(self)) refuse(operation, "there are too many indices");
        if (index && index->dtype == Dtype::boolean) {
            refuse(operation, "the number of elements that a mask selects is not known before it runs");
        }
        if (index) {
            selected = broadcast(operation, selected, index->sizes);
            if (!inside && runs++ == 0) place = kept.size();
            is_taken[dim] = true;
            given.push_back(*index);
        } else {
            kept.push_back(self.sizes[dim]);
        }
        inside = index.has_value();
        ++dim;
    }
    kept.insert(kept.end(), self.sizes.begin() + static_cast<std::ptrdiff_t>(dim), self.sizes.end());
    if (runs > 1) place = 0;
    kept.insert(kept.begin() + static_cast<std::ptrdiff_t>(place), selected.begin(), selected.end());
    return {indexed(self, is_taken, kept, place, selected.size(), given)};
}

bool takes_by_mask(const Operation& operation) {
    const auto inputs = tensors(operation);
    return operation.target.ends_with("index.Tensor") &&
           std::any_of(inputs.begin(), inputs.end(),
                       [&](const auto* index) { return index != inputs.front() && index->dtype == Dtype::boolean; });
}

/// What is taken. A mask may take all, the most it can cost.
template <auto Outputs>
Types taken_at_most(const Operation& operation) {
    return takes_by_mask(operation) ? first_itself(operation) : Outputs(operation);
}

/// Only the rows or elements taken are read, and the indices.
template <auto Outputs>
Counts gathered(const Operation& operation) {
    const std::int64_t taken = bytes(taken_at_most<Outputs>(operation));
    return {0, 0, input_bytes(operation) - distinct_bytes(first(operation)) + taken, taken};
}

/// Zeros of the whole, into which the output's gradient is added at the indices.
template <auto Outputs>
Counts gather_backward(const Operation& operation) {
    const Types output = taken_at_most<Outputs>(operation);
    const std::int64_t indices = input_bytes(operation) - distinct_bytes(first(operation));
    return {0, elements(output), 2 * bytes(output) + indices, gradient_bytes(operation) + bytes(output)};
}

/// The tensors after the first: indices.
Indices saves_indices(const Operation& operation) {
    Indices kept;
    const auto count = static_cast<std::int32_t>(tensors(operation).size());
    for (std::int32_t i = 1; i < count; ++i) kept.push_back(i);
    return kept;
}

/// Writes the values named into (a copy of) self; where they go is not known, so each is taken to be a new place.
template <bool in_place>
Counts scattered(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::int64_t others = input_bytes(operation) - distinct_bytes(self);
    const std::int64_t copied = in_place ? 0 : byte_count(self);
    return {0, 0, others + copied, others + copied};
}

Counts scatter_backward(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::int64_t others = input_bytes(operation) - distinct_bytes(self);
    return {0, 0, byte_count(self) + others, gradient_bytes(operation)};
}

Types one_hot_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::int64_t classes = integer(operation, "num_classes");
    if (classes < 1) refuse(operation, "the number of classes is not known before it runs");
    Sizes sizes = self.sizes;
    sizes.push_back(classes);
    return {make(Dtype::i64, std::move(sizes))};
}

/// A mask among the indices is made into places first, as nonzero does.
bool takes_mask(const Operation& operation) {
    const auto* list = std::get_if<TensorList>(find_argument(operation, "indices"));
    return list != nullptr && std::ranges::any_of(*list, [](const std::optional<TensorType>& index) {
               return index && (index->dtype == Dtype::boolean || index->dtype == Dtype::u8);
           });
}

constexpr Row indexed_by_list(Row row) {
    row.waits = &takes_mask;
    return row;
}

template <auto Outputs>
constexpr Row lookup(std::string_view schema) {
    return {schema, Family::indexing, Outputs, &gathered<Outputs>, &gather_backward<Outputs>, &saves_indices};
}
template <auto Outputs, bool in_place>
constexpr Row scatter(std::string_view schema) {
    return {schema, Family::indexing, Outputs, &scattered<in_place>, &scatter_backward, &saves_indices};
}
constexpr Row one_hot(std::string_view schema) {
    return {schema, Family::indexing, &one_hot_outputs, &streamed<&one_hot_outputs>};
}

constexpr std::array rows{
    lookup<&embedding_outputs>("aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool "
                               "scale_grad_by_freq=False, bool sparse=False) -> Tensor"),
    lookup<&gather_outputs>("aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor"),
    lookup<&index_select_outputs>("aten::index_select(Tensor self, int dim, Tensor index) -> Tensor"),
    indexed_by_list(lookup<&index_outputs>("aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor")),
    scatter<&same_if_dense, false>("aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor"),
    scatter<&same_if_dense, false>("aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor"),
    cast(promoted_on_gpu,
         scatter<&same_if_dense, false>("aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor")),
    scatter<&same_if_dense, false>(
        "aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor"),
    cast(promoted_on_gpu,
         indexed_by_list(scatter<&same_as_first, false>(
             "aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor"))),
    scatter<&first_itself, true>(
        "aten::scatter_.src(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)"),
    scatter<&first_itself, true>(
        "aten::scatter_.value(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)"),
    scatter<&first_itself, true>(
        "aten::scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)"),
    scatter<&first_itself, true>(
        "aten::index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor(a!)"),
    indexed_by_list(scatter<&first_itself, true>(
        "aten::index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)")),
    one_hot("aten::one_hot(Tensor self, int num_classes=-1) -> Tensor"),
    indexed_by_list(lookup<&index_outputs>("aten::_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor")),
};

}  // namespace

std::span<const Row> indexing_rows() {
    return rows;
}

}  // namespace joulecast::records
