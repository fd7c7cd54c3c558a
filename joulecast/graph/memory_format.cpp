#include "joulecast/graph/memory_format.h"

namespace joulecast {

std::string_view name(MemoryFormat format) {
    return format == MemoryFormat::contiguous ? "contiguous" : "channels_last";
}

std::optional<MemoryFormat> parse_memory_format(std::string_view word) {
    for (const MemoryFormat format : {MemoryFormat::contiguous, MemoryFormat::channels_last})
        if (word == name(format)) return format;
    return std::nullopt;
}

}  // namespace joulecast
