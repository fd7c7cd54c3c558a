#include "joulecast/report/base64.h"

#include <algorithm>
#include <cstdint>

namespace joulecast {

std::string base64(std::string_view bytes) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t from = 0; from < bytes.size(); from += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - from);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            const unsigned byte = i < count ? static_cast<unsigned char>(bytes[from + i]) : 0U;
            bits = (bits << 8U) | byte;
        }
        for (std::size_t i = 0; i < 4; ++i) text += i <= count ? letters[(bits >> (18 - 6 * i)) & 63U] : '=';
    }
    return text;
}

}  // namespace joulecast
