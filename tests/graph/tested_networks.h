#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "joulecast/graph/readers/read_graph.h"

namespace joulecast::testing {

/// With WHOLE_ZOO every network, in a program that no sanitizer slows down; else some of every kind.
inline std::vector<std::string> tested_networks() {
#ifdef WHOLE_ZOO
    return zoo_names(std::filesystem::path(JOULECAST_SOURCE_DIR) / "zoo");
#else
    return {"resnet18", "swin_t", "gpt2", "llama-3.2-1b-decode"};
#endif
}

}  // namespace joulecast::testing
