// Discrete Fourier transforms, and short-time ones.

#include <algorithm>
#include <array>
#include <bit>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

Dtype complex_of(Dtype dtype) {
    return dtype == Dtype::f64 || dtype == Dtype::c128 ? Dtype::c128 : Dtype::c64;
}

Dtype real_of(Dtype dtype) {
    return dtype == Dtype::f64 || dtype == Dtype::c128 ? Dtype::f64 : Dtype::f32;
}

/// Which dimensions are transformed, and the sizes that the input is cut or padded to there.
struct Transform {
    std::vector<std::size_t> dims;
    Sizes sizes;
    /// Only half of the last dimension is there: real output (inverse) or real input.
    bool to_half = false;
    bool to_real = false;
};

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

/// The lengths asked for: n or s; absent where left out.
std::optional<Sizes> lengths(const Operation& operation) {
    if (has_parameter(operation, "n")) return optional_integers(operation, "n");
    if (has_parameter(operation, "s")) return optional_integers(operation, "s");
    return std::nullopt;
}

Transform read(const Operation& operation) {
    const TensorType& self = first(operation);
    Transform call;
    call.sizes = self.sizes;
    const std::string_view target = operation.target;
    call.to_real = contains(target, "irfft") || contains(target, "_hfft") || contains(target, "_c2r");
    const bool one_sided = has_parameter(operation, "onesided") && flag(operation, "onesided");
    call.to_half = (contains(target, "rfft") && !contains(target, "irfft")) || contains(target, "ihfft") ||
                   (contains(target, "_r2c") && one_sided);
    const auto wanted = lengths(operation);
    const auto dims = optional_integers(operation, "dim");
    const std::size_t count = dims ? dims->size() : wanted ? wanted->size() : rank(self);
    if (count < 1 || count > rank(self) || (wanted && wanted->size() != count)) {
        refuse(operation, "the dimensions do not fit");
    }
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = dims ? dimension(operation, (*dims)[i], rank(self)) : rank(self) - count + i;
        call.dims.push_back(at);
        if (wanted && (*wanted)[i] != -1) call.sizes[at] = (*wanted)[i];
        if (call.to_real && i + 1 == count && (!wanted || (*wanted)[i] == -1)) {
            const std::int64_t size = has_parameter(operation, "last_dim_size")
                                          ? integer(operation, "last_dim_size")
                                          : checked(operation, 2, call.sizes[at] - 1);
            call.sizes[at] = size;
        }
        if (call.sizes[at] < 1) refuse(operation, "there is nothing to transform");
    }
    product(operation, call.sizes);
    return call;
}

Types transformed_outputs(const Operation& operation) {
    Transform call = read(operation);
    const Dtype dtype = first(operation).dtype;
    if (call.to_half) call.sizes[call.dims.back()] = call.sizes[call.dims.back()] / 2 + 1;
    return {make(call.to_real ? real_of(dtype) : complex_of(dtype), std::move(call.sizes))};
}

/// 5 n log2 n, the customary count of a complex transform (Cooley and Tukey, radix 2); half for real ones.
std::int64_t transform_cost(const Operation& operation, std::int64_t count, std::int64_t length, bool real) {
    const auto size = static_cast<std::uint64_t>(std::max<std::int64_t>(length, 1));
    const std::int64_t depth = static_cast<std::int64_t>(std::bit_width(size)) - 1;
    return checked(operation, checked(operation, 5, depth), count) / (real ? 2 : 1);
}

Counts transformed_forward(const Operation& operation) {
    const Transform call = read(operation);
    std::int64_t length = 1;
    for (const std::size_t dim : call.dims) length = checked(operation, length, call.sizes[dim]);
    const std::int64_t cost =
        transform_cost(operation, product(operation, call.sizes), length, call.to_half || call.to_real);
    return {0, cost, input_bytes(operation), bytes(transformed_outputs(operation))};
}

/// The gradient is a transform of as many numbers.
Counts transformed_backward(const Operation& operation) {
    const Counts forward = transformed_forward(operation);
    return {0, forward.other_flop, forward.bytes_written, gradient_bytes(operation)};
}

constexpr Row transform(std::string_view schema) {
    return {schema, Family::other, &transformed_outputs, &transformed_forward, &transformed_backward};
}

/// Halves exchanged: a copy.
Types shifted_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    for (const std::int64_t dim : optional_integers(operation, "dim").value_or(Sizes{})) {
        dimension(operation, dim, rank(self));
    }
    return {make(self.dtype, self.sizes)};
}

constexpr Row shift(std::string_view schema) {
    return {schema, Family::copy, &shifted_outputs, &streamed<&shifted_outputs>, &gradient_streamed<&shifted_outputs>};
}

std::int64_t positive(const Operation& operation, std::int64_t number) {
    constexpr std::int64_t largest = std::int64_t{1} << 31;
    if (number < 1 || number > largest) refuse(operation, "n_fft or hop_length is out of range");
    return number;
}

bool flag_or(const Operation& operation, std::string_view name, bool otherwise) {
    if (!has_parameter(operation, name)) return otherwise;
    const Value value = argument_or_default<Value>(operation, name);
    const auto* given = std::get_if<bool>(&value);
    return given == nullptr ? otherwise : *given;
}

/// Windows of n_fft samples, hop_length (a quarter of it) apart: [batch, frequencies, windows], complex or with a last
/// dimension of 2.
Types short_time_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    if (rank(self) < 1 || rank(self) > 2) refuse(operation, "the signal has a wrong number of dimensions");
    const std::int64_t n = positive(operation, integer(operation, "n_fft"));
    const std::int64_t hop = positive(operation, optional_integer(operation, "hop_length").value_or(n / 4));
    const bool centred = has_parameter(operation, "center") && flag(operation, "center");
    const std::int64_t samples = added(self.sizes.back(), centred ? n / 2 * 2 : 0);
    if (samples < n) refuse(operation, "the signal is shorter than a window");
    const bool complex = first(operation).dtype == Dtype::c64 || first(operation).dtype == Dtype::c128;
    const bool half = flag_or(operation, "onesided", !complex);
    Sizes sizes(self.sizes.begin(), self.sizes.end() - 1);
    sizes.insert(sizes.end(), {half ? n / 2 + 1 : n, (samples - n) / hop + 1});
    const bool as_complex = flag_or(operation, "return_complex", complex);
    if (!as_complex) sizes.push_back(2);
    return {make(as_complex ? complex_of(self.dtype) : real_of(self.dtype), std::move(sizes))};
}

Counts short_time_forward(const Operation& operation) {
    const Types output = short_time_outputs(operation);
    const std::int64_t n = integer(operation, "n_fft");
    return {0, transform_cost(operation, checked(operation, 2, elements(output)), n, true), input_bytes(operation),
            bytes(output)};
}

/// The windows added up again: hop_length samples for each but the first, without what `center` put around them.
Types signal_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const bool complex = self.dtype == Dtype::c64 || self.dtype == Dtype::c128;
    const std::size_t count = rank(self) - (complex ? 0 : 1);
    if (rank(self) < 2 || count < 2 || count > 3) refuse(operation, "the input has a wrong number of dimensions");
    const std::int64_t n = positive(operation, integer(operation, "n_fft"));
    const std::int64_t hop = positive(operation, optional_integer(operation, "hop_length").value_or(n / 4));
    const std::int64_t whole = added(n, checked(operation, hop, self.sizes[count - 1] - 1));
    const std::int64_t centred = whole - (flag(operation, "center") ? n / 2 * 2 : 0);
    const std::int64_t samples = optional_integer(operation, "length").value_or(centred);
    if (samples < 1 || self.sizes[count - 1] < 1) refuse(operation, "no sample is left");
    Sizes sizes(self.sizes.begin(), self.sizes.begin() + static_cast<std::ptrdiff_t>(count - 2));
    sizes.push_back(samples);
    return {make(flag(operation, "return_complex") ? complex_of(self.dtype) : real_of(self.dtype), std::move(sizes))};
}

Counts signal_forward(const Operation& operation) {
    const Types output = signal_outputs(operation);
    const std::int64_t numbers = checked(operation, 2, element_count(first(operation)));
    return {0, transform_cost(operation, numbers, integer(operation, "n_fft"), true), input_bytes(operation),
            bytes(output)};
}

template <auto Forward>
Counts inverse_backward(const Operation& operation) {
    const Counts forward = Forward(operation);
    return {0, forward.other_flop, forward.bytes_written, gradient_bytes(operation)};
}

template <auto Outputs, auto Forward>
constexpr Row short_time(std::string_view schema) {
    return {schema, Family::other, Outputs, Forward, &inverse_backward<Forward>};
}

constexpr std::array rows{
    cast(f32_on_cpu, transform("aten::fft_fft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor")),
    cast(f32_on_cpu, transform("aten::fft_ifft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor")),
    cast(f32_on_cpu, transform("aten::fft_rfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor")),
    cast(f32_on_cpu, transform("aten::fft_irfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor")),
    cast(f32_on_cpu, transform("aten::fft_hfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor")),
    cast(f32_on_cpu, transform("aten::fft_ihfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor")),
    cast(f32_on_cpu,
         transform("aten::fft_fft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor")),
    cast(f32_on_cpu,
         transform("aten::fft_ifft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor")),
    cast(f32_on_cpu,
         transform("aten::fft_rfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor")),
    cast(f32_on_cpu,
         transform("aten::fft_irfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor")),
    cast(f32_on_cpu,
         transform("aten::fft_fftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor")),
    cast(f32_on_cpu,
         transform("aten::fft_ifftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor")),
    cast(f32_on_cpu,
         transform("aten::fft_rfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor")),
    cast(f32_on_cpu,
         transform("aten::fft_irfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor")),
    transform("aten::_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor"),
    transform("aten::_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor"),
    transform("aten::_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor"),
    shift("aten::fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor"),
    shift("aten::fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor"),
    cast(
        f32_on_cpu,
        short_time<&short_time_outputs, &short_time_forward>(
            "aten::stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool "
            "normalized=False, bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor")),
    cast(f32_on_cpu,
         short_time<&short_time_outputs, &short_time_forward>(
             "aten::stft.center(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
             "window=None, "
             "bool center=True, str pad_mode=\"reflect\", bool normalized=False, bool? onesided=None, bool? "
             "return_complex=None, bool? align_to_window=None) -> Tensor")),
    short_time<&signal_outputs, &signal_forward>(
        "aten::istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool "
        "center=True, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) -> "
        "Tensor"),
};

}  // namespace

std::span<const Row> fourier_rows() {
    return rows;
}

}  // namespace joulecast::records
