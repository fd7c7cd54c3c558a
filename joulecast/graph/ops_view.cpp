#include <algorithm>
#include <array>
#include <numeric>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

Types permute_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const Sizes dims = integers(operation, "dims");
    std::vector<std::size_t> from;
    for (const std::int64_t dim : dims) from.push_back(dimension(operation, dim, rank(self)));
    std::vector<std::size_t> sorted = from;
    std::sort(sorted.begin(), sorted.end());
    const bool repeated = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
    if (from.size() != rank(self) || repeated) refuse(operation, "dims is not a permutation");
    return {permuted(self, from)};
}

std::vector<std::size_t> all_dimensions(const TensorType& type) {
    std::vector<std::size_t> dims(rank(type));
    std::iota(dims.begin(), dims.end(), std::size_t{0});
    return dims;
}

Types swapped(const TensorType& self, std::size_t a, std::size_t b) {
    std::vector<std::size_t> from = all_dimensions(self);
    if (!from.empty()) std::swap(from[a], from[b]);
    return {permuted(self, from)};
}

Types transpose_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const auto& parameters = find_record(operation.target)->parameters;
    return swapped(self, dimension(operation, integer(operation, parameters[1].name), rank(self)),
                   dimension(operation, integer(operation, parameters[2].name), rank(self)));
}

/// t and mT: the last two dimensions; t leaves vectors alone.
Types matrix_transpose_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    if (rank(self) < 2) return first_itself(operation);
    return swapped(self, rank(self) - 2, rank(self) - 1);
}

Types movedim_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::size_t source = dimension_argument(operation, self, "source");
    const std::size_t destination = dimension_argument(operation, self, "destination");
    std::vector<std::size_t> from = all_dimensions(self);
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(source));
    from.insert(from.begin() + static_cast<std::ptrdiff_t>(destination), source);
    return {permuted(self, from)};
}

/// The sizes asked for, with -1 worked out.
Sizes resolved(const Operation& operation, Sizes sizes, std::int64_t count) {
    auto unknown = sizes.end();
    for (auto size = sizes.begin(); size != sizes.end(); ++size) {
        if (*size != -1) continue;
        if (unknown != sizes.end()) refuse(operation, "more than one size is -1");
        unknown = size;
    }
    if (unknown != sizes.end()) {
        *unknown = 1;
        const std::int64_t known = product(operation, sizes);
        if (known == 0 || count % known != 0) refuse(operation, "the number of elements does not fit");
        *unknown = count / known;
    }
    if (product(operation, sizes) != count) refuse(operation, "the number of elements does not fit");
    return sizes;
}

Types view_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    return {viewed(operation, self, resolved(operation, integers(operation, "size"), element_count(self)))};
}

Types reshape_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    return {reshape_of(self, resolved(operation, integers(operation, "shape"), element_count(self)))};
}

Types flatten_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    if (rank(self) == 0) return {make(self.dtype, {1})};
    const std::size_t start = dimension_argument(operation, self, "start_dim");
    const std::size_t end = dimension_argument(operation, self, "end_dim");
    if (start > end) refuse(operation, "start_dim comes after end_dim");
    Sizes sizes(self.sizes.begin(), self.sizes.begin() + static_cast<std::ptrdiff_t>(start));
    sizes.push_back(1);
    for (std::size_t i = start; i <= end; ++i) sizes.back() = checked(operation, sizes.back(), self.sizes[i]);
    sizes.insert(sizes.end(), self.sizes.begin() + static_cast<std::ptrdiff_t>(end) + 1, self.sizes.end());
    return {reshape_of(self, std::move(sizes))};
}

Types unflatten_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::size_t dim = dimension_argument(operation, self);
    const Sizes parts = resolved(operation, integers(operation, "sizes"), self.sizes[dim]);
    Sizes sizes = self.sizes;
    const auto place = sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(dim));
    sizes.insert(place, parts.begin(), parts.end());
    return {viewed(operation, self, std::move(sizes))};
}

Types view_as_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    return {viewed(operation, self, resolved(operation, tensor(operation, "other").sizes, element_count(self)))};
}

template <auto Outputs>
Counts reshape_forward(const Operation& operation) {
    const Types output = Outputs(operation);
    if (view_of(first(operation), output.front().sizes)) return {};
    return {0, 0, input_bytes(operation), bytes(output)};
}

Types unsqueeze_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::size_t dim = dimension(operation, integer(operation, "dim"), rank(self), 1);
    Sizes sizes = self.sizes;
    sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(dim), 1);
    return {viewed(operation, self, std::move(sizes))};
}

/// squeeze: all dimensions of size 1, or of those named.
Types squeeze_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    std::vector<bool> named(rank(self), operation.target == "aten::squeeze");
    if (operation.target != "aten::squeeze") {
        for (const std::int64_t dim : integers(operation, "dim")) {
            const std::size_t at = dimension(operation, dim, rank(self));
            if (at < named.size()) named[at] = true;
        }
    }
    Sizes sizes;
    for (std::size_t i = 0; i < rank(self); ++i) {
        if (self.sizes[i] != 1 || !named[i]) sizes.push_back(self.sizes[i]);
    }
    return {viewed(operation, self, std::move(sizes))};
}

/// The same memory read as another type: a longer one takes several elements of the last dimension.
Types view_dtype_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const auto dtype = optional_dtype(operation, "dtype");
    if (!dtype) refuse(operation, "dtype is missing");
    TensorType result = unmarked(self);
    result.dtype = *dtype;
    const std::int64_t from = element_bytes(self.dtype);
    const std::int64_t to = element_bytes(*dtype);
    if (from == to) return {result};
    if (self.sizes.empty()) refuse(operation, "a tensor without dimensions keeps its element's size");
    if (!is_contiguous(self)) refuse(operation, "only a contiguous tensor is seen as elements of another size");
    Sizes sizes = self.sizes;
    const std::int64_t length = checked(operation, sizes.back(), from);
    if (length % to != 0) refuse(operation, "the last dimension is not a multiple of the new element");
    sizes.back() = length / to;
    return {make(*dtype, std::move(sizes))};
}

/// No bytes move either way.
template <auto Outputs>
constexpr Row view(std::string_view schema) {
    return {schema, Family::view, Outputs, &free_of_charge, &free_of_charge};
}
/// A copy where the strides ask for one. The output's gradient is contiguous then, and is viewed back.
template <auto Outputs>
constexpr Row reshape(std::string_view schema) {
    return {schema, Family::copy, Outputs, &reshape_forward<Outputs>, &free_of_charge};
}

/// Stops the gradient.
constexpr Row detached(std::string_view schema) {
    return {schema, Family::view, &first_itself, &free_of_charge};
}

constexpr std::array rows{
    view<&view_outputs>("aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)"),
    Row{"aten::view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)", Family::view, &view_dtype_outputs,
        &free_of_charge},
    view<&view_outputs>("aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor"),
    view<&view_as_outputs>("aten::view_as(Tensor(a) self, Tensor other) -> Tensor(a)"),
    reshape<&reshape_outputs>("aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)"),
    reshape<&flatten_outputs>("aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)"),
    view<&unflatten_outputs>("aten::unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)"),
    view<&permute_outputs>("aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)"),
    view<&transpose_outputs>("aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)"),
    view<&transpose_outputs>("aten::swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)"),
    view<&transpose_outputs>("aten::swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)"),
    view<&matrix_transpose_outputs>("aten::t(Tensor(a) self) -> Tensor(a)"),
    view<&matrix_transpose_outputs>("aten::mT(Tensor(a) self) -> Tensor(a)"),
    view<&movedim_outputs>("aten::movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)"),
    view<&unsqueeze_outputs>("aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)"),
    view<&squeeze_outputs>("aten::squeeze(Tensor(a) self) -> Tensor(a)"),
    view<&squeeze_outputs>("aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)"),
    view<&squeeze_outputs>("aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)"),
    view<&first_itself>("aten::alias(Tensor(a) self) -> Tensor(a)"),
    view<&first_itself>("aten::lift_fresh(Tensor(a) self) -> Tensor(a)"),
    detached("aten::detach(Tensor(a) self) -> Tensor(a)"),
    detached("aten::detach_(Tensor(a!) self) -> Tensor(a!)"),
};

}  // namespace

std::span<const Row> view_rows() {
    return rows;
}

}  // namespace joulecast::records
