#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "joulecast/graph/node_parts.h"

/// The part of fold_decomposed() that looks at one call alone.
namespace joulecast {

/// True for calls that only decompositions leave: convolution, _softmax, native_layer_norm, ...
bool is_decomposed_call(std::string_view target);

/// Turns the arguments of such a call into those of the plain one, whose target it returns; empty for calls that stay.
std::string plain_call(std::string_view target, std::vector<NodePart>& parts);

}  // namespace joulecast
