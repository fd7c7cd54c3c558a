#include "joulecast/dataset/traced_names.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace joulecast {

std::string name_of_traced(const std::string& network) {
    constexpr std::array<std::string_view, 11> changed{"bert-base",    "bert-large", "gpt2",        "llama-3.1-8b",
                                                       "llama-3.2-1b", "opt-1.3b",   "qwen2-1.5b",  "qwen3-8b",
                                                       "vit_b_16",     "vit_b_32",   "whisper-tiny"};
    return std::ranges::find(changed, network) == changed.end() ? network : network + "@traced";
}

}  // namespace joulecast
