// Views of a part of a tensor or of more than it: select, slice, split, expand. Free forwards, not backwards.

#include <algorithm>
#include <array>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

/// A part of a dimension: the strides stay, but for the step.
TensorType part(const TensorType& self, std::size_t dim, std::int64_t length, std::int64_t step = 1) {
    Sizes sizes = self.sizes;
    Strides strides = strides_of(self);
    sizes[dim] = length;
    // Of one element or none no stride is needed, and a hostile step must not overflow.
    strides[dim] = length > 1 ? strides[dim] * step : 0;
    return strided(self.dtype, std::move(sizes), strides);
}

/// One place of a dimension, which is then gone.
TensorType place(const TensorType& self, std::size_t dim) {
    Sizes sizes = self.sizes;
    Strides strides = strides_of(self);
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(dim));
    strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(dim));
    return strided(self.dtype, std::move(sizes), strides);
}

Types select_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::size_t dim = dimension_argument(operation, self);
    const std::int64_t index = integer(operation, "index");
    if (index < -self.sizes[dim] || index >= self.sizes[dim]) refuse(operation, "the index is out of range");
    return {place(self, dim)};
}

/// Python's rule for one end of a slice.
std::int64_t clamped(std::int64_t index, std::int64_t size) {
    return std::clamp<std::int64_t>(index < 0 ? index + size : index, 0, size);
}

Types slice_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::size_t dim = dimension_argument(operation, self);
    const std::int64_t size = self.sizes[dim];
    const std::int64_t start = clamped(optional_integer(operation, "start").value_or(0), size);
    const std::int64_t end = std::max(start, clamped(optional_integer(operation, "end").value_or(INT64_MAX), size));
    const std::int64_t step = integer(operation, "step");
    if (step < 1) refuse(operation, "the step must be positive");
    return {part(self, dim, (end - start) / step + ((end - start) % step != 0 ? 1 : 0), step)};
}

Types narrow_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::size_t dim = dimension_argument(operation, self);
    const std::int64_t length = integer(operation, "length");
    if (length < 0 || length > self.sizes[dim]) refuse(operation, "the length is out of range");
    return {part(self, dim, length)};
}

constexpr std::int64_t most_parts = 4096;

Types parts_of_sizes(const Operation& operation, const TensorType& self, std::size_t dim, const Sizes& lengths) {
    Types parts;
    std::int64_t left = self.sizes[dim];
    for (const std::int64_t length : lengths) {
        if (length < 0 || length > left) refuse(operation, "the parts do not fit");
        left -= length;
        parts.push_back(part(self, dim, length));
    }
    if (left != 0) refuse(operation, "the parts do not fit");
    return parts;
}

Types parts_of_length(const Operation& operation, const TensorType& self, std::size_t dim, std::int64_t length) {
    const std::int64_t size = self.sizes[dim];
    if (length < 1 && !(length == 0 && size == 0)) refuse(operation, "the parts must have a positive size");
    if (size == 0) return parts_of_sizes(operation, self, dim, {0});
    if (size / length >= most_parts) refuse(operation, "more than 4096 parts");
    Sizes lengths(static_cast<std::size_t>(size / length), length);
    if (size % length != 0) lengths.push_back(size % length);
    return parts_of_sizes(operation, self, dim, lengths);
}

Types split_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    return parts_of_length(operation, self, dimension_argument(operation, self), integer(operation, "split_size"));
}

Types split_with_sizes_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    return parts_of_sizes(operation, self, dimension_argument(operation, self),
                          integers(operation, find_record(operation.target)->parameters[1].name));
}

Types chunk_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::size_t dim = dimension_argument(operation, self);
    const std::int64_t chunks = integer(operation, "chunks");
    if (chunks < 1 || chunks > most_parts) refuse(operation, "chunks must lie between 1 and 4096");
    const std::int64_t size = self.sizes[dim];
    return parts_of_length(operation, self, dim, size / chunks + (size % chunks != 0 ? 1 : 0));
}

Types unbind_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::size_t dim = dimension_argument(operation, self);
    if (self.sizes[dim] > most_parts) refuse(operation, "more than 4096 parts");
    return Types(static_cast<std::size_t>(self.sizes[dim]), place(self, dim));
}

Types expanded(const Operation& operation, const TensorType& self, Sizes sizes) {
    if (sizes.size() < rank(self)) refuse(operation, "expand cannot drop dimensions");
    const std::size_t added = sizes.size() - rank(self);
    const Strides own = strides_of(self);
    Strides strides(sizes.size(), 0);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::int64_t old = i < added ? 1 : self.sizes[i - added];
        if (sizes[i] == -1 && i >= added) sizes[i] = old;
        if (sizes[i] < 0 || (sizes[i] != old && old != 1)) refuse(operation, "the sizes do not expand");
        if (i >= added && sizes[i] == old) strides[i] = own[i - added];
    }
    TensorType type = make(self.dtype, std::move(sizes));
    return {strided(self.dtype, std::move(type.sizes), strides)};
}

Types expand_outputs(const Operation& operation) {
    return expanded(operation, first(operation), integers(operation, "size"));
}

Types expand_as_outputs(const Operation& operation) {
    return expanded(operation, first(operation), tensor(operation, "other").sizes);
}

/// The gradient is summed over what was stretched.
template <auto Outputs>
Counts expand_backward(const Operation& operation) {
    const Types output = Outputs(operation);
    if (elements(output) == element_count(first(operation))) return {};
    return {0, elements(output), bytes(output), gradient_bytes(operation)};
}

Types unfold_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::size_t dim = dimension_argument(operation, self, "dimension");
    const std::int64_t size = integer(operation, "size");
    const std::int64_t step = integer(operation, "step");
    if (step < 1 || size < 0 || size > self.sizes[dim]) refuse(operation, "size or step is out of range");
    Sizes sizes = self.sizes;
    sizes[dim] = (sizes[dim] - size) / step + 1;
    sizes.push_back(size);
    Strides strides = strides_of(self);
    strides.push_back(strides[dim]);
    strides[dim] = sizes[dim] > 1 ? strides[dim] * step : 0;
    TensorType type = make(self.dtype, std::move(sizes));
    return {strided(self.dtype, std::move(type.sizes), strides)};
}

/// Free forwards; the gradient of a part is written into zeros of the whole.
template <auto Outputs>
constexpr Row partial(std::string_view schema) {
    return {schema, Family::view, Outputs, &free_of_charge, &gradient_streamed<Outputs>};
}
template <auto Outputs>
constexpr Row expansion(std::string_view schema) {
    return {schema, Family::view, Outputs, &free_of_charge, &expand_backward<Outputs>};
}
constexpr std::array rows{
    expansion<&expand_outputs>("aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)"),
    expansion<&expand_as_outputs>("aten::expand_as(Tensor(a) self, Tensor other) -> Tensor(a)"),
    partial<&select_outputs>("aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)"),
    partial<&slice_outputs>("aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, "
                            "SymInt step=1) -> Tensor(a)"),
    partial<&narrow_outputs>("aten::narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)"),
    partial<&split_outputs>("aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]"),
    partial<&split_with_sizes_outputs>(
        "aten::split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]"),
    partial<&split_with_sizes_outputs>(
        "aten::split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]"),
    partial<&chunk_outputs>("aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]"),
    partial<&unbind_outputs>("aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]"),
    partial<&unfold_outputs>("aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)"),
};

}  // namespace

std::span<const Row> part_rows() {
    return rows;
}

}  // namespace joulecast::records
