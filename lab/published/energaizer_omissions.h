#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "joulecast/graph/operation.h"

namespace joulecast {

/// A kernel and how often a network calls it.
struct CalledKernel {
    Operation operation;
    std::int64_t count = 0;
};

/// What EnergAIzer's lists leave out beside a convolution, though the measured network runs it (torchvision's ResNet,
/// MobileViT of transformers): the batch normalisation behind each, and in a ResNet, whose lists have no sums at all,
/// the sum that ends a block. That is behind each 1 x 1 convolution to four times its channels, but for the one of the
/// first stage that projects the block's input. `model` as it is imported, "energaizer:resnet101".
std::vector<CalledKernel> energaizer_omissions(std::string_view model, const Operation& convolution,
                                               std::int64_t count);

}  // namespace joulecast
