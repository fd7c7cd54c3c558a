#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace joulecast::cli {

/// FIPS 180-4. For the list of files in a wheel; nothing here is a secret.
std::array<std::uint8_t, 32> sha256(std::string_view bytes);

}  // namespace joulecast::cli
