#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/measure/measurement.h"

namespace joulecast {

/// What an engine made of a network, as it stands in the database and in CSV: names once, then each kernel as its
/// name's place and the nodes that it does. {"names":["Conv","Gemm"],"kernels":[[0,1,2,3],[1,5]]} is a Conv of the
/// nodes 1 to 3 and a Gemm of node 5. Empty for no kernels.
/// Only of kernels that can be: wrong_kernels().
std::string kernels_text(const std::vector<NetworkKernel>& kernels);
/// Throws FormatError for anything else.
std::vector<NetworkKernel> parse_kernels(std::string_view text);

/// Why these cannot be a network's kernels: more than 100,000, a name that is none of 1 to 200 bytes without control
/// characters, or nodes that do not ascend from zero. Absent when they can.
std::optional<std::string> wrong_kernels(const std::vector<NetworkKernel>& kernels);

}  // namespace joulecast
