#pragma once

#include <istream>
#include <string>

#include "joulecast/dataset/dataset.h"
#include "joulecast/dataset/import.h"

namespace joulecast {

/// Reads profiles of a transformer layer's kernels that come with LLMServingSim (J. Cho et al., IISWC 2024): bf16
/// products and attention of serving engines, kernel times without a host. Both forms: that of vLLM 0.19
/// (`profile`, `kind`, …) and the older one of torch's profiler (`layer`, `latency_us`). docs/data.md has the use of
/// every column. Throws FormatError for what is no such table.
Import import_llmservingsim(Dataset& dataset, std::istream& input, const std::string& name);

}  // namespace joulecast
