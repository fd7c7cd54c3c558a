#include <array>

#include "joulecast/graph/readers/onnx_ops.h"

namespace joulecast::onnx {

namespace {

void batch_normalization(Call& call) {
    call.mark_buffer(3);
    call.mark_buffer(4);
    // ONNX weighs the old statistics, torch the new ones.
    call.output(0, call.emit("aten::batch_norm", {{"input", call.tensor(0)},
                                                  {"weight", call.tensor(1)},
                                                  {"bias", call.tensor(2)},
                                                  {"running_mean", call.tensor(3)},
                                                  {"running_var", call.tensor(4)},
                                                  {"training", Value(call.integer("training_mode", 0) != 0)},
                                                  {"momentum", Value(1.0 - call.real("momentum", 0.9))},
                                                  {"eps", Value(call.real("epsilon", 1e-5))},
                                                  {"cudnn_enabled", Value(true)}}));
    // In training, the running statistics, which batch_norm updates in place.
    for (std::size_t i = 1; i < call.output_count() && i < 3; ++i) call.forward(i, i + 2);
}

void instance_normalization(Call& call) {
    call.output(0, call.emit("aten::instance_norm", {{"input", call.tensor(0)},
                                                     {"weight", call.tensor(1)},
                                                     {"bias", call.tensor(2)},
                                                     {"running_mean", Value(None{})},
                                                     {"running_var", Value(None{})},
                                                     {"use_input_stats", Value(true)},
                                                     {"momentum", Value(0.1)},
                                                     {"eps", Value(call.real("epsilon", 1e-5))},
                                                     {"cudnn_enabled", Value(true)}}));
}

void layer_normalization(Call& call) {
    const Sizes& sizes = call.type(0).sizes;
    const std::int64_t axis = call.axis(call.integer("axis", -1), call.rank(0));
    const Sizes normalized(sizes.begin() + axis, sizes.end());
    if (call.wants(1) || call.wants(2)) {
        const auto results = call.emit_all("aten::native_layer_norm", {{"input", call.tensor(0)},
                                                                       {"normalized_shape", Value(normalized)},
                                                                       {"weight", call.tensor(1)},
                                                                       {"bias", call.optional_tensor(2)},
                                                                       {"eps", Value(call.real("epsilon", 1e-5))}});
        for (std::size_t i = 0; i < results.size(); ++i) call.output(i, results[i]);
        return;
    }
    call.output(0, call.emit("aten::layer_norm", {{"input", call.tensor(0)},
                                                  {"normalized_shape", Value(normalized)},
                                                  {"weight", call.tensor(1)},
                                                  {"bias", call.optional_tensor(2)},
                                                  {"eps", Value(call.real("epsilon", 1e-5))}}));
}

void group_normalization(Call& call) {
    call.output(0, call.emit("aten::group_norm", {{"input", call.tensor(0)},
                                                  {"num_groups", Value(call.integer("num_groups", 1))},
                                                  {"weight", call.tensor(1)},
                                                  {"bias", call.tensor(2)},
                                                  {"eps", Value(call.real("epsilon", 1e-5))}}));
}

void rms_normalization(Call& call) {
    const Sizes& sizes = call.type(0).sizes;
    const std::int64_t axis = call.axis(call.integer("axis", -1), call.rank(0));
    call.output(0, call.emit("aten::rms_norm", {{"input", call.tensor(0)},
                                                {"normalized_shape", Value(Sizes(sizes.begin() + axis, sizes.end()))},
                                                {"weight", call.optional_tensor(1)},
                                                {"eps", Value(call.real("epsilon", 1e-5))}}));
}

/// As torch.nn.functional.local_response_norm spells it for images: channels become a dimension that is averaged.
void local_response_normalization(Call& call) {
    const Operand x = call.tensor(0);
    const std::int64_t size = call.integer("size", 1);
    constexpr std::int64_t widest = 1 << 20;
    if (size < 1 || size > widest) call.refuse("size must be positive");
    if (call.rank(0) != 4) return call.emit_named(std::vector{tensor_type(x.type.dtype, x.type.sizes)});
    Operand y = call.emit("aten::mul.Tensor", {{"self", x}, {"other", x}});
    y = call.emit("aten::unsqueeze", {{"self", y}, {"dim", Value(std::int64_t{1})}});
    y = call.emit("aten::constant_pad_nd", {{"self", y}, {"pad", Value(Sizes{0, 0, 0, 0, size / 2, (size - 1) / 2})}});
    y = call.emit("aten::avg_pool3d",
                  {{"self", y}, {"kernel_size", Value(Sizes{size, 1, 1})}, {"stride", Value(Sizes{1, 1, 1})}});
    y = call.emit("aten::squeeze.dim", {{"self", y}, {"dim", Value(std::int64_t{1})}});
    y = call.emit("aten::mul.Tensor", {{"self", y}, {"other", Value(call.real("alpha", 1e-4))}});
    y = call.emit("aten::add.Tensor", {{"self", y}, {"other", Value(call.real("bias", 1.0))}});
    y = call.emit("aten::pow.Tensor_Scalar", {{"self", y}, {"exponent", Value(call.real("beta", 0.75))}});
    call.output(0, call.emit("aten::div.Tensor", {{"self", x}, {"other", y}}));
}

void norm_normalization(Call& call) {
    const Operand x = call.tensor(0);
    const std::int64_t axis = call.axis(call.integer("axis", -1), call.rank(0));
    const Operand norm =
        call.emit("aten::linalg_vector_norm", {{"self", x},
                                               {"ord", Value(static_cast<double>(call.integer("p", 2)))},
                                               {"dim", Value(Sizes{axis})},
                                               {"keepdim", Value(true)}});
    call.output(0, call.emit("aten::div.Tensor", {{"self", x}, {"other", norm}}));
}

void mean_variance_normalization(Call& call) {
    const Operand x = call.tensor(0);
    Sizes axes = call.list("axes", {0, 2, 3});
    for (std::int64_t& axis : axes) axis = call.axis(axis, call.rank(0));
    const auto mean = [&](const Operand& of) {
        return call.emit("aten::mean.dim", {{"self", of}, {"dim", Value(axes)}, {"keepdim", Value(true)}});
    };
    const Operand centred = call.emit("aten::sub.Tensor", {{"self", x}, {"other", mean(x)}});
    const Operand variance = mean(call.emit("aten::square", {{"self", centred}}));
    const Operand deviation = call.emit("aten::sqrt", {{"self", variance}});
    call.output(0, call.emit("aten::div.Tensor", {{"self", centred}, {"other", deviation}}));
}

}  // namespace

std::span<const Row> normalization_rows() {
    static constexpr std::array rows{
        Row{"BatchNormalization", 1, &batch_normalization},
        Row{"InstanceNormalization", 1, &instance_normalization},
        Row{"LayerNormalization", 1, &layer_normalization},
        Row{"GroupNormalization", 18, &group_normalization},
        Row{"RMSNormalization", 23, &rms_normalization},
        Row{"LRN", 1, &local_response_normalization},
        Row{"LpNormalization", 1, &norm_normalization},
        Row{"MeanVarianceNormalization", 9, &mean_variance_normalization},
    };
    return rows;
}

}  // namespace joulecast::onnx
