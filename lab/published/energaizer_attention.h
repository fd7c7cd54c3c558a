#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "joulecast/graph/operation.h"
#include "lab/published/energaizer_omissions.h"

namespace joulecast {

/// Attention as the networks of EnergAIzer's lists ran it, "eager" in transformers: written out. The lists tell sizes,
/// not how operands lie, and leave out what is no product, sum or softmax.

/// A batch of products in a network of so many sequences or images. Scores: query and key lie between the tokens, as
/// their projection left them. Weights by values: the values do, and the result is copied back there, which the lists
/// leave out. A product of neither form is returned alone, as it is.
std::vector<CalledKernel> energaizer_attention(const Operation& bmm, std::int64_t sequences, std::int64_t count);

/// The scores that such products make, [sequences, heads, queries, keys]; absent for weights by values.
std::optional<TensorType> attention_scores(const Operation& product);

/// What the lists call an unspecified kernel of as many elements as the scores: the mask, given once for all heads, is
/// added. GPT-2 divides by a number on the device there, and chooses by the mask, which its lists leave out.
std::vector<CalledKernel> energaizer_masking(const TensorType& scores, bool is_gpt2, std::int64_t count);

}  // namespace joulecast
