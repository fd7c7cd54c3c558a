// Reductions beside the common ones in ops_reduction.cpp.

#include <algorithm>
#include <array>

#include "joulecast/graph/reductions.h"

namespace joulecast::records {

namespace {

/// The length of complex numbers is real.
Dtype real_of(Dtype dtype) {
    if (dtype == Dtype::c64) return Dtype::f32;
    return dtype == Dtype::c128 ? Dtype::f64 : dtype;
}

Types floating_dtype(const Operation& operation) {
    return {make(to_floating(first(operation).dtype), reduced_sizes(operation))};
}

Types real_dtype(const Operation& operation) {
    return {make(real_of(dtype_or(operation, first(operation).dtype)), reduced_sizes(operation))};
}

/// Variance or deviation, then the mean.
Types with_mean(const Operation& operation) {
    const TensorType both = make(first(operation).dtype, reduced_sizes(operation));
    return {both, both};
}

/// Norm of the matrices in the last two dimensions, or of two named ones.
Types matrix_norm_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const Sizes dims = integers(operation, "dim");
    if (dims.size() != 2) refuse(operation, "a matrix has two dimensions");
    return {make(real_of(dtype_or(operation, self.dtype)), reduced_sizes(operation))};
}

/// Distance between two tensors as one number.
Types distance_outputs(const Operation& operation) {
    broadcast_of_all(operation);
    return {make(promoted(operation, {"self", "other"}), {})};
}

/// Similarity along a dimension of two broadcast tensors.
Types along_dimension_outputs(const Operation& operation) {
    Sizes sizes = broadcast_of_all(operation);
    const bool has_dim = has_parameter(operation, "dim");
    const std::size_t at = dimension(operation, has_dim ? integer(operation, "dim") : -1, sizes.size());
    if (at >= sizes.size()) refuse(operation, "a scalar has no dimension");
    if (has_parameter(operation, "keepdim") && flag(operation, "keepdim")) {
        sizes[at] = 1;
    } else {
        sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return {make(promoted(operation, {"x1", "x2"}), std::move(sizes))};
}

/// self summed to a smaller shape that broadcasts to it.
Types summed_to_size(const Operation& operation) {
    const TensorType& self = first(operation);
    const Sizes wanted = integers(operation, "size");
    if (broadcast(operation, self.sizes, wanted) != self.sizes) refuse(operation, "the sizes do not fit");
    return {make(self.dtype, wanted)};
}

/// Integral along a dimension.
Types integral_outputs(const Operation& operation) {
    const TensorType& y = first(operation);
    Sizes sizes = y.sizes;
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(dimension_argument(operation, y)));
    return {make(to_floating(y.dtype), std::move(sizes))};
}

/// As self: cumulative sums in place.
Types running_itself(const Operation& operation) {
    dimension(operation, integer(operation, "dim"), rank(first(operation)));
    return first_itself(operation);
}

/// Vectors along a dimension made no longer than a norm.
Types renormed_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    dimension_argument(operation, self);
    return operation.target == "aten::renorm_" ? first_itself(operation) : Types{make(self.dtype, self.sizes)};
}

constexpr std::array rows{
    sum<&reduced_accumulated>(
        "aten::nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"),
    reduction<&reduced_same, 2>(
        "aten::nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"),
    reduction<&reduced_same, 4>("aten::std(Tensor self, bool unbiased=True) -> Tensor"),
    reduction<&reduced_same, 4>("aten::var(Tensor self, bool unbiased=True) -> Tensor"),
    reduction<&with_mean, 4>("aten::std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)"),
    reduction<&with_mean, 4>(
        "aten::std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)"),
    reduction<&with_mean, 4>("aten::std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, "
                             "bool keepdim=False) -> (Tensor, Tensor)"),
    reduction<&with_mean, 4>("aten::var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)"),
    reduction<&with_mean, 4>(
        "aten::var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)"),
    reduction<&with_mean, 4>("aten::var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, "
                             "bool keepdim=False) -> (Tensor, Tensor)"),
    reduction<&real_dtype, 2>("aten::linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, "
                              "*, ScalarType? dtype=None) -> Tensor"),
    cast(f32_result_on_gpu, reduction<&real_dtype, 2>("aten::norm.Scalar(Tensor self, Scalar p=2) -> Tensor")),
    reduction<&real_dtype, 2>("aten::norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor"),
    reduction<&real_dtype, 2>("aten::norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, "
                              "ScalarType dtype) -> Tensor"),
    cast(f32_on_gpu,
         reduction<&real_dtype, 2>("aten::frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor")),
    cast(f32_result_on_gpu, reduction<&matrix_norm_outputs, 2>(
                                "aten::linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool "
                                "keepdim=False, *, ScalarType? dtype=None) -> Tensor")),
    cast(f32_result_on_gpu, reduction<&matrix_norm_outputs, 2>(
                                "aten::linalg_matrix_norm.str_ord(Tensor self, str ord=\"fro\", int[] dim=[-2, "
                                "-1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")),
    reduction<&floating_dtype, 2>("aten::special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor"),
    reduction_without_gradient<&reduced_boolean>(
        "aten::any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor"),
    reduction_without_gradient<&reduced_boolean>(
        "aten::all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor"),
    reduction_without_gradient<&reduced_i64>("aten::count_nonzero(Tensor self, int? dim=None) -> Tensor"),
    reduction_without_gradient<&reduced_i64>("aten::count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor"),
    cast(f32_on_gpu,
         reduction_of_all<&distance_outputs, 3>("aten::dist(Tensor self, Tensor other, Scalar p=2) -> Tensor")),
    cast(f32_on_gpu, reduction_of_all<&along_dimension_outputs, 6>(
                         "aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor")),
    reduction_of_all<&along_dimension_outputs, 4>("aten::pairwise_distance(Tensor x1, Tensor x2, float p=2., float "
                                                  "eps=9.9999999999999995e-07, bool keepdim=False) -> Tensor"),
    sum<&summed_to_size>("aten::sum_to_size(Tensor self, SymInt[] size) -> Tensor"),
    sum<&integral_outputs>("aten::trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor"),
    sum<&integral_outputs>("aten::trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor"),
    sum<&integral_outputs>("aten::trapz.dx(Tensor y, *, float dx=1., int dim=-1) -> Tensor"),
    sum<&integral_outputs>("aten::trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor"),
    sum<&running_itself>("aten::cumsum_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)"),
    reduction<&running_itself>("aten::cumprod_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)"),
    cast(f32_on_gpu,
         reduction<&renormed_outputs, 3>("aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor")),
    reduction<&renormed_outputs, 3>("aten::renorm_(Tensor(a!) self, Scalar p, int dim, Scalar maxnorm) -> Tensor(a!)"),
};

}  // namespace

std::span<const Row> statistics_rows() {
    return rows;
}

}  // namespace joulecast::records
