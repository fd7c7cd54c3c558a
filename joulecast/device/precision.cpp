#include "joulecast/device/precision.h"

#include <algorithm>
#include <array>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/graph/autocast.h"
#include "joulecast/graph/fp8.h"
#include "joulecast/graph/unsupported_error.h"

namespace joulecast {
namespace {

struct Word {
    Precision precision;
    std::string_view word;
};

constexpr auto words = std::to_array<Word>({
    {Precision::torch_default, "default"},
    {Precision::fp32, "fp32"},
    {Precision::tf32, "tf32"},
    {Precision::bf16, "bf16"},
    {Precision::fp16, "fp16"},
    {Precision::amp_bf16, "amp-bf16"},
    {Precision::amp_fp16, "amp-fp16"},
    {Precision::fp8, "fp8"},
});

Graph cast(Graph graph, Precision precision, Mode mode, AutocastDevice device) {
    switch (precision) {
        case Precision::torch_default:
        case Precision::fp32:
        case Precision::tf32:
            return graph;
        case Precision::bf16:
            return with_dtype(graph, Dtype::bf16);
        case Precision::fp16:
            return with_dtype(graph, Dtype::f16);
        case Precision::amp_bf16:
            return autocast(graph, Dtype::bf16, device);
        case Precision::amp_fp16:
            return autocast(graph, Dtype::f16, device);
        case Precision::fp8:
            if (mode == Mode::training)
                throw UnsupportedError(
                    "precision fp8 is for inference: its product, aten::_scaled_mm, has no gradient. Train " +
                    graph.name + " with --precision amp-bf16 or bf16");
            return with_fp8_linears(with_dtype(graph, Dtype::bf16));
    }
    return graph;
}

}  // namespace

std::string_view name(Precision precision) {
    return std::ranges::find(words, precision, &Word::precision)->word;
}

std::optional<Precision> parse_precision(std::string_view text) {
    const auto found = std::ranges::find(words, text, &Word::word);
    return found == words.end() ? std::nullopt : std::optional(found->precision);
}

Precision precision_named(std::string_view text) {
    if (const auto precision = parse_precision(text)) return *precision;
    throw UsageError("unknown precision '" + std::string(text) + "'. There are: " + precision_words());
}

Precision measured_precision_named(std::string_view text) {
    const Precision precision = precision_named(text);
    if (precision == Precision::torch_default)
        throw UsageError(
            "precision default is for forecasts: fp32, with tf32 in convolutions where the device has it. Name what is "
            "measured: fp32, tf32 or both");
    return precision;
}

std::string precision_words() {
    std::string text;
    for (const Word& entry : words) text += (text.empty() ? "" : ", ") + std::string(entry.word);
    return text;
}

Math math_of(Precision precision) {
    if (precision == Precision::torch_default) return Math::torch_default;
    return precision == Precision::tf32 ? Math::tf32 : Math::ieee;
}

std::vector<Dtype> dtypes_of(Precision precision) {
    switch (precision) {
        case Precision::bf16:
        case Precision::amp_bf16:
            return {Dtype::bf16};
        case Precision::fp16:
        case Precision::amp_fp16:
            return {Dtype::f16};
        case Precision::fp8:
            return {Dtype::bf16, Dtype::f8e4m3fn};
        case Precision::torch_default:
        case Precision::fp32:
        case Precision::tf32:
            break;
    }
    return {};
}

std::optional<std::string> refusal(Precision precision, Device::Kind kind) {
    if (kind != Device::Kind::cpu) return std::nullopt;
    if (precision == Precision::tf32)
        return "tf32 is how GPUs from Ampere on multiply; a CPU computes fp32 in full. Take --precision fp32";
    if (precision == Precision::fp8)
        return "fp8 products need a GPU from Ada or Hopper on; a CPU only emulates them. Take --precision bf16";
    return std::nullopt;
}

std::optional<std::string> refusal(Precision precision, const Device& device) {
    if (auto why = refusal(precision, device.kind)) return why;
    if (device.kind != Device::Kind::gpu) return std::nullopt;
    const auto without = [&](double rate, std::string_view figure) -> std::optional<std::string> {
        if (rate > 0) return std::nullopt;
        return device.display_name + " has no " + std::string(name(precision)) + ": its data sheet (" + device.id +
               ") gives no " + std::string(figure);
    };
    switch (precision) {
        case Precision::tf32:
            return without(device.peak_flop_per_s_tf32, "peak_flop_per_s_tf32");
        case Precision::bf16:
        case Precision::amp_bf16:
            return without(device.peak_flop_per_s_bf16, "peak_flop_per_s_bf16");
        case Precision::fp8:
            return without(device.peak_flop_per_s_fp8, "peak_flop_per_s_fp8");
        case Precision::torch_default:
        case Precision::fp32:
        case Precision::fp16:
        case Precision::amp_fp16:
            break;
    }
    return std::nullopt;
}

Precision settled(Precision precision, const Device& device) {
    return precision == Precision::torch_default && !has_tf32(device) ? Precision::fp32 : precision;
}

Graph at_precision(Graph graph, Precision precision, Mode mode, Device::Kind kind) {
    if (const auto why = refusal(precision, kind)) throw UsageError(*why);
    const AutocastDevice device = kind == Device::Kind::cpu ? AutocastDevice::cpu : AutocastDevice::cuda;
    return in_mode(cast(std::move(graph), precision, mode, device), mode);
}

}  // namespace joulecast
