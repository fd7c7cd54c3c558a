#pragma once

#include <optional>
#include <string_view>

namespace joulecast {

/// How images lie in memory: torch.contiguous_format or torch.channels_last.
enum class MemoryFormat { contiguous, channels_last };

std::string_view name(MemoryFormat format);
/// contiguous or channels_last; absent for other words.
std::optional<MemoryFormat> parse_memory_format(std::string_view word);

}  // namespace joulecast
