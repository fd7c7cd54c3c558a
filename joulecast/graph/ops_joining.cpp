// Copies in another arrangement beside the common ones in ops_copy.cpp: tensors put side by side, turned, on a
// diagonal.

#include <algorithm>
#include <array>
#include <span>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

constexpr std::size_t most_parts = 4096;

std::vector<const TensorType*> parts(const Operation& operation) {
    auto list = tensor_list(operation, find_record(operation.target)->parameters.front().name);
    if (list.empty() || list.size() > most_parts) refuse(operation, "there must be 1 to 4096 tensors");
    return list;
}

/// Side by side along `dim`; all other sizes equal.
TensorType joined(const Operation& operation, std::vector<Sizes> sizes, std::size_t dim) {
    Sizes result = sizes.front();
    if (dim >= result.size()) refuse(operation, "the tensors have too few dimensions");
    result[dim] = 0;
    for (Sizes& own : sizes) {
        if (own.size() != result.size()) refuse(operation, "the tensors do not fit");
        result[dim] = added(result[dim], own[dim]);
        own[dim] = result[dim];
        if (own != result) refuse(operation, "the tensors do not fit");
    }
    return make(promoted(operation, {find_record(operation.target)->parameters.front().name}), std::move(result));
}

std::vector<Sizes> sizes_of(std::span<const TensorType* const> list) {
    std::vector<Sizes> sizes;
    for (const TensorType* tensor : list) sizes.push_back(tensor->sizes);
    return sizes;
}

Types concatenated(const Operation& operation) {
    const auto list = parts(operation);
    return {joined(operation, sizes_of(list), dimension_argument(operation, *list.front()))};
}

/// hstack: along dimension 1, vectors along 0; scalars are vectors of one.
Types horizontal(const Operation& operation) {
    std::vector<Sizes> sizes = sizes_of(parts(operation));
    for (Sizes& own : sizes) {
        if (own.empty()) own = {1};
    }
    return {joined(operation, sizes, sizes.front().size() == 1 ? 0 : 1)};
}

/// vstack: along dimension 0, vectors are rows.
Types vertical(const Operation& operation) {
    std::vector<Sizes> sizes = sizes_of(parts(operation));
    for (Sizes& own : sizes) own.insert(own.begin(), own.size() < 2 ? 2 - own.size() : 0, 1);
    return {joined(operation, sizes, 0)};
}

/// dstack: along dimension 2.
Types deep(const Operation& operation) {
    std::vector<Sizes> sizes = sizes_of(parts(operation));
    for (Sizes& own : sizes) {
        if (own.empty()) own = {1};
        if (own.size() == 1) own.insert(own.begin(), 1);
        if (own.size() == 2) own.push_back(1);
    }
    return {joined(operation, sizes, 2)};
}

/// column_stack: vectors are columns.
Types columns(const Operation& operation) {
    std::vector<Sizes> sizes = sizes_of(parts(operation));
    for (Sizes& own : sizes) {
        if (own.empty()) own = {1};
        if (own.size() == 1) own.push_back(1);
    }
    return {joined(operation, sizes, 1)};
}

/// Matrices along a diagonal, zeros elsewhere.
Types diagonal_blocks(const Operation& operation) {
    Sizes sizes{0, 0};
    for (const TensorType* part : parts(operation)) {
        if (rank(*part) > 2) refuse(operation, "a block is not a matrix");
        sizes[0] = added(sizes[0], rank(*part) == 2 ? part->sizes[0] : 1);
        sizes[1] = added(sizes[1], rank(*part) == 0 ? 1 : part->sizes.back());
    }
    return {make(promoted(operation, {"tensors"}), sizes)};
}

/// Every choice of one element from each vector.
Types choices(const Operation& operation) {
    const auto list = parts(operation);
    std::int64_t count = 1;
    for (const TensorType* tensor : list) {
        if (rank(*tensor) != 1) refuse(operation, "an operand is not a vector");
        count = checked(operation, count, tensor->sizes[0]);
    }
    const Dtype dtype = list.front()->dtype;
    if (list.size() == 1) return {make(dtype, {count})};
    return {make(dtype, {count, static_cast<std::int64_t>(list.size())})};
}

/// Sequences padded to the longest: [length, batch, ...], or the batch first.
Types padded_sequences(const Operation& operation) {
    const auto list = parts(operation);
    std::int64_t longest = 0;
    for (const TensorType* tensor : list) {
        if (rank(*tensor) < 1 || rank(*tensor) != rank(*list.front())) refuse(operation, "the sequences do not fit");
        if (!std::equal(tensor->sizes.begin() + 1, tensor->sizes.end(), list.front()->sizes.begin() + 1)) {
            refuse(operation, "the sequences do not fit");
        }
        longest = std::max(longest, tensor->sizes[0]);
    }
    const auto batch = static_cast<std::int64_t>(list.size());
    Sizes sizes = flag(operation, "batch_first") ? Sizes{batch, longest} : Sizes{longest, batch};
    sizes.insert(sizes.end(), list.front()->sizes.begin() + 1, list.front()->sizes.end());
    return {make(list.front()->dtype, std::move(sizes))};
}

/// A last dimension on the diagonal of two: side by side where they are put.
Types embedded_diagonal(const Operation& operation) {
    const TensorType& self = first(operation);
    if (rank(self) < 1) refuse(operation, "a scalar has no diagonal");
    const std::size_t count = rank(self) + 1;
    const std::size_t a = dimension(operation, integer(operation, "dim1"), count);
    const std::size_t b = dimension(operation, integer(operation, "dim2"), count);
    if (a == b) refuse(operation, "the two dimensions are the same");
    const std::int64_t offset = integer(operation, "offset");
    if (offset < -(std::int64_t{1} << 50) || offset > (std::int64_t{1} << 50))
        refuse(operation, "the offset is out of range");
    const std::int64_t side = added(self.sizes.back(), offset < 0 ? -offset : offset);
    Sizes sizes(self.sizes.begin(), self.sizes.end() - 1);
    sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(std::min(a, b)), side);
    sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(std::max(a, b)), side);
    return {make(self.dtype, std::move(sizes))};
}

/// A vector on the diagonal of a matrix, or a matrix' diagonal; diagflat flattens first.
Types diagonal_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const bool flat = operation.target == "aten::diagflat";
    const std::int64_t offset = integer(operation, flat ? "offset" : "diagonal");
    if (offset < -(std::int64_t{1} << 50) || offset > (std::int64_t{1} << 50))
        refuse(operation, "the offset is out of range");
    if (flat || rank(self) == 1) {
        const std::int64_t side = added(element_count(self), offset < 0 ? -offset : offset);
        return {make(self.dtype, {side, side})};
    }
    if (rank(self) != 2) refuse(operation, "the tensor is neither vector nor matrix");
    const std::int64_t rows = self.sizes[0] + std::min<std::int64_t>(offset, 0);
    const std::int64_t columns_left = self.sizes[1] - std::max<std::int64_t>(offset, 0);
    return {make(self.dtype, {std::max<std::int64_t>(std::min(rows, columns_left), 0)})};
}

/// Mirrored; fliplr needs two dimensions.
Types mirrored(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::size_t least = operation.target == "aten::fliplr" ? 2 : 1;
    if (rank(self) < least) refuse(operation, "the tensor has too few dimensions");
    return same_as_first(operation);
}

/// Turned by right angles in the plane of two dimensions.
Types turned(const Operation& operation) {
    const TensorType& self = first(operation);
    const Sizes dims = integers(operation, "dims");
    if (dims.size() != 2) refuse(operation, "a plane has two dimensions");
    const std::size_t a = dimension(operation, dims[0], rank(self));
    const std::size_t b = dimension(operation, dims[1], rank(self));
    if (rank(self) < 2 || a == b) refuse(operation, "a plane has two dimensions");
    Sizes sizes = self.sizes;
    if (integer(operation, "k") % 2 != 0) std::swap(sizes[a], sizes[b]);
    return {make(self.dtype, std::move(sizes))};
}

/// Pairs (before, after) from the last dimension on.
Types padded(const Operation& operation) {
    const TensorType& self = first(operation);
    const Sizes padding = integers(operation, find_record(operation.target)->parameters[1].name);
    Sizes sizes = self.sizes;
    if (padding.size() % 2 != 0 || padding.size() / 2 > sizes.size()) refuse(operation, "the paddings do not fit");
    for (std::size_t i = 0; i < padding.size(); ++i) {
        std::int64_t& size = sizes[sizes.size() - 1 - i / 2];
        size = added(size, padding[i]);
    }
    return {make(self.dtype, std::move(sizes))};
}

template <auto Outputs>
constexpr Row copy(std::string_view schema) {
    return {schema, Family::copy, Outputs, &streamed<Outputs>, &gradient_streamed<Outputs>};
}

constexpr std::array rows{
    copy<&concatenated>("aten::concatenate(Tensor[] tensors, int dim=0) -> Tensor"),
    copy<&horizontal>("aten::hstack(Tensor[] tensors) -> Tensor"),
    copy<&vertical>("aten::vstack(Tensor[] tensors) -> Tensor"),
    copy<&vertical>("aten::row_stack(Tensor[] tensors) -> Tensor"),
    copy<&deep>("aten::dstack(Tensor[] tensors) -> Tensor"),
    copy<&columns>("aten::column_stack(Tensor[] tensors) -> Tensor"),
    copy<&diagonal_blocks>("aten::block_diag(Tensor[] tensors) -> Tensor"),
    copy<&choices>("aten::cartesian_prod(Tensor[] tensors) -> Tensor"),
    copy<&padded_sequences>("aten::pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0., "
                            "str padding_side=\"right\") -> Tensor"),
    copy<&embedded_diagonal>("aten::diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor"),
    copy<&diagonal_outputs>("aten::diag(Tensor self, int diagonal=0) -> Tensor"),
    copy<&diagonal_outputs>("aten::diagflat(Tensor self, int offset=0) -> Tensor"),
    copy<&mirrored>("aten::fliplr(Tensor self) -> Tensor"),
    copy<&mirrored>("aten::flipud(Tensor self) -> Tensor"),
    copy<&turned>("aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor"),
    copy<&padded>("aten::reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor"),
    cast(f32_on_cpu, copy<&padded>("aten::replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor")),
    copy<&padded>("aten::_pad_circular(Tensor self, SymInt[] pad) -> Tensor"),
};

}  // namespace

std::span<const Row> joining_rows() {
    return rows;
}

}  // namespace joulecast::records
