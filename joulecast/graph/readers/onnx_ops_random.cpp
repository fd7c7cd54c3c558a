#include <array>

#include "joulecast/graph/readers/onnx_ops.h"

namespace joulecast::onnx {

namespace {

void bernoulli(Call& call) {
    const Dtype dtype = call.dtype("dtype", call.type(0).dtype);
    Operand result = call.emit("aten::bernoulli", {{"self", call.tensor(0)}});
    if (dtype != result.type.dtype) result = call.emit("aten::to.dtype", {{"self", result}, {"dtype", Value(dtype)}});
    call.output(0, result);
}

/// Mean, deviation and bounds change no cost.
template <Target target>
void random(Call& call) {
    call.output(0, call.emit(target.string(), {{"size", Value(call.list("shape", {}))},
                                               {"dtype", Value(call.dtype("dtype", Dtype::f32))}}));
}

template <Target target>
void random_like(Call& call) {
    call.output(0, call.emit(target.string(),
                             {{"self", call.tensor(0)}, {"dtype", Value(call.dtype("dtype", call.type(0).dtype))}}));
}

void multinomial(Call& call) {
    const Dtype dtype = call.dtype("dtype", Dtype::i32);
    Operand result = call.emit("aten::multinomial", {{"self", call.tensor(0)},
                                                     {"num_samples", Value(call.integer("sample_size", 1))},
                                                     {"replacement", Value(true)}});
    if (dtype != result.type.dtype) result = call.emit("aten::to.dtype", {{"self", result}, {"dtype", Value(dtype)}});
    call.output(0, result);
}

std::int64_t reduction_of(const Call& call) {
    const std::string reduction = call.text("reduction", "mean");
    if (reduction == "none") return 0;
    return reduction == "sum" ? 2 : 1;
}

template <Target target>
void loss(Call& call) {
    call.output(0, call.emit(target.string(), {{"self", call.tensor(0)},
                                               {"target", call.tensor(1)},
                                               {"weight", call.optional_tensor(2)},
                                               {"reduction", Value(reduction_of(call))},
                                               {"ignore_index", Value(call.integer("ignore_index", -100))}}));
    if (call.wants(1))
        call.output(1, call.emit("aten::log_softmax.int", {{"self", call.tensor(0)}, {"dim", Value(std::int64_t{1})}}));
}

}  // namespace

std::span<const Row> random_rows() {
    static constexpr std::array rows{
        Row{"Bernoulli", 15, &bernoulli},
        Row{"RandomNormal", 1, &random<"aten::randn">},
        Row{"RandomUniform", 1, &random<"aten::rand">},
        Row{"RandomNormalLike", 1, &random_like<"aten::randn_like">},
        Row{"RandomUniformLike", 1, &random_like<"aten::rand_like">},
        Row{"Multinomial", 7, &multinomial},
        Row{"SoftmaxCrossEntropyLoss", 12, &loss<"aten::cross_entropy_loss">},
        Row{"NegativeLogLikelihoodLoss", 12, &loss<"aten::nll_loss_nd">},
    };
    return rows;
}

}  // namespace joulecast::onnx
