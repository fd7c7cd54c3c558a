#include <algorithm>
#include <array>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

const Parameter* parameter(const Operation& operation, std::string_view name) {
    for (const Parameter& candidate : find_record(operation.target)->parameters) {
        if (candidate.name == name) return &candidate;
    }
    return nullptr;
}

/// Sizes without the dimensions reduced: all where `dim` is none, empty or no parameter.
Sizes reduced_sizes(const Operation& operation) {
    const TensorType& self = first(operation);
    std::optional<Sizes> dims;
    if (parameter(operation, "dim") != nullptr) dims = optional_integers(operation, "dim");
    const bool all = !dims || dims->empty();
    std::vector<bool> is_reduced(rank(self), all);
    for (const std::int64_t dim : dims.value_or(Sizes{})) {
        const std::size_t at = dimension(operation, dim, rank(self));
        if (at < is_reduced.size()) is_reduced[at] = true;
    }
    const bool keeps = parameter(operation, "keepdim") != nullptr && flag(operation, "keepdim");
    Sizes sizes;
    for (std::size_t i = 0; i < rank(self); ++i) {
        if (!is_reduced[i]) sizes.push_back(self.sizes[i]);
        if (is_reduced[i] && keeps) sizes.push_back(1);
    }
    return sizes;
}

std::optional<Dtype> dtype_asked(const Operation& operation) {
    return parameter(operation, "dtype") == nullptr ? std::nullopt : optional_dtype(operation, "dtype");
}

Types same_dtype(const Operation& operation) {
    const Dtype dtype = dtype_asked(operation).value_or(first(operation).dtype);
    return {make(dtype, reduced_sizes(operation))};
}

Types accumulated(const Operation& operation) {
    const Dtype dtype = dtype_asked(operation).value_or(to_accumulator(first(operation).dtype));
    return {make(dtype, reduced_sizes(operation))};
}

Types boolean(const Operation& operation) {
    return {make(Dtype::boolean, reduced_sizes(operation))};
}

Types positions(const Operation& operation) {
    return {make(Dtype::i64, reduced_sizes(operation))};
}

Types with_positions(const Operation& operation) {
    return {make(first(operation).dtype, reduced_sizes(operation)), make(Dtype::i64, reduced_sizes(operation))};
}

/// cumsum and cumprod: as many elements as before.
Types running(const Operation& operation) {
    const TensorType& self = first(operation);
    dimension(operation, integer(operation, "dim"), rank(self));
    return {make(dtype_asked(operation).value_or(to_accumulator(self.dtype)), self.sizes)};
}

Types topk_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    Sizes sizes = self.sizes;
    const std::int64_t k = integer(operation, "k");
    const std::size_t dim = dimension_argument(operation, self);
    if (k < 0 || k > sizes[dim]) refuse(operation, "k is out of range");
    sizes[dim] = k;
    return {make(self.dtype, sizes), make(Dtype::i64, sizes)};
}

Types sorted(const Operation& operation) {
    const TensorType& self = first(operation);
    return {like(self), like(self, Dtype::i64)};
}

/// Differences of neighbours: n fewer along a dimension, after what is put before and behind.
Types diff_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::size_t dim = dimension_argument(operation, self);
    Sizes sizes = self.sizes;
    for (const std::string_view name : {"prepend", "append"}) {
        const TensorType* more = optional_tensor(operation, name);
        if (more == nullptr) continue;
        if (rank(*more) != rank(self)) refuse(operation, "the tensors do not fit");
        if (__builtin_add_overflow(sizes[dim], more->sizes[dim], &sizes[dim])) refuse(operation, "the sizes overflow");
    }
    const std::int64_t n = integer(operation, "n");
    if (n < 0) refuse(operation, "n is negative");
    sizes[dim] = std::max<std::int64_t>(0, sizes[dim] - n);
    // A difference of two parts of the tensor, or of what cat made of it.
    const bool is_joined = optional_tensor(operation, "prepend") || optional_tensor(operation, "append");
    if (is_joined) return {make(self.dtype, std::move(sizes))};
    return {like(strided(self.dtype, std::move(sizes), strides_of(self)))};
}

Indices saves_first_and_output(const Operation& /*operation*/) {
    return {0, 1};
}
Indices saves_positions(const Operation& /*operation*/) {
    return {2};
}

/// The gradient is the output's, repeated without a copy.
template <auto Outputs>
constexpr Row sum(std::string_view schema) {
    return {schema, Family::reduction, Outputs, &reduced<Outputs>, &free_of_charge};
}
template <auto Outputs>
constexpr Row mean(std::string_view schema) {
    return {schema, Family::reduction, Outputs, &reduced<Outputs>, &gradient_streamed<Outputs, 1>};
}
template <auto Outputs, std::int64_t cost = 1>
constexpr Row extremum(std::string_view schema) {
    return {schema,
            Family::reduction,
            Outputs,
            &reduced<Outputs, cost>,
            &gradient_with_saved<Outputs, cost>,
            &saves_first_and_output};
}
/// Gradients go to the places found; the positions are the second output.
template <auto Outputs>
constexpr Row located(std::string_view schema) {
    return {schema, Family::reduction, Outputs, &reduced<Outputs>, &gradient_streamed<Outputs>, &saves_positions};
}
template <auto Outputs>
constexpr Row without_gradient(std::string_view schema) {
    return {schema, Family::reduction, Outputs, &reduced<Outputs>};
}

constexpr std::array rows{
    mean<&same_dtype>("aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor"),
    mean<&same_dtype>(
        "aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"),
    sum<&accumulated>("aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor"),
    sum<&accumulated>(
        "aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"),
    extremum<&same_dtype>("aten::amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor"),
    extremum<&same_dtype>("aten::amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor"),
    extremum<&same_dtype>("aten::max(Tensor self) -> Tensor"),
    extremum<&same_dtype>("aten::min(Tensor self) -> Tensor"),
    extremum<&accumulated>("aten::prod(Tensor self, *, ScalarType? dtype=None) -> Tensor"),
    extremum<&accumulated>(
        "aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"),
    extremum<&same_dtype, 4>("aten::var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
                             "keepdim=False) -> Tensor"),
    extremum<&same_dtype, 4>("aten::std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
                             "keepdim=False) -> Tensor"),
    extremum<&same_dtype, 4>(
        "aten::var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor"),
    extremum<&same_dtype, 4>(
        "aten::std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor"),
    extremum<&same_dtype, 2>("aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor"),
    extremum<&same_dtype, 2>("aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool "
                             "keepdim=False, *, ScalarType? dtype=None) -> Tensor"),
    extremum<&same_dtype, 2>(
        "aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor"),
    located<&with_positions>(
        "aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"),
    located<&with_positions>(
        "aten::min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"),
    located<&topk_outputs>("aten::topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> "
                           "(Tensor values, Tensor indices)"),
    located<&sorted>("aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)"),
    without_gradient<&positions>("aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"),
    without_gradient<&positions>("aten::argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"),
    without_gradient<&boolean>("aten::any(Tensor self) -> Tensor"),
    without_gradient<&boolean>("aten::any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor"),
    without_gradient<&boolean>("aten::all(Tensor self) -> Tensor"),
    without_gradient<&boolean>("aten::all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor"),
    mean<&running>("aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor"),
    extremum<&running>("aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor"),
    mean<&diff_outputs>(
        "aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor"),
};

}  // namespace

std::span<const Row> reduction_rows() {
    return rows;
}

}  // namespace joulecast::records
