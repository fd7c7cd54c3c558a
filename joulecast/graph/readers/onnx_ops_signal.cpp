// Fourier transforms and windows. ONNX writes a complex number as a last dimension of two.
#include <array>

#include "joulecast/graph/readers/onnx_ops.h"

namespace joulecast::onnx {

namespace {

Sizes without_last(Sizes sizes) {
    sizes.pop_back();
    return sizes;
}

Operand reshaped(Call& call, const Operand& x, const Sizes& sizes) {
    return call.emit("aten::reshape", {{"self", x}, {"shape", Value(sizes)}});
}

/// [..., n, 2] as [..., n] complex, the same memory. A last dimension of one is dropped: real numbers.
Operand as_complex(Call& call, std::size_t input) {
    const Operand x = call.tensor(input);
    if (x.type.sizes.empty() || x.type.sizes.back() < 1 || x.type.sizes.back() > 2)
        call.refuse("its last dimension is neither one (real) nor two (complex numbers)");
    const bool is_real = x.type.sizes.back() == 1;
    Sizes sizes = without_last(x.type.sizes);
    if (is_real) return reshaped(call, x, sizes);
    if (sizes.empty()) call.refuse("its input has one dimension");
    if (__builtin_mul_overflow(sizes.back(), 2, &sizes.back())) call.refuse("its sizes overflow");
    const Dtype dtype = x.type.dtype == Dtype::f64 ? Dtype::c128 : Dtype::c64;
    return call.emit("aten::view.dtype", {{"self", reshaped(call, x, sizes)}, {"dtype", Value(dtype)}});
}

/// The way back: [..., n] complex as [..., n, 2].
Operand as_pairs(Call& call, const Operand& x) {
    Sizes sizes = x.type.sizes;
    const Dtype dtype = x.type.dtype == Dtype::c128 ? Dtype::f64 : Dtype::f32;
    const Operand flat = call.emit("aten::view.dtype", {{"self", x}, {"dtype", Value(dtype)}});
    sizes.push_back(2);
    return reshaped(call, flat, sizes);
}

/// dft_length and axis are inputs from operator set 20 on; before, the axis is an attribute.
void fourier(Call& call) {
    const bool axis_is_input = call.opset() >= 20;
    const std::int64_t rank = call.rank(0);
    std::int64_t axis = axis_is_input ? -2 : call.integer("axis", 1);
    if (axis_is_input && call.has(2)) axis = call.integers(2).at(0);
    axis = call.axis(axis, rank);
    if (axis == rank - 1) call.refuse("its axis is that of real and imaginary parts");
    const bool is_inverse = call.integer("inverse", 0) != 0;
    const bool is_onesided = call.integer("onesided", 0) != 0;
    const Operand x = as_complex(call, 0);
    const Value length = call.has(1) ? Value(call.integers(1).at(0)) : Value(None{});
    const std::string target = is_inverse ? (is_onesided ? "aten::fft_irfft" : "aten::fft_ifft")
                                          : (is_onesided ? "aten::fft_rfft" : "aten::fft_fft");
    const Operand y = call.emit(target, {{"self", x}, {"n", length}, {"dim", Value(axis)}});
    if (is_floating(y.type.dtype) && y.type.dtype != Dtype::c64 && y.type.dtype != Dtype::c128)
        return call.output(0, call.emit("aten::unsqueeze", {{"self", y}, {"dim", Value(rank - 1)}}));
    call.output(0, as_pairs(call, y));
}

/// [batch, length, 1 or 2] to [batch, frames, bins, 2]; torch has bins before frames.
void short_time_fourier(Call& call) {
    if (call.rank(0) != 3 && call.rank(0) != 2) call.refuse("its signal needs a batch and a length");
    const std::int64_t step = call.integers(1).at(0);
    std::int64_t length = 0;
    if (call.has(3)) length = call.integers(3).at(0);
    if (!call.has(3) && call.has(2) && call.rank(2) == 1) length = call.type(2).sizes[0];
    const Operand signal = call.rank(0) == 3 ? as_complex(call, 0) : call.tensor(0);
    const bool is_complex = call.rank(0) == 3 && call.type(0).sizes[2] == 2;
    const bool is_onesided = call.integer("onesided", 1) != 0 && !is_complex;
    const Operand y = call.emit("aten::stft", {{"self", signal},
                                               {"n_fft", Value(length)},
                                               {"hop_length", Value(step)},
                                               {"win_length", Value(length)},
                                               {"window", call.optional_tensor(2)},
                                               {"normalized", Value(false)},
                                               {"onesided", Value(is_onesided)},
                                               {"return_complex", Value(true)}});
    call.output(0, call.emit("aten::permute", {{"self", as_pairs(call, y)}, {"dims", Value(Sizes{0, 2, 1, 3})}}));
}

template <Target target>
void window(Call& call) {
    const Dtype dtype = call.dtype("output_datatype", Dtype::f32);
    call.output(0, call.emit(target.string(), {{"window_length", Value(call.sizes_by_input(0).at(0))},
                                               {"periodic", Value(call.integer("periodic", 1) != 0)},
                                               {"dtype", Value(dtype)}}));
}

/// A table made of numbers alone: a constant, which joulecast does not compute.
void mel_weights(Call& call) {
    const auto bins = call.scalar(0);
    const auto length = call.scalar(1);
    Tensor table;
    table.dtype = call.dtype("output_datatype", Dtype::f32);
    constexpr double largest = 1e9;
    if (bins && length && *bins >= 0.0 && *bins < largest && *length >= 0.0 && *length < largest) {
        table.sizes = {static_cast<std::int64_t>(*length) / 2 + 1, static_cast<std::int64_t>(*bins)};
    } else {
        table.sizes = call.sizes_by_input(0);
    }
    call.store(0, table);
}

}  // namespace

std::span<const Row> signal_rows() {
    static constexpr std::array rows{
        Row{"DFT", 17, &fourier},
        Row{"MelWeightMatrix", 17, &mel_weights},
        Row{"STFT", 17, &short_time_fourier},
        Row{"HannWindow", 17, &window<"aten::hann_window.periodic">},
        Row{"HammingWindow", 17, &window<"aten::hamming_window.periodic">},
        Row{"BlackmanWindow", 17, &window<"aten::blackman_window.periodic">},
    };
    return rows;
}

}  // namespace joulecast::onnx
