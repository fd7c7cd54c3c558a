// Random numbers, and tensors made from a rule: windows, index lists, sequences. They are written, nothing is read.

#include <algorithm>
#include <array>

#include "joulecast/graph/pointwise.h"

namespace joulecast::records {

namespace {

TensorType sized(const Operation& operation, Dtype dtype, Sizes sizes) {
    product(operation, sizes);
    return make(dtype, std::move(sizes));
}

Types integers_of_size(const Operation& operation) {
    return {sized(operation, dtype_or(operation, Dtype::i64), integers(operation, "size"))};
}

Types floats_of_size(const Operation& operation) {
    return {sized(operation, dtype_or(operation, Dtype::f32), integers(operation, "size"))};
}

Types permutation(const Operation& operation) {
    return {sized(operation, dtype_or(operation, Dtype::i64), {integer(operation, "n")})};
}

Types like_first(const Operation& operation) {
    Types types = same_as_first(operation);
    types.front().dtype = dtype_or(operation, types.front().dtype);
    return types;
}

/// Distributions whose parameters are tensors: broadcast.
Types like_parameters(const Operation& operation) {
    return {make(to_floating(first(operation).dtype), broadcast_of_all(operation))};
}

/// `num_samples` places for each row of weights.
Types drawn_places(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::int64_t samples = integer(operation, "num_samples");
    if (rank(self) < 1 || rank(self) > 2 || samples < 1) refuse(operation, "rows of weights and samples do not fit");
    Sizes sizes = self.sizes;
    sizes.back() = samples;
    return {make(Dtype::i64, std::move(sizes))};
}

Types window_outputs(const Operation& operation) {
    return {sized(operation, dtype_or(operation, Dtype::f32), {integer(operation, "window_length")})};
}

/// Elements of a triangle of row x col: those on and below diagonal `offset` (tril), or on and above it.
Types triangle_outputs(const Operation& operation) {
    const std::int64_t rows = integer(operation, "row");
    const std::int64_t columns = integer(operation, "col");
    const std::int64_t offset = integer(operation, "offset");
    constexpr std::int64_t largest = std::int64_t{1} << 24;
    if (std::min(rows, columns) < 0 || std::max(rows, columns) > largest || offset < -largest || offset > largest) {
        refuse(operation, "rows, columns or offset are out of range");
    }
    const bool lower = operation.target == "aten::tril_indices";
    // Row i has its first min(max(i + offset + 1, 0), columns) elements in the lower triangle.
    const std::int64_t below_from = std::clamp<std::int64_t>(-offset, 0, rows);  // rows without any end here
    const std::int64_t full_from = std::clamp<std::int64_t>(columns - offset - 1, below_from, rows);
    const std::int64_t growing = full_from - below_from;
    const std::int64_t first_length = std::clamp<std::int64_t>(below_from + offset + 1, 0, columns);
    const auto count_lower = [&](std::int64_t start) {
        return growing * start + growing * (growing - 1) / 2 + (rows - full_from) * columns;
    };
    const std::int64_t in_lower = count_lower(first_length);
    if (lower) return {make(dtype_or(operation, Dtype::i64), {2, in_lower})};
    // The upper triangle is what the lower one below diagonal offset - 1 leaves: on the diagonal itself both count.
    std::int64_t on_diagonal = 0;
    if (offset > -rows && offset < columns) {
        on_diagonal = std::min(rows - std::max<std::int64_t>(-offset, 0), columns - std::max<std::int64_t>(offset, 0));
    }
    return {make(dtype_or(operation, Dtype::i64), {2, rows * columns - in_lower + on_diagonal})};
}

Types logspace_outputs(const Operation& operation) {
    return {sized(operation, dtype_or(operation, Dtype::f32), {integer(operation, "steps")})};
}

/// The numbers of fft_fftfreq and fft_rfftfreq.
Types frequencies(const Operation& operation) {
    const std::int64_t n = integer(operation, "n");
    if (n < 1) refuse(operation, "there is no sample");
    const bool half = operation.target == "aten::fft_rfftfreq";
    return {sized(operation, dtype_or(operation, Dtype::f32), {half ? n / 2 + 1 : n})};
}

/// Memory with given strides.
Types unordered(const Operation& operation) {
    const Dtype otherwise = has_parameter(operation, "self") ? first(operation).dtype : Dtype::f32;
    return {sized(operation, dtype_or(operation, otherwise), integers(operation, "size"))};
}

template <auto Outputs>
constexpr Row made(std::string_view schema) {
    return {schema, Family::creation, Outputs, &written<Outputs>};
}
template <auto Outputs>
constexpr Row unwritten(std::string_view schema) {
    return {schema, Family::creation, Outputs, &free_of_charge};
}
/// A new value for self: its gradient is zeros.
Counts zeros_backward(const Operation& operation) {
    return {0, 0, 0, gradient_bytes(operation)};
}
constexpr Row overwritten(std::string_view schema) {
    return {schema, Family::creation, &first_itself, &written<&first_itself>, &zeros_backward};
}
/// Only the type of self counts.
constexpr Row redrawn(std::string_view schema) {
    return {schema, Family::creation, &same_as_first, &written<&same_as_first>, &zeros_backward};
}
/// Probabilities or means come in as tensors.
template <auto Outputs>
constexpr Row drawn(std::string_view schema) {
    return {schema, Family::creation, Outputs, &streamed<Outputs, 1>, &zeros_backward};
}

constexpr std::array rows{
    made<&integers_of_size>("aten::randint(SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? layout=None, "
                            "Device? device=None, bool? pin_memory=None) -> Tensor"),
    made<&integers_of_size>("aten::randint.low(SymInt low, SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? "
                            "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    made<&floats_of_size>(
        "aten::normal.float_float(float mean, float std, SymInt[] size, *, Generator? generator=None, ScalarType? "
        "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    made<&permutation>("aten::randperm(SymInt n, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, "
                       "bool? pin_memory=None) -> Tensor"),
    made<&like_first>("aten::randint_like(Tensor self, SymInt high, *, ScalarType? dtype=None, Layout? layout=None, "
                      "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"),
    made<&like_first>(
        "aten::randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, ScalarType? dtype=None, Layout? "
        "layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"),
    made<&triangle_outputs>("aten::tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? "
                            "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    made<&triangle_outputs>("aten::triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? "
                            "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    made<&window_outputs>("aten::hann_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
                          "Device? device=None, bool? pin_memory=None) -> Tensor"),
    made<&window_outputs>("aten::hann_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
                          "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    made<&window_outputs>("aten::hamming_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
                          "Device? device=None, bool? pin_memory=None) -> Tensor"),
    made<&window_outputs>("aten::hamming_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
                          "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    made<&window_outputs>(
        "aten::hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, *, ScalarType? dtype=None, "
        "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    made<&window_outputs>(
        "aten::hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, float beta, *, "
        "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    made<&window_outputs>("aten::bartlett_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
                          "Device? device=None, bool? pin_memory=None) -> Tensor"),
    made<&window_outputs>("aten::bartlett_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
                          "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    made<&window_outputs>("aten::blackman_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
                          "Device? device=None, bool? pin_memory=None) -> Tensor"),
    made<&window_outputs>("aten::blackman_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
                          "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    made<&window_outputs>("aten::kaiser_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
                          "Device? device=None, bool? pin_memory=None) -> Tensor"),
    made<&window_outputs>("aten::kaiser_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
                          "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    made<&window_outputs>("aten::kaiser_window.beta(int window_length, bool periodic, float beta, *, ScalarType? "
                          "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    made<&logspace_outputs>("aten::logspace(Scalar start, Scalar end, int steps, float base=10., *, ScalarType? "
                            "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    made<&frequencies>("aten::fft_fftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, Device? "
                       "device=None, bool? pin_memory=None) -> Tensor"),
    made<&frequencies>("aten::fft_rfftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, Device? "
                       "device=None, bool? pin_memory=None) -> Tensor"),
    unwritten<&unordered>("aten::empty_strided(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? "
                          "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    unwritten<&unordered>("aten::empty_permuted(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, "
                          "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    unwritten<&unordered>("aten::new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, ScalarType? "
                          "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    overwritten(
        "aten::normal_(Tensor(a!) self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor(a!)"),
    overwritten(
        "aten::uniform_(Tensor(a!) self, float from=0., float to=1., *, Generator? generator=None) -> Tensor(a!)"),
    overwritten("aten::random_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)"),
    overwritten("aten::random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!)"),
    overwritten("aten::random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!)"),
    overwritten("aten::exponential_(Tensor(a!) self, float lambd=1., *, Generator? generator=None) -> Tensor(a!)"),
    overwritten("aten::bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)"),
    overwritten(
        "aten::log_normal_(Tensor(a!) self, float mean=1., float std=2., *, Generator? generator=None) -> Tensor(a!)"),
    overwritten(
        "aten::cauchy_(Tensor(a!) self, float median=0., float sigma=1., *, Generator? generator=None) -> Tensor(a!)"),
    overwritten("aten::geometric_(Tensor(a!) self, float p, *, Generator? generator=None) -> Tensor(a!)"),
    overwritten("aten::fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)"),
    redrawn(
        "aten::normal_functional(Tensor self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor"),
    redrawn("aten::uniform(Tensor self, float from=0., float to=1., *, Generator? generator=None) -> Tensor"),
    redrawn("aten::random(Tensor self, *, Generator? generator=None) -> Tensor"),
    redrawn("aten::random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor"),
    redrawn("aten::random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor"),
    redrawn("aten::exponential(Tensor self, float lambd=1., *, Generator? generator=None) -> Tensor"),
    redrawn("aten::log_normal(Tensor self, float mean=1., float std=2., *, Generator? generator=None) -> Tensor"),
    redrawn("aten::cauchy(Tensor self, float median=0., float sigma=1., *, Generator? generator=None) -> Tensor"),
    redrawn("aten::geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor"),
    redrawn("aten::bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor"),
    redrawn("aten::fill.Scalar(Tensor self, Scalar value) -> Tensor"),
    redrawn("aten::fill.Tensor(Tensor self, Tensor value) -> Tensor"),
    redrawn("aten::zero(Tensor self) -> Tensor"),
    drawn<&same_if_dense>("aten::bernoulli(Tensor self, *, Generator? generator=None) -> Tensor"),
    drawn<&same_as_first>("aten::poisson(Tensor self, Generator? generator=None) -> Tensor"),
    drawn<&like_parameters>(
        "aten::normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor"),
    drawn<&like_parameters>(
        "aten::normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor"),
    drawn<&like_parameters>(
        "aten::normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor"),
    drawn<&first_itself>(
        "aten::bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)"),
    drawn<&drawn_places>("aten::multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? "
                         "generator=None) -> Tensor"),
};

}  // namespace

std::span<const Row> random_rows() {
    return rows;
}

}  // namespace joulecast::records
