#include <algorithm>
#include <array>

#include "joulecast/graph/reductions.h"

namespace joulecast::records {

namespace {

Types with_positions(const Operation& operation) {
    return {make(first(operation).dtype, reduced_sizes(operation)), make(Dtype::i64, reduced_sizes(operation))};
}

/// cumsum and cumprod: as many elements as before.
Types running(const Operation& operation) {
    const TensorType& self = first(operation);
    dimension(operation, integer(operation, "dim"), rank(self));
    return {make(dtype_or(operation, to_accumulator(self.dtype)), self.sizes)};
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

Indices saves_positions(const Operation& /*operation*/) {
    return {2};
}

/// Gradients go to the places found; the positions are the second output.
template <auto Outputs>
constexpr Row located(std::string_view schema) {
    return {schema, Family::reduction, Outputs, &reduced<Outputs>, &gradient_streamed<Outputs>, &saves_positions};
}

constexpr std::array rows{
    mean<&reduced_same>("aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor"),
    mean<&reduced_same>(
        "aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"),
    cast(f32_result_on_gpu, sum<&reduced_accumulated>("aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor")),
    cast(f32_result_on_gpu, sum<&reduced_accumulated>("aten::sum.dim_IntList(Tensor self, int[1]? dim, bool "
                                                      "keepdim=False, *, ScalarType? dtype=None) -> Tensor")),
    reduction<&reduced_same>("aten::amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor"),
    reduction<&reduced_same>("aten::amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor"),
    reduction<&reduced_same>("aten::max(Tensor self) -> Tensor"),
    reduction<&reduced_same>("aten::min(Tensor self) -> Tensor"),
    cast(f32_or_f32_result,
         reduction<&reduced_accumulated>("aten::prod(Tensor self, *, ScalarType? dtype=None) -> Tensor")),
    cast(f32_or_f32_result,
         reduction<&reduced_accumulated>(
             "aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")),
    reduction<&reduced_same, 4>("aten::var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
                                "keepdim=False) -> Tensor"),
    reduction<&reduced_same, 4>("aten::std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
                                "keepdim=False) -> Tensor"),
    reduction<&reduced_same, 4>(
        "aten::var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor"),
    reduction<&reduced_same, 4>(
        "aten::std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor"),
    cast(f32_on_gpu,
         reduction<&reduced_same, 2>("aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor")),
    cast(f32_result_on_gpu,
         reduction<&reduced_same, 2>("aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool "
                                     "keepdim=False, *, ScalarType? dtype=None) -> Tensor")),
    cast(f32_result_on_gpu,
         reduction<&reduced_same, 2>(
             "aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor")),
    located<&with_positions>(
        "aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"),
    located<&with_positions>(
        "aten::min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"),
    located<&topk_outputs>("aten::topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> "
                           "(Tensor values, Tensor indices)"),
    located<&sorted>("aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)"),
    reduction_without_gradient<&reduced_i64>("aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"),
    reduction_without_gradient<&reduced_i64>("aten::argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"),
    reduction_without_gradient<&reduced_boolean>("aten::any(Tensor self) -> Tensor"),
    reduction_without_gradient<&reduced_boolean>("aten::any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor"),
    reduction_without_gradient<&reduced_boolean>("aten::all(Tensor self) -> Tensor"),
    reduction_without_gradient<&reduced_boolean>("aten::all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor"),
    cast(f32_result_on_gpu, mean<&running>("aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor")),
    cast(f32_result_on_gpu,
         reduction<&running>("aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor")),
    mean<&diff_outputs>(
        "aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor"),
};

}  // namespace

std::span<const Row> reduction_rows() {
    return rows;
}

}  // namespace joulecast::records
