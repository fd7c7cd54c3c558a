// In-place and copying forms of views, and aliases: they give out what another target does for the same arguments.

#include <algorithm>
#include <array>
#include <numeric>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

/// Targets that give out what another one does for the same arguments.
struct Likeness {
    std::string_view target;
    std::string_view other;
};

constexpr std::array likenesses{
    Likeness{"aten::transpose_", "aten::transpose.int"},
    Likeness{"aten::swapaxes_", "aten::swapaxes"},
    Likeness{"aten::swapdims_", "aten::swapdims"},
    Likeness{"aten::t_", "aten::t"},
    Likeness{"aten::squeeze_", "aten::squeeze"},
    Likeness{"aten::squeeze_.dim", "aten::squeeze.dim"},
    Likeness{"aten::squeeze_.dims", "aten::squeeze.dims"},
    Likeness{"aten::unsqueeze_", "aten::unsqueeze"},
    Likeness{"aten::moveaxis.int", "aten::movedim.int"},
    Likeness{"aten::broadcast_to", "aten::expand"},
    Likeness{"aten::_reshape_copy", "aten::view"},
    Likeness{"aten::ravel", "aten::flatten.using_ints"},
    Likeness{"aten::mH", "aten::mT"},
    Likeness{"aten::matrix_H", "aten::mT"},
    Likeness{"aten::adjoint", "aten::mT"},
    Likeness{"aten::view_copy", "aten::view"},
    Likeness{"aten::permute_copy", "aten::permute"},
    Likeness{"aten::transpose_copy.int", "aten::transpose.int"},
    Likeness{"aten::t_copy", "aten::t"},
    Likeness{"aten::squeeze_copy", "aten::squeeze"},
    Likeness{"aten::squeeze_copy.dim", "aten::squeeze.dim"},
    Likeness{"aten::squeeze_copy.dims", "aten::squeeze.dims"},
    Likeness{"aten::unsqueeze_copy", "aten::unsqueeze"},
    Likeness{"aten::expand_copy", "aten::expand"},
    Likeness{"aten::select_copy.int", "aten::select.int"},
    Likeness{"aten::slice_copy.Tensor", "aten::slice.Tensor"},
    Likeness{"aten::split_copy.Tensor", "aten::split.Tensor"},
    Likeness{"aten::split_with_sizes_copy", "aten::split_with_sizes"},
    Likeness{"aten::unbind_copy.int", "aten::unbind.int"},
    Likeness{"aten::unfold_copy", "aten::unfold"},
    Likeness{"aten::unsafe_split.Tensor", "aten::split.Tensor"},
    Likeness{"aten::unsafe_split_with_sizes", "aten::split_with_sizes"},
    Likeness{"aten::unsafe_chunk", "aten::chunk"},
    Likeness{"aten::alias_copy", "aten::alias"},
    Likeness{"aten::detach_copy", "aten::detach"},
};

Operation other_operation(const Operation& operation) {
    const auto* const found = std::find_if(likenesses.begin(), likenesses.end(), [&](const Likeness& likeness) {
        return likeness.target == operation.target;
    });
    Operation same = operation;
    same.target = found->other;
    return same;
}

Types as_other(const Operation& operation) {
    const Operation same = other_operation(operation);
    return find_record(same.target)->outputs(same);
}

/// New memory of the sizes that the view has.
Types copied(const Operation& operation) {
    Types types = as_other(operation);
    for (TensorType& type : types) type = make(type.dtype, type.sizes);
    return types;
}

template <Counts (*Record::*pass)(const Operation&)>
Counts counts_as_other(const Operation& operation) {
    const Operation same = other_operation(operation);
    const auto count = find_record(same.target)->*pass;
    return count == nullptr ? Counts{} : count(same);
}

/// Types and counts of the other target.
constexpr Row alias(std::string_view schema) {
    return {schema, Family::view, &as_other, &counts_as_other<&Record::forward>, &counts_as_other<&Record::backward>};
}
constexpr Row copy(std::string_view schema) {
    return {schema, Family::copy, &copied, &streamed<&copied>, &gradient_streamed<&copied>};
}

/// The other operation on one tensor, with one more argument.
TensorType applied(std::string_view target, const TensorType& self, std::vector<Argument> arguments) {
    arguments.insert(arguments.begin(), {"self", self});
    const Operation operation{std::string(target), std::move(arguments)};
    return find_record(target)->outputs(operation).front();
}

TensorType expanded(const TensorType& self, Sizes sizes) {
    return applied("aten::expand", self, {{"size", std::move(sizes)}});
}

/// The dimensions in reverse order.
Types reversed_outputs(const Operation& operation) {
    Sizes dims(rank(first(operation)));
    std::iota(dims.rbegin(), dims.rend(), std::int64_t{0});
    return {applied("aten::permute", first(operation), {{"dims", std::move(dims)}})};
}

Types reshaped_as(const Operation& operation) {
    return {applied("aten::reshape", first(operation), {{"shape", tensor(operation, "other").sizes}})};
}

Counts reshaped_as_forward(const Operation& operation) {
    const Operation reshape{"aten::reshape", {{"self", first(operation)}, {"shape", tensor(operation, "other").sizes}}};
    return find_record(reshape.target)->forward(reshape);
}

/// Several dimensions to other places; the rest fills the gaps in order.
Types moved_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const Sizes source = integers(operation, "source");
    const Sizes destination = integers(operation, "destination");
    if (source.size() != destination.size()) refuse(operation, "source and destination do not fit");
    Sizes from(rank(self), -1);
    std::vector<bool> moved(rank(self), false);
    for (std::size_t i = 0; i < source.size(); ++i) {
        const std::size_t a = dimension(operation, source[i], rank(self));
        const std::size_t b = dimension(operation, destination[i], rank(self));
        if (rank(self) == 0 || moved[a] || from[b] != -1) refuse(operation, "a dimension is named twice");
        moved[a] = true;
        from[b] = static_cast<std::int64_t>(a);
    }
    std::size_t next = 0;
    for (std::int64_t& place : from) {
        if (place != -1) continue;
        while (moved[next]) ++next;
        place = static_cast<std::int64_t>(next++);
    }
    return {applied("aten::permute", self, {{"dims", std::move(from)}})};
}

/// At least one, two or three dimensions: those of size one are added in front, for three also behind.
Types padded_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const auto least = static_cast<std::size_t>(operation.target[operation.target.find('_') + 1] - '0');
    Sizes sizes = self.sizes;
    if (sizes.size() >= least) return first_itself(operation);
    if (least == 3 && !sizes.empty()) {
        if (sizes.size() == 1) sizes.insert(sizes.begin(), 1);
        sizes.push_back(1);
    }
    sizes.insert(sizes.begin(), least - sizes.size(), 1);
    return {applied("aten::view", self, {{"size", std::move(sizes)}})};
}

constexpr std::int64_t most_parts = 4096;

/// hsplit splits dimension 1 (0 of vectors), vsplit 0, dsplit 2; tensor_split the one named.
std::size_t split_dimension(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::string_view target = operation.target;
    if (target.starts_with("aten::tensor_split")) return dimension_argument(operation, self);
    const std::size_t dim = target.starts_with("aten::vsplit") ? 0 : target.starts_with("aten::dsplit") ? 2 : 1;
    const std::size_t at = dim == 1 && rank(self) == 1 ? 0 : dim;
    if (at >= rank(self)) refuse(operation, "the tensor has too few dimensions");
    return at;
}

/// Parts that end at `ends`, each from where the one before ended.
Types cut_at(const Operation& operation, const Sizes& ends) {
    const auto dim = static_cast<std::int64_t>(split_dimension(operation));
    Types parts;
    std::int64_t start = 0;
    for (const std::int64_t end : ends) {
        const std::int64_t stop = std::max(start, end);
        parts.push_back(
            applied("aten::slice.Tensor", first(operation), {{"dim", dim}, {"start", start}, {"end", stop}}));
        start = end;
    }
    return parts;
}

/// As even as possible, longer ones first.
Types sections_outputs(const Operation& operation) {
    const std::int64_t sections = integer(operation, "sections");
    const std::int64_t size = first(operation).sizes[split_dimension(operation)];
    if (sections < 1 || sections > most_parts) refuse(operation, "sections must lie between 1 and 4096");
    if (!operation.target.starts_with("aten::tensor_split") && size % sections != 0) {
        refuse(operation, "the sections are not equal");
    }
    Sizes ends;
    std::int64_t end = 0;
    for (std::int64_t i = 0; i < sections; ++i) ends.push_back(end += size / sections + (i < size % sections ? 1 : 0));
    return cut_at(operation, ends);
}

/// Cut at the places named, as Python slices.
Types cut_outputs(const Operation& operation) {
    const std::int64_t size = first(operation).sizes[split_dimension(operation)];
    Sizes ends = integers(operation, "indices");
    if (std::ssize(ends) >= most_parts) refuse(operation, "more than 4096 parts");
    for (std::int64_t& end : ends) end = std::clamp<std::int64_t>(end < 0 ? end + size : end, 0, size);
    ends.push_back(size);
    return cut_at(operation, ends);
}

/// All tensors, stretched to the sizes they broadcast to.
Types broadcast_outputs(const Operation& operation) {
    const auto list = tensor_list(operation, "tensors");
    if (std::ssize(list) > most_parts) refuse(operation, "more than 4096 tensors");
    Sizes sizes;
    for (const TensorType* tensor : list) sizes = broadcast(operation, sizes, tensor->sizes);
    Types types;
    for (const TensorType* tensor : list) types.push_back(expanded(*tensor, sizes));
    return types;
}

/// Vectors, each stretched along the others' dimensions; "xy" exchanges the first two.
Types mesh_outputs(const Operation& operation) {
    const auto list = tensor_list(operation, "tensors");
    if (list.empty() || list.size() > 16) refuse(operation, "a mesh has 1 to 16 vectors");
    const bool exchanged = operation.target == "aten::meshgrid.indexing" && list.size() > 1 &&
                           argument_or_default<std::string>(operation, "indexing") == "xy";
    std::vector<std::size_t> place(list.size());
    std::iota(place.begin(), place.end(), std::size_t{0});
    if (exchanged) std::swap(place[0], place[1]);
    Sizes sizes(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (rank(*list[i]) > 1) refuse(operation, "an operand is not a vector");
        sizes[place[i]] = element_count(*list[i]);
    }
    product(operation, sizes);
    Types types;
    for (std::size_t i = 0; i < list.size(); ++i) {
        Sizes ones(list.size(), 1);
        ones[place[i]] = sizes[place[i]];
        types.push_back(expanded(applied("aten::view", *list[i], {{"size", std::move(ones)}}), sizes));
    }
    return types;
}

/// Stretched gradients are summed.
template <auto Outputs>
Counts stretched_backward(const Operation& operation) {
    const Types output = Outputs(operation);
    return {0, elements(output), bytes(output), gradient_bytes(operation)};
}

template <auto Outputs>
constexpr Row view(std::string_view schema) {
    return {schema, Family::view, Outputs, &free_of_charge, &free_of_charge};
}
template <auto Outputs>
constexpr Row partial(std::string_view schema) {
    return {schema, Family::view, Outputs, &free_of_charge, &gradient_streamed<Outputs>};
}
template <auto Outputs>
constexpr Row stretching(std::string_view schema) {
    return {schema, Family::view, Outputs, &free_of_charge, &stretched_backward<Outputs>};
}
constexpr Row reshape(std::string_view schema) {
    return {schema, Family::copy, &reshaped_as, &reshaped_as_forward, &free_of_charge};
}

constexpr std::array rows{
    alias("aten::transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)"),
    alias("aten::swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)"),
    alias("aten::swapdims_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)"),
    alias("aten::t_(Tensor(a!) self) -> Tensor(a!)"),
    alias("aten::squeeze_(Tensor(a!) self) -> Tensor(a!)"),
    alias("aten::squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)"),
    alias("aten::squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)"),
    alias("aten::unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)"),
    alias("aten::moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)"),
    alias("aten::mH(Tensor(a) self) -> Tensor(a)"),
    alias("aten::matrix_H(Tensor(a) self) -> Tensor(a)"),
    alias("aten::adjoint(Tensor(a) self) -> Tensor(a)"),
    alias("aten::ravel(Tensor(a) self) -> Tensor(a)"),
    alias("aten::broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)"),
    alias("aten::unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]"),
    alias("aten::unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]"),
    alias("aten::unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]"),
    copy("aten::view_copy(Tensor self, SymInt[] size) -> Tensor"),
    copy("aten::permute_copy(Tensor self, int[] dims) -> Tensor"),
    copy("aten::transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor"),
    copy("aten::t_copy(Tensor self) -> Tensor"),
    copy("aten::squeeze_copy(Tensor self) -> Tensor"),
    copy("aten::squeeze_copy.dim(Tensor self, int dim) -> Tensor"),
    copy("aten::squeeze_copy.dims(Tensor self, int[] dim) -> Tensor"),
    copy("aten::unsqueeze_copy(Tensor self, int dim) -> Tensor"),
    copy("aten::expand_copy(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor"),
    copy("aten::select_copy.int(Tensor self, int dim, SymInt index) -> Tensor"),
    copy("aten::slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> "
         "Tensor"),
    copy("aten::split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]"),
    copy("aten::split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]"),
    copy("aten::unbind_copy.int(Tensor self, int dim=0) -> Tensor[]"),
    copy("aten::unfold_copy(Tensor self, int dimension, int size, int step) -> Tensor"),
    copy("aten::alias_copy(Tensor self) -> Tensor"),
    copy("aten::detach_copy(Tensor self) -> Tensor"),
    copy("aten::_reshape_copy(Tensor self, SymInt[] size) -> Tensor"),
    reshape("aten::reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)"),
    stretching<&broadcast_outputs>("aten::broadcast_tensors(Tensor[] tensors) -> Tensor[]"),
    stretching<&mesh_outputs>("aten::meshgrid(Tensor[] tensors) -> Tensor[]"),
    stretching<&mesh_outputs>("aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]"),
    view<&reversed_outputs>("aten::numpy_T(Tensor(a) self) -> Tensor(a)"),
    view<&moved_outputs>("aten::movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)"),
    view<&moved_outputs>("aten::moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)"),
    view<&padded_outputs>("aten::atleast_1d(Tensor self) -> Tensor"),
    view<&padded_outputs>("aten::atleast_2d(Tensor self) -> Tensor"),
    view<&padded_outputs>("aten::atleast_3d(Tensor self) -> Tensor"),
    view<&first_itself>("aten::positive(Tensor(a) self) -> Tensor(a)"),
    view<&first_itself>("aten::conj(Tensor(a) self) -> Tensor(a)"),
    view<&first_itself>("aten::_conj(Tensor(a) self) -> Tensor(a)"),
    view<&first_itself>("aten::resolve_conj(Tensor(a) self) -> Tensor(a)"),
    view<&first_itself>("aten::resolve_neg(Tensor(a) self) -> Tensor(a)"),
    partial<&sections_outputs>(
        "aten::tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]"),
    partial<&sections_outputs>("aten::hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]"),
    partial<&sections_outputs>("aten::vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]"),
    partial<&sections_outputs>("aten::dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]"),
    partial<&cut_outputs>(
        "aten::tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]"),
    partial<&cut_outputs>("aten::hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]"),
    partial<&cut_outputs>("aten::vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]"),
    partial<&cut_outputs>("aten::dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]"),
};

}  // namespace

std::span<const Row> likeness_rows() {
    return rows;
}

}  // namespace joulecast::records
