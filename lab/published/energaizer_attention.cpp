#include "lab/published/energaizer_attention.h"

#include <utility>

#include "joulecast/graph/tensor_type.h"

namespace joulecast {
namespace {

/// [sequences, heads, tokens, width] of what lies as [sequences, tokens, heads, width].
TensorType between_tokens(Dtype dtype, std::int64_t sequences, std::int64_t heads, std::int64_t tokens,
                          std::int64_t width) {
    return {dtype, {sequences, heads, tokens, width}, {tokens * heads * width, width, heads * width, 1}};
}

TensorType turned(TensorType matrices) {
    std::swap(matrices.sizes[2], matrices.sizes[3]);
    std::swap(matrices.strides[2], matrices.strides[3]);
    return matrices;
}

Operation matmul(TensorType self, TensorType other) {
    return {"aten::matmul", {{"self", std::move(self)}, {"other", std::move(other)}}};
}

}  // namespace

std::vector<CalledKernel> energaizer_attention(const Operation& bmm, std::int64_t sequences, std::int64_t count) {
    const TensorType* const left = find_tensor(bmm, "self");
    const TensorType* const right = find_tensor(bmm, "mat2");
    if (left == nullptr || right == nullptr || left->sizes[0] % sequences != 0) return {{bmm, count}};
    const std::int64_t heads = left->sizes[0] / sequences, queries = left->sizes[1];
    const std::int64_t inner = left->sizes[2], columns = right->sizes[2];
    const Dtype dtype = left->dtype;
    if (columns == queries)
        return {{matmul(between_tokens(dtype, sequences, heads, queries, inner),
                        turned(between_tokens(dtype, sequences, heads, columns, inner))),
                 count}};
    if (inner != queries) return {{bmm, count}};
    const TensorType result{
        dtype, {sequences, queries, heads, columns}, {heads * queries * columns, columns, queries * columns, 1}};
    return {
        {matmul({dtype, {sequences, heads, queries, inner}}, between_tokens(dtype, sequences, heads, inner, columns)),
         count},
        {{"aten::contiguous", {{"self", result}}}, count}};
}

std::optional<TensorType> attention_scores(const Operation& product) {
    const TensorType* const left = find_tensor(product, "self");
    const TensorType* const right = find_tensor(product, "other");
    const bool is_batched = left && right && left->sizes.size() == 4 && right->sizes.size() == 4;
    if (product.target != "aten::matmul" || !is_batched || left->strides.empty()) return {};
    return TensorType{left->dtype, {left->sizes[0], left->sizes[1], left->sizes[2], right->sizes[3]}};
}

std::vector<CalledKernel> energaizer_masking(const TensorType& scores, bool is_gpt2, std::int64_t count) {
    const TensorType mask{scores.dtype, {scores.sizes[0], 1, scores.sizes[2], scores.sizes[3]}};
    if (!is_gpt2) return {{{"aten::add.Tensor", {{"self", scores}, {"other", mask}}}, count}};
    const TensorType number{scores.dtype, {}};
    const TensorType triangle{Dtype::boolean, {1, 1, scores.sizes[2], scores.sizes[3]}};
    return {{{"aten::div.Tensor", {{"self", scores}, {"other", number}}}, count},
            {{"aten::where.self", {{"condition", triangle}, {"self", scores}, {"other", number}}}, count}};
}

}  // namespace joulecast
