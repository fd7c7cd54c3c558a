#pragma once

#include <cstddef>
#include <istream>
#include <string>

namespace joulecast {

/// What a table may grow to. Real ones pack to a tenth or a twentieth; gzip itself reaches 1032.
struct UnpackLimits {
    std::size_t most_bytes = std::size_t{1} << 29;
    double most_ratio = 200.0;  ///< unpacked over packed, beyond the first free_bytes
    std::size_t free_bytes = std::size_t{1} << 20;
};

/// All of the stream: unpacked if it is gzip (RFC 1952, by its first two bytes, several members one behind the other),
/// as it is if not. Throws FormatError, naming the file, for damaged or truncated gzip and beyond the limits, before
/// more than that is held in memory.
std::string read_unpacked(std::istream& input, const std::string& name, const UnpackLimits& limits = {});

}  // namespace joulecast
