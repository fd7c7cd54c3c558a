// Order, ranks and counts: sorts beside the plain one, medians, quantiles, running extrema, searches, histograms.

#include <algorithm>
#include <array>
#include <bit>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

/// The first tensor without a dimension, or with it as 1; without `dim` nothing is left.
Sizes without_dimension(const Operation& operation) {
    const TensorType& self = first(operation);
    const auto dim = !has_parameter(operation, "dim") ? std::nullopt : optional_integer(operation, "dim");
    const bool keeps = has_parameter(operation, "keepdim") && flag(operation, "keepdim");
    if (!dim) return keeps ? Sizes(rank(self), 1) : Sizes{};
    Sizes sizes = self.sizes;
    const std::size_t at = dimension(operation, *dim, rank(self));
    if (at >= sizes.size()) return sizes;
    if (keeps) {
        sizes[at] = 1;
    } else {
        sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return sizes;
}

std::size_t sorted_dimension(const Operation& operation) {
    const TensorType& self = first(operation);
    return !has_parameter(operation, "dim") ? 0 : dimension(operation, integer(operation, "dim"), rank(self));
}

Types sorted_with_places(const Operation& operation) {
    sorted_dimension(operation);
    TensorType values = same_as_first(operation).front();
    TensorType places = values;
    places.dtype = Dtype::i64;
    return {values, places};
}

Types places_only(const Operation& operation) {
    return {sorted_with_places(operation).back()};
}

Types sorted_alone(const Operation& operation) {
    sorted_dimension(operation);
    return same_as_first(operation);
}

/// Values and where they were: kthvalue, median, mode.
Types chosen_with_places(const Operation& operation) {
    const TensorType& self = first(operation);
    if (has_parameter(operation, "k") && rank(self) > 0) {
        const std::int64_t k = integer(operation, "k");
        if (k < 1 || k > self.sizes[dimension_argument(operation, self)]) refuse(operation, "k is out of range");
    }
    return {make(self.dtype, without_dimension(operation)), make(Dtype::i64, without_dimension(operation))};
}

Types chosen_alone(const Operation& operation) {
    return {make(first(operation).dtype, {})};
}

/// One value for each q, which stands in front; a plain number has no dimension.
Types quantile_outputs(const Operation& operation) {
    Sizes sizes = without_dimension(operation);
    if (operation.target.find(".scalar") == std::string::npos) {
        const Sizes& wanted = tensor(operation, "q").sizes;
        sizes.insert(sizes.begin(), wanted.begin(), wanted.end());
    }
    return {make(first(operation).dtype, std::move(sizes))};
}

/// Extrema so far and where they were.
Types running_with_places(const Operation& operation) {
    const TensorType& self = first(operation);
    sorted_dimension(operation);
    return {make(self.dtype, self.sizes), make(Dtype::i64, self.sizes)};
}

Types running_outputs(const Operation& operation) {
    sorted_dimension(operation);
    return {make(first(operation).dtype, first(operation).sizes)};
}

/// Smallest and largest.
Types extremes_outputs(const Operation& operation) {
    const TensorType both = make(first(operation).dtype, without_dimension(operation));
    return {both, both};
}

/// Places in a sorted sequence, for each value.
Types search_outputs(const Operation& operation) {
    const Dtype dtype = flag(operation, "out_int32") ? Dtype::i32 : Dtype::i64;
    const Value value = argument_or_default<Value>(operation, "self");
    const auto* values = std::get_if<TensorType>(&value);
    return {make(dtype, values == nullptr ? Sizes{} : values->sizes)};
}

/// Logarithm of a size, rounded up: comparisons of a binary search.
std::int64_t depth(std::int64_t size) {
    return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1))));
}

/// A sort compares every element with about log2(n) others; passes over memory are not counted.
template <auto Outputs>
Counts sorting_forward(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::size_t at = sorted_dimension(operation);
    const std::int64_t size = at < rank(self) ? self.sizes[at] : 1;
    const Types output = Outputs(operation);
    return {0, checked(operation, depth(size), element_count(self)), input_bytes(operation), bytes(output)};
}

Counts search_forward(const Operation& operation) {
    const Types output = search_outputs(operation);
    const bool buckets = operation.target.starts_with("aten::bucketize");
    const TensorType& sequence = tensor(operation, buckets ? "boundaries" : "sorted_sequence");
    const std::int64_t size = rank(sequence) == 0 ? 1 : sequence.sizes.back();
    return {0, checked(operation, depth(size), elements(output)), input_bytes(operation), bytes(output)};
}

/// The gradient goes back to the places: output 1 behind the input.
Indices saves_places(const Operation& operation) {
    return {static_cast<std::int32_t>(tensors(operation).size()) + 1};
}

template <auto Outputs>
constexpr Row sorting(std::string_view schema) {
    return {schema, Family::reduction, Outputs, &sorting_forward<Outputs>, &gradient_streamed<Outputs>, &saves_places};
}
template <auto Outputs>
constexpr Row ranking(std::string_view schema) {
    return {schema, Family::reduction, Outputs, &sorting_forward<Outputs>};
}
constexpr Row sorting_alone(std::string_view schema) {
    return {schema, Family::reduction, &sorted_alone, &sorting_forward<&sorted_alone>,
            &gradient_streamed<&sorted_alone>};
}
template <auto Outputs>
constexpr Row choosing(std::string_view schema) {
    return {schema, Family::reduction, Outputs, &reduced<Outputs>, &gradient_with_saved<Outputs>, &saves_first};
}
template <auto Outputs>
constexpr Row located(std::string_view schema) {
    return {schema, Family::reduction, Outputs, &reduced<Outputs>, &gradient_streamed<Outputs>, &saves_places};
}
constexpr Row search(std::string_view schema) {
    return {schema, Family::indexing, &search_outputs, &search_forward};
}

/// As many bins as asked for.
Types binned_outputs(const Operation& operation) {
    const std::int64_t bins = integer(operation, "bins");
    if (bins < 1) refuse(operation, "there is no bin");
    return {make(first(operation).dtype, {bins})};
}

constexpr Row histogram(std::string_view schema) {
    return {schema, Family::reduction, &binned_outputs, &reduced<&binned_outputs, 3>};
}

constexpr std::array rows{
    sorting<&sorted_with_places>("aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) "
                                 "-> (Tensor values, Tensor indices)"),
    ranking<&places_only>("aten::argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor"),
    ranking<&places_only>(
        "aten::argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor"),
    sorting_alone("aten::msort(Tensor self) -> Tensor"),
    located<&chosen_with_places>(
        "aten::kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)"),
    located<&chosen_with_places>(
        "aten::median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"),
    located<&chosen_with_places>(
        "aten::nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"),
    located<&chosen_with_places>(
        "aten::mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)"),
    choosing<&chosen_alone>("aten::median(Tensor self) -> Tensor"),
    choosing<&chosen_alone>("aten::nanmedian(Tensor self) -> Tensor"),
    cast(f32_on_cpu,
         choosing<&quantile_outputs>("aten::quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str "
                                     "interpolation=\"linear\") -> Tensor")),
    cast(f32_on_cpu, choosing<&quantile_outputs>(
                         "aten::quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
                         "interpolation=\"linear\") -> Tensor")),
    cast(f32_on_cpu, choosing<&quantile_outputs>(
                         "aten::nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str "
                         "interpolation=\"linear\") -> Tensor")),
    cast(f32_on_cpu, choosing<&quantile_outputs>(
                         "aten::nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, "
                         "str interpolation=\"linear\") -> Tensor")),
    located<&running_with_places>("aten::cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)"),
    located<&running_with_places>("aten::cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)"),
    choosing<&running_outputs>("aten::logcumsumexp(Tensor self, int dim) -> Tensor"),
    choosing<&extremes_outputs>(
        "aten::aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)"),
    search("aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, "
           "str? side=None, Tensor? sorter=None) -> Tensor"),
    search("aten::searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, "
           "str? side=None, Tensor? sorter=None) -> Tensor"),
    search(
        "aten::bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor"),
    search(
        "aten::bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor"),
    histogram("aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor"),
};

}  // namespace

std::span<const Row> sorting_rows() {
    return rows;
}

}  // namespace joulecast::records
