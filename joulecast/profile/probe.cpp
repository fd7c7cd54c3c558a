#include "joulecast/profile/probe.h"

#include <array>
#include <span>
#include <string_view>

namespace joulecast {
namespace {

// Sizes are those of well-known networks (ResNet, MobileNet, ResNeXt, U-Net, BERT, GPT-2, Llama), so that what is
// measured for the probe serves their forecasts too.
constexpr auto texts = std::to_array<std::string_view>({
    // Convolutions: few channels in, many sizes of image, one by one, depthwise, in groups, transposed.
    "aten::conv2d(input=f32[8,3,224,224], weight=f32[64,3,7,7], stride=[2,2], padding=[3,3])",
    "aten::conv2d(input=f32[8,64,56,56], weight=f32[64,64,3,3], padding=[1,1])",
    "aten::conv2d(input=f32[8,512,7,7], weight=f32[512,512,3,3], padding=[1,1])",
    "aten::conv2d(input=f32[1,256,14,14], weight=f32[256,256,3,3], padding=[1,1])",
    "aten::conv2d(input=f32[8,256,14,14], weight=f32[1024,256,1,1])",
    "aten::conv2d(input=f32[8,96,56,56], weight=f32[96,1,3,3], padding=[1,1], groups=96)",
    "aten::conv2d(input=f32[8,128,28,28], weight=f32[128,4,3,3], padding=[1,1], groups=32)",
    "aten::conv_transpose2d.input(input=f32[8,128,28,28], weight=f32[128,64,2,2], stride=[2,2])",
    // Matrix products: by what the arithmetic, the memory and the call itself allow.
    "aten::mm(self=f32[1024,1024], mat2=f32[1024,1024])",
    "aten::mm(self=f32[64,64], mat2=f32[64,64])",
    "aten::linear(input=f32[1,4096], weight=f32[4096,4096])",
    "aten::linear(input=f32[8,128,768], weight=f32[3072,768], bias=f32[3072])",
    "aten::linear(input=f32[8,2048], weight=f32[1000,2048], bias=f32[1000])",
    "aten::bmm(self=f32[96,128,64], mat2=f32[96,64,128])",
    // Attention: a whole sequence, and one further token.
    "aten::scaled_dot_product_attention(query=f32[8,12,128,64], key=f32[8,12,128,64], value=f32[8,12,128,64])",
    "aten::scaled_dot_product_attention(query=f32[1,32,1,64], key=f32[1,32,1024,64], value=f32[1,32,1024,64])",
    // Norms and softmax.
    "aten::batch_norm(input=f32[8,64,56,56], weight=f32[64], bias=f32[64], running_mean=f32[64], running_var=f32[64], "
    "training=false, momentum=0.1, eps=1e-05, cudnn_enabled=true)",
    "aten::layer_norm(input=f32[8,128,768], normalized_shape=[768], weight=f32[768], bias=f32[768])",
    "aten::softmax.int(self=f32[8,12,128,128], dim=-1)",
    // Element-wise: nothing but a call, one tensor, much arithmetic, two tensors, one of them expanded.
    "aten::relu(self=f32[1024])",
    "aten::relu(self=f32[8,64,112,112])",
    "aten::gelu(self=f32[8,128,3072])",
    "aten::add.Tensor(self=f32[8,256,56,56], other=f32[8,256,56,56])",
    "aten::mul.Tensor(self=f32[8,96,56,56], other=f32[8,96,1,1])",
    // Pools, reductions and sizes.
    "aten::max_pool2d(self=f32[8,64,112,112], kernel_size=[3,3], stride=[2,2], padding=[1,1])",
    "aten::adaptive_avg_pool2d(self=f32[8,2048,7,7], output_size=[1,1])",
    "aten::mean.dim(self=f32[8,128,768], dim=[1])",
    "aten::upsample_nearest2d.vec(input=f32[8,64,28,28], output_size=none, scale_factors=[2.0,2.0])",
    // Memory: joined, brought into another order, cast, looked up.
    "aten::cat(tensors=[f32[8,64,56,56], f32[8,64,56,56], f32[8,128,56,56]], dim=1)",
    "aten::clone(self=f32[8,64,56,56]{cl}, memory_format=\"contiguous_format\")",
    "aten::_to_copy(self=f32[8,128,3072], dtype=bf16)",
    "aten::embedding(weight=f32[30522,768], indices=i64[8,128])",
});

constexpr auto training_texts = std::to_array<std::string_view>({
    "aten::conv2d(input=f32[8,64,56,56]~, weight=f32[64,64,3,3]~, padding=[1,1])",
    "aten::conv2d(input=f32[8,512,7,7]~, weight=f32[512,512,3,3]~, padding=[1,1])",
    "aten::conv2d(input=f32[8,256,14,14]~, weight=f32[1024,256,1,1]~)",
    "aten::conv2d(input=f32[8,96,56,56]~, weight=f32[96,1,3,3]~, padding=[1,1], groups=96)",
    "aten::mm(self=f32[1024,1024]~, mat2=f32[1024,1024]~)",
    "aten::linear(input=f32[8,128,768]~, weight=f32[3072,768]~, bias=f32[3072]~)",
    "aten::linear(input=f32[8,2048]~, weight=f32[1000,2048]~, bias=f32[1000]~)",
    "aten::bmm(self=f32[96,128,64]~, mat2=f32[96,64,128]~)",
    "aten::batch_norm(input=f32[8,64,56,56]~, weight=f32[64]~, bias=f32[64]~, running_mean=f32[64], "
    "running_var=f32[64], training=true, momentum=0.1, eps=1e-05, cudnn_enabled=true)",
    "aten::layer_norm(input=f32[8,128,768]~, normalized_shape=[768], weight=f32[768]~, bias=f32[768]~)",
    "aten::softmax.int(self=f32[8,12,128,128]~, dim=-1)",
    "aten::relu(self=f32[8,64,112,112]~)",
    "aten::gelu(self=f32[8,128,3072]~)",
    "aten::max_pool2d(self=f32[8,64,112,112]~, kernel_size=[3,3], stride=[2,2], padding=[1,1])",
});

std::vector<Operation> parsed(std::span<const std::string_view> signatures) {
    std::vector<Operation> operations;
    operations.reserve(signatures.size());
    for (const std::string_view text : signatures) operations.push_back(parse_operation(text));
    return operations;
}

}  // namespace

std::vector<Operation> probe_operations(Mode mode) {
    return mode == Mode::training ? parsed(training_texts) : parsed(texts);
}

}  // namespace joulecast
