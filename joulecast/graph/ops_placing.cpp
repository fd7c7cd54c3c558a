// Elements taken from and put into places, beside the common ones in ops_indexing.cpp: index_copy, put, take, masked
// elements, slice_scatter, bags of embeddings. How many elements a mask selects is not known before it runs: its
// outputs are refused, its bytes are counted as if it selected everything, the most it can cost.

#include <algorithm>
#include <array>

#include "joulecast/graph/pointwise.h"

namespace joulecast::records {

namespace {

/// The tensors after the first: indices.
Indices saves_indices(const Operation& operation) {
    Indices kept;
    const auto count = static_cast<std::int32_t>(tensors(operation).size());
    for (std::int32_t i = 1; i < count; ++i) kept.push_back(i);
    return kept;
}

std::int64_t bytes_of_others(const Operation& operation) {
    return input_bytes(operation) - distinct_bytes(first(operation));
}

Types checked_same(const Operation& operation) {
    const TensorType& self = first(operation);
    dimension(operation, integer(operation, "dim"), rank(self));
    return {make(self.dtype, self.sizes)};
}

Types checked_itself(const Operation& operation) {
    checked_same(operation);
    return first_itself(operation);
}

Types copied_first(const Operation& operation) {
    return {make(first(operation).dtype, first(operation).sizes)};
}

/// Writes the values named into (a copy of) self; where they go is not known, so each is taken to be a new place.
template <auto Outputs, bool in_place>
Counts placed(const Operation& operation) {
    Outputs(operation);
    const std::int64_t others = bytes_of_others(operation);
    const std::int64_t moved = added(others, in_place ? 0 : byte_count(first(operation)));
    return {0, 0, moved, moved};
}

Counts placed_backward(const Operation& operation) {
    return {0, 0, input_bytes(operation), gradient_bytes(operation)};
}

template <auto Outputs, bool in_place>
constexpr Row placing(std::string_view schema) {
    return {schema, Family::indexing, Outputs, &placed<Outputs, in_place>, &placed_backward, &saves_indices};
}

/// One number into every place of an index: the whole slices are written.
template <bool in_place>
Counts filled(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::size_t dim = dimension_argument(operation, self);
    const std::int64_t size = std::max<std::int64_t>(self.sizes[dim], 1);
    const std::int64_t slices = checked(operation, byte_count(self) / size, element_count(tensor(operation, "index")));
    const std::int64_t copied = in_place ? 0 : byte_count(self);
    return {0, 0, added(bytes_of_others(operation), copied), added(slices, copied)};
}

template <auto Outputs, bool in_place>
constexpr Row filling(std::string_view schema) {
    return {schema, Family::indexing, Outputs, &filled<in_place>, &placed_backward, &saves_indices};
}

/// self seen as one dimension, at each index.
Types taken_outputs(const Operation& operation) {
    return {make(first(operation).dtype, tensor(operation, "index").sizes)};
}

/// gather with sizes that broadcast outside of the dimension.
Types taken_along_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const TensorType& indices = tensor(operation, "indices");
    const auto dim = optional_integer(operation, "dim");
    if (!dim) return {make(self.dtype, {element_count(indices)})};
    if (rank(self) != rank(indices)) refuse(operation, "self and indices do not fit");
    const std::size_t at = dimension_argument(operation, self);
    Sizes sizes = self.sizes;
    sizes[at] = indices.sizes[at];
    return {make(self.dtype, broadcast(operation, sizes, indices.sizes))};
}

/// Only the elements taken are read, and the indices.
template <auto Outputs>
Counts taken(const Operation& operation) {
    const std::int64_t written = bytes(Outputs(operation));
    return {0, 0, added(bytes_of_others(operation), written), written};
}

/// Zeros, and the output's gradient added at the places.
template <auto Outputs>
Counts taken_backward(const Operation& operation) {
    const Types output = Outputs(operation);
    return {0, elements(output), added(2 * bytes(output), bytes_of_others(operation)),
            added(gradient_bytes(operation), bytes(output))};
}

template <auto Outputs>
constexpr Row taking(std::string_view schema) {
    return {schema, Family::indexing, Outputs, &taken<Outputs>, &taken_backward<Outputs>, &saves_indices};
}

/// A part replaced by src: a copy of self.
Types scattered_slice_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    if (rank(self) == 0) refuse(operation, "a scalar has no part");
    return {make(self.dtype, self.sizes)};
}

Counts scattered_slice_backward(const Operation& operation) {
    const std::int64_t written = gradient_bytes(operation);
    return {0, 0, written, written};
}

constexpr Row slice_placing(std::string_view schema) {
    return {schema, Family::copy, &scattered_slice_outputs, &placed<&scattered_slice_outputs, false>,
            &scattered_slice_backward};
}

/// src into the memory of self, as one value: nothing of self is read.
Types copied_outputs(const Operation& operation) {
    return {make(first(operation).dtype, first(operation).sizes)};
}

Counts copied(const Operation& operation) {
    return {0, 0, byte_count(tensor(operation, "src")), byte_count(first(operation))};
}

Counts copied_backward(const Operation& operation) {
    const std::int64_t handed = gradient_bytes(operation);
    return {0, 0, std::min(byte_count(first(operation)), handed), handed};
}

constexpr Row copying_into(std::string_view schema) {
    return {schema, Family::copy, &copied_outputs, &copied, &copied_backward};
}

/// The elements under the mask, or where elements are not zero.
Types unknown_until_run(const Operation& operation) {
    refuse(operation, "the number of elements that it selects is not known before it runs");
}

Counts selected(const Operation& operation) {
    const std::int64_t most = byte_count(make(first(operation).dtype, broadcast_of_all(operation)));
    return {0, 0, input_bytes(operation), most};
}

Counts selected_backward(const Operation& operation) {
    return {0, 0, input_bytes(operation), gradient_bytes(operation)};
}

constexpr Row selecting(std::string_view schema) {
    return {schema, Family::indexing, &unknown_until_run, &selected, &selected_backward, &saves_indices};
}

/// Places of the elements that are not zero: an integer for each dimension.
Counts located(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::int64_t places = checked(operation, element_count(self), static_cast<std::int64_t>(rank(self)));
    return {0, element_count(self), byte_count(self), checked(operation, element_bytes(Dtype::i64), places)};
}

constexpr Row locating(std::string_view schema) {
    return {schema, Family::indexing, &unknown_until_run, &located};
}

/// unique and bincount sort or count what they get: at most as much comes out, and an index for each.
Counts counted(const Operation& operation) {
    const TensorType& self = first(operation);
    return {0, element_count(self), input_bytes(operation),
            added(byte_count(self), checked(operation, element_bytes(Dtype::i64), element_count(self)))};
}

constexpr Row counting(std::string_view schema) {
    return {schema, Family::indexing, &unknown_until_run, &counted};
}

/// Known when told how many; otherwise the values of `repeats` decide.
Types repeated_places(const Operation& operation) {
    const auto count = optional_integer(operation, "output_size");
    if (!count) refuse(operation, "the sum of the repeats is not known before it runs");
    if (operation.target == "aten::repeat_interleave.Tensor") {
        return {make(tensor(operation, "repeats").dtype, {*count})};
    }
    const TensorType& self = first(operation);
    const auto dim = optional_integer(operation, "dim");
    Sizes sizes = dim ? self.sizes : Sizes{0};
    sizes[dim ? dimension_argument(operation, self) : 0] = *count;
    return {make(self.dtype, std::move(sizes))};
}

/// Without output_size at least as much as goes in.
Counts repeated(const Operation& operation) {
    const bool known = optional_integer(operation, "output_size").has_value();
    return {0, 0, input_bytes(operation), known ? bytes(repeated_places(operation)) : byte_count(first(operation))};
}

constexpr Row repeating(std::string_view schema) {
    return {schema, Family::copy, &repeated_places, &repeated, &selected_backward};
}

/// The first `size` places.
Types padded_places(const Operation& operation) {
    const auto dims = static_cast<std::int64_t>(rank(first(operation)));
    return {make(Dtype::i64, {integer(operation, "size"), dims})};
}

constexpr Row padded_locating(std::string_view schema) {
    return {schema, Family::indexing, &padded_places, &streamed<&padded_places, 1>};
}

/// Bags: the sum, mean (1) or maximum (2) of each bag's rows, where each index came from, the bags' sizes, and the
/// places of the maxima.
Types bag_outputs(const Operation& operation) {
    const TensorType& weight = tensor(operation, "weight");
    const TensorType& indices = tensor(operation, "indices");
    const TensorType& offsets = tensor(operation, "offsets");
    if (rank(weight) != 2 || rank(indices) != 1 || rank(offsets) != 1) refuse(operation, "the tensors do not fit");
    const std::int64_t last = flag(operation, "include_last_offset") ? 1 : 0;
    const std::int64_t bags = offsets.sizes[0] - last;
    if (bags < 0) refuse(operation, "there is no bag");
    const std::int64_t mode = integer(operation, "mode");
    if (mode < 0 || mode > 2) refuse(operation, "unknown mode");
    const Dtype places = indices.dtype;
    return {make(weight.dtype, {bags, weight.sizes[1]}), make(places, {indices.sizes[0]}),
            make(places, {offsets.sizes[0]}), make(places, mode == 2 ? Sizes{bags, weight.sizes[1]} : Sizes{0})};
}

/// The rows of the indices are read, whatever the size of the table.
std::int64_t row_bytes(const Operation& operation) {
    const TensorType& weight = tensor(operation, "weight");
    bag_outputs(operation);
    const std::int64_t rows = checked(operation, tensor(operation, "indices").sizes[0], weight.sizes[1]);
    return checked(operation, rows, element_bytes(weight.dtype));
}

Counts bag_forward(const Operation& operation) {
    const TensorType& weight = tensor(operation, "weight");
    const std::int64_t rows = row_bytes(operation);
    return {0, rows / element_bytes(weight.dtype), added(rows, bytes_of_others(operation)),
            bytes(bag_outputs(operation))};
}

Counts bag_backward(const Operation& operation) {
    const TensorType& weight = tensor(operation, "weight");
    const std::int64_t rows = row_bytes(operation);
    return {0, rows / element_bytes(weight.dtype),
            added(added(rows, bytes(bag_outputs(operation))), bytes_of_others(operation)),
            added(gradient_bytes(operation), rows)};
}

constexpr Row bag(std::string_view schema) {
    return {schema, Family::indexing, &bag_outputs, &bag_forward, &bag_backward, &saves_indices};
}

/// Rows longer than max_norm are scaled in the table: those of the indices are read and written.
Types renormed_outputs(const Operation& operation) {
    return operation.target == "aten::embedding_renorm_" ? first_itself(operation) : copied_first(operation);
}

Counts renormed(const Operation& operation) {
    const TensorType& self = first(operation);
    if (rank(self) != 2) refuse(operation, "the table is not a matrix");
    const std::int64_t row = checked(operation, self.sizes[1], element_bytes(self.dtype));
    const std::int64_t rows = checked(operation, element_count(tensor(operation, "indices")), row);
    const std::int64_t copied_table = operation.target == "aten::embedding_renorm_" ? 0 : byte_count(self);
    return {0, checked(operation, 3, rows / element_bytes(self.dtype)),
            added(added(rows, bytes_of_others(operation)), copied_table), added(rows, copied_table)};
}

constexpr Row renorming(std::string_view schema) {
    return {schema, Family::indexing, &renormed_outputs, &renormed};
}

constexpr std::array rows{
    placing<&checked_same, false>(
        "aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor"),
    placing<&checked_same, false>(
        "aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor"),
    placing<&checked_same, false>("aten::scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str "
                                  "reduce, *, bool include_self=True) -> Tensor"),
    cast(promoted_on_cpu, placing<&checked_same, false>(
                              "aten::index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor")),
    placing<&checked_same, false>("aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, "
                                  "*, bool include_self=True) -> Tensor"),
    placing<&checked_itself, true>(
        "aten::scatter_.reduce(Tensor(a!) self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor(a!)"),
    placing<&checked_itself, true>("aten::scatter_.value_reduce(Tensor(a!) self, int dim, Tensor index, Scalar value, "
                                   "*, str reduce) -> Tensor(a!)"),
    placing<&checked_itself, true>("aten::scatter_reduce_.two(Tensor(a!) self, int dim, Tensor index, Tensor src, str "
                                   "reduce, *, bool include_self=True) -> Tensor(a!)"),
    placing<&checked_itself, true>(
        "aten::index_copy_(Tensor(a!) self, int dim, Tensor index, Tensor source) -> Tensor(a!)"),
    placing<&checked_itself, true>("aten::index_reduce_(Tensor(a!) self, int dim, Tensor index, Tensor source, str "
                                   "reduce, *, bool include_self=True) -> Tensor(a!)"),
    placing<&copied_first, false>(
        "aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor"),
    placing<&copied_first, false>(
        "aten::_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor"),
    placing<&copied_first, false>("aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor"),
    placing<&first_itself, true>(
        "aten::put_(Tensor(a!) self, Tensor index, Tensor source, bool accumulate=False) -> Tensor(a!)"),
    placing<&first_itself, true>("aten::masked_scatter_(Tensor(a!) self, Tensor mask, Tensor source) -> Tensor(a!)"),
    filling<&checked_same, false>(
        "aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor"),
    filling<&checked_same, false>(
        "aten::index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor"),
    filling<&checked_itself, true>(
        "aten::index_fill_.int_Scalar(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)"),
    filling<&checked_itself, true>(
        "aten::index_fill_.int_Tensor(Tensor(a!) self, int dim, Tensor index, Tensor value) -> Tensor(a!)"),
    taking<&taken_outputs>("aten::take(Tensor self, Tensor index) -> Tensor"),
    taking<&taken_along_outputs>("aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor"),
    slice_placing("aten::slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, "
                  "SymInt step=1) -> Tensor"),
    slice_placing("aten::select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor"),
    slice_placing("aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor"),
    slice_placing("aten::as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? "
                  "storage_offset=None) -> Tensor"),
    copying_into("aten::copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor"),
    waiting(selecting("aten::masked_select(Tensor self, Tensor mask) -> Tensor")),
    waiting(locating("aten::nonzero(Tensor self) -> Tensor")),
    waiting(locating("aten::nonzero_numpy(Tensor self) -> Tensor[]")),
    waiting(locating("aten::argwhere(Tensor self) -> Tensor")),
    waiting(locating("aten::where(Tensor condition) -> Tensor[]")),
    padded_locating("aten::nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor"),
    waiting(counting(
        "aten::_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> "
        "(Tensor, Tensor, Tensor)")),
    waiting(counting("aten::unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? "
                     "dim=None) -> (Tensor, Tensor, Tensor)")),
    waiting(counting("aten::unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool "
                     "return_counts=False) -> (Tensor, Tensor, Tensor)")),
    waiting(counting("aten::bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor")),
    waiting(repeating("aten::repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor")),
    waiting(repeating("aten::repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? "
                      "output_size=None) -> Tensor")),
    bag("aten::embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, "
        "bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False) -> (Tensor, Tensor, "
        "Tensor, Tensor)"),
    bag("aten::embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int "
        "mode, bool sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) -> (Tensor, "
        "Tensor, Tensor, Tensor)"),
    bag("aten::_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int "
        "mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int "
        "padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)"),
    bag("aten::_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, bool "
        "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool "
        "include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)"),
    renorming("aten::embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor"),
    renorming(
        "aten::embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> Tensor(a!)"),
};

}  // namespace

std::span<const Row> placing_rows() {
    return rows;
}

}  // namespace joulecast::records
