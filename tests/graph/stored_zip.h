#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace joulecast::testing {

inline void append(std::string& bytes, std::uint32_t value, int width) {
    for (int i = 0; i < width; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xFFU);
}

inline std::uint32_t crc32(std::string_view text) {
    static const auto table = [] {
        std::array<std::uint32_t, 256> entries{};
        for (std::uint32_t i = 0; i < entries.size(); ++i) {
            entries[i] = i;
            for (int bit = 0; bit < 8; ++bit)
                entries[i] = (entries[i] >> 1U) ^ ((entries[i] & 1U) != 0 ? 0xEDB88320U : 0U);
        }
        return entries;
    }();
    std::uint32_t crc = 0xFFFFFFFFU;
    for (const char c : text) crc = table[(crc ^ static_cast<std::uint8_t>(c)) & 0xFFU] ^ (crc >> 8U);
    return ~crc;
}

/// A zip with the one entry, stored (APPNOTE.TXT 4.3: local header, data, central directory, its end).
inline std::string stored_zip(const std::string& name, std::string_view content) {
    const auto size = static_cast<std::uint32_t>(content.size());
    std::string common;  // version, flags, method, time, date, checksum, sizes, lengths of name and extra field
    for (const std::uint32_t field : {20U, 0U, 0U, 0U, 0x21U}) append(common, field, 2);
    for (const std::uint32_t field : {crc32(content), size, size}) append(common, field, 4);
    append(common, static_cast<std::uint32_t>(name.size()), 2);
    append(common, 0, 2);
    std::string zip = "PK\x03\x04" + common + name;
    zip += content;
    const auto directory = static_cast<std::uint32_t>(zip.size());
    zip += "PK\x01\x02";
    append(zip, 20, 2);
    zip += common;
    for (const int width : {2, 2, 2, 4, 4}) append(zip, 0, width);
    zip += name;
    const auto length = static_cast<std::uint32_t>(zip.size()) - directory;
    zip += "PK\x05\x06";
    for (const std::uint32_t field : {0U, 0U, 1U, 1U}) append(zip, field, 2);
    append(zip, length, 4);
    append(zip, directory, 4);
    append(zip, 0, 2);
    return zip;
}

}  // namespace joulecast::testing
