#include <algorithm>
#include <array>
#include <numeric>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

/// Dimensions from the slowest to the fastest in memory; empty where the layout does not tell.
std::vector<std::size_t> memory_order(const TensorType& type) {
    std::vector<std::size_t> order(rank(type));
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (type.layout == Layout::channels_last && order.size() > 2) {
        order.erase(order.begin() + 1);
        order.push_back(1);
    }
    if (type.layout == Layout::transposed) {
        if (order.size() != 2) return {};
        std::swap(order[0], order[1]);
    }
    return order;
}

bool in_order(const std::vector<std::size_t>& order, const std::vector<std::size_t>& wanted, const Sizes& sizes) {
    std::vector<std::size_t> a;
    std::vector<std::size_t> b;
    std::copy_if(order.begin(), order.end(), std::back_inserter(a), [&](std::size_t d) { return sizes[d] > 1; });
    std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(b), [&](std::size_t d) { return sizes[d] > 1; });
    return a == b;
}

/// The tensor with its dimensions in another order: output dimension i is input dimension from[i].
TensorType reordered(const TensorType& type, const std::vector<std::size_t>& from) {
    Sizes sizes;
    std::vector<std::size_t> to(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
        sizes.push_back(type.sizes[from[i]]);
        to[from[i]] = i;
    }
    std::vector<std::size_t> order = memory_order(type);
    if (order.size() != from.size()) return make(type.dtype, std::move(sizes), Layout::transposed);
    for (std::size_t& d : order) d = to[d];
    const TensorType contiguous{type.dtype, sizes, Layout::contiguous, false};
    const TensorType channels_last{type.dtype, sizes, Layout::channels_last, false};
    if (in_order(order, memory_order(contiguous), sizes)) return contiguous;
    const bool may_be_image = sizes.size() == 4 || sizes.size() == 5;
    if (may_be_image && in_order(order, memory_order(channels_last), sizes)) return channels_last;
    return make(type.dtype, std::move(sizes), Layout::transposed);
}

Types permute_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const Sizes dims = integers(operation, "dims");
    std::vector<std::size_t> from;
    for (const std::int64_t dim : dims) from.push_back(dimension(operation, dim, rank(self)));
    std::vector<std::size_t> sorted = from;
    std::sort(sorted.begin(), sorted.end());
    const bool repeated = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
    if (from.size() != rank(self) || repeated) refuse(operation, "dims is no permutation");
    return {reordered(self, from)};
}

std::vector<std::size_t> all_dimensions(const TensorType& type) {
    std::vector<std::size_t> dims(rank(type));
    std::iota(dims.begin(), dims.end(), std::size_t{0});
    return dims;
}

Types swapped(const TensorType& self, std::size_t a, std::size_t b) {
    std::vector<std::size_t> from = all_dimensions(self);
    if (!from.empty()) std::swap(from[a], from[b]);
    return {reordered(self, from)};
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
    if (rank(self) < 2) return {make(self.dtype, self.sizes)};
    return swapped(self, rank(self) - 2, rank(self) - 1);
}

Types movedim_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::size_t source = dimension_argument(operation, self, "source");
    const std::size_t destination = dimension_argument(operation, self, "destination");
    std::vector<std::size_t> from = all_dimensions(self);
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(source));
    from.insert(from.begin() + static_cast<std::ptrdiff_t>(destination), source);
    return {reordered(self, from)};
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

Sizes without_ones(const Sizes& sizes) {
    Sizes kept;
    std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(kept), [](auto size) { return size != 1; });
    return kept;
}

/// Ones come and go without any copy, and keep the order of the rest.
TensorType viewed(const TensorType& self, Sizes sizes) {
    if (self.layout == Layout::contiguous || sizes == self.sizes)
        return make(self.dtype, std::move(sizes), self.layout);
    return make(self.dtype, std::move(sizes), Layout::transposed);
}

/// A reshape of anything but a contiguous tensor, other than by ones, is taken to copy.
TensorType reshaped(const TensorType& self, Sizes sizes) {
    if (without_ones(sizes) == without_ones(self.sizes)) return viewed(self, std::move(sizes));
    return make(self.dtype, std::move(sizes));
}

bool copies(const Operation& operation, const Sizes& sizes) {
    const TensorType& self = first(operation);
    return self.layout != Layout::contiguous && without_ones(sizes) != without_ones(self.sizes);
}

Types view_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    return {viewed(self, resolved(operation, integers(operation, "size"), element_count(self)))};
}

Types reshape_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    return {reshaped(self, resolved(operation, integers(operation, "shape"), element_count(self)))};
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
    return {reshaped(self, std::move(sizes))};
}

Types unflatten_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::size_t dim = dimension_argument(operation, self);
    const Sizes parts = resolved(operation, integers(operation, "sizes"), self.sizes[dim]);
    Sizes sizes = self.sizes;
    const auto place = sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(dim));
    sizes.insert(place, parts.begin(), parts.end());
    return {viewed(self, std::move(sizes))};
}

Types view_as_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    return {viewed(self, resolved(operation, tensor(operation, "other").sizes, element_count(self)))};
}

template <auto Outputs>
Counts reshape_forward(const Operation& operation) {
    const Types output = Outputs(operation);
    if (!copies(operation, output.front().sizes)) return {};
    return {0, 0, input_bytes(operation), bytes(output)};
}

Types unsqueeze_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::size_t dim = dimension(operation, integer(operation, "dim"), rank(self), 1);
    Sizes sizes = self.sizes;
    sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(dim), 1);
    return {viewed(self, std::move(sizes))};
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
    return {viewed(self, std::move(sizes))};
}

/// A part of a dimension lies in one piece only if no longer dimension comes before it.
TensorType part(const TensorType& self, Sizes sizes, std::size_t dim, bool whole) {
    const bool outermost = std::all_of(self.sizes.begin(), self.sizes.begin() + static_cast<std::ptrdiff_t>(dim),
                                       [](auto size) { return size == 1; });
    const bool keeps = whole || (outermost && self.layout == Layout::contiguous);
    return make(self.dtype, std::move(sizes), keeps ? self.layout : Layout::transposed);
}

Types select_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::size_t dim = dimension_argument(operation, self);
    const std::int64_t index = integer(operation, "index");
    if (index < -self.sizes[dim] || index >= self.sizes[dim]) refuse(operation, "the index is out of range");
    Sizes sizes = self.sizes;
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(dim));
    return {part(self, std::move(sizes), dim, false)};
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
    Sizes sizes = self.sizes;
    sizes[dim] = (end - start) / step + ((end - start) % step != 0 ? 1 : 0);
    TensorType result = part(self, sizes, dim, sizes[dim] == size);
    if (step > 1 && sizes[dim] > 1) result = make(self.dtype, std::move(sizes), Layout::transposed);
    return {result};
}

Types narrow_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::size_t dim = dimension_argument(operation, self);
    Sizes sizes = self.sizes;
    const std::int64_t length = integer(operation, "length");
    if (length < 0 || length > sizes[dim]) refuse(operation, "the length is out of range");
    sizes[dim] = length;
    return {part(self, sizes, dim, length == self.sizes[dim])};
}

constexpr std::int64_t most_parts = 4096;

Types parts_of_sizes(const Operation& operation, const TensorType& self, std::size_t dim, const Sizes& lengths) {
    Types parts;
    std::int64_t left = self.sizes[dim];
    for (const std::int64_t length : lengths) {
        if (length < 0 || length > left) refuse(operation, "the parts do not fit");
        left -= length;
        Sizes sizes = self.sizes;
        sizes[dim] = length;
        parts.push_back(part(self, std::move(sizes), dim, length == self.sizes[dim]));
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
    Sizes sizes = self.sizes;
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(dim));
    return Types(static_cast<std::size_t>(self.sizes[dim]), part(self, std::move(sizes), dim, false));
}

Types expanded(const Operation& operation, const TensorType& self, Sizes sizes) {
    if (sizes.size() < rank(self)) refuse(operation, "expand cannot drop dimensions");
    const std::size_t added = sizes.size() - rank(self);
    bool stretched = false;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::int64_t old = i < added ? 1 : self.sizes[i - added];
        if (sizes[i] == -1 && i >= added) sizes[i] = old;
        if (sizes[i] < 0 || (sizes[i] != old && old != 1)) refuse(operation, "the sizes do not expand");
        stretched = stretched || sizes[i] != old;
    }
    return {stretched ? make(self.dtype, std::move(sizes), Layout::transposed) : viewed(self, std::move(sizes))};
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
    return {make(self.dtype, std::move(sizes), Layout::transposed)};
}

/// No bytes move either way.
template <auto Outputs>
constexpr Row view(std::string_view schema) {
    return {schema, Family::view, Outputs, &free_of_charge, &free_of_charge};
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
/// A copy where the layout asks for one. The output's gradient is contiguous then, and is viewed back.
template <auto Outputs>
constexpr Row reshape(std::string_view schema) {
    return {schema, Family::copy, Outputs, &reshape_forward<Outputs>, &free_of_charge};
}

/// Stops the gradient.
constexpr Row detached(std::string_view schema) {
    return {schema, Family::view, &same_as_first, &free_of_charge};
}

constexpr std::array rows{
    view<&view_outputs>("aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)"),
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
    view<&same_as_first>("aten::alias(Tensor(a) self) -> Tensor(a)"),
    view<&same_as_first>("aten::lift_fresh(Tensor(a) self) -> Tensor(a)"),
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
    detached("aten::detach(Tensor(a) self) -> Tensor(a)"),
    detached("aten::detach_(Tensor(a!) self) -> Tensor(a!)"),
};

}  // namespace

std::span<const Row> view_rows() {
    return rows;
}

}  // namespace joulecast::records
