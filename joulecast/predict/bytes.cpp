#include "joulecast/predict/bytes.h"

#include <array>

#include "joulecast/error.h"

namespace joulecast {
namespace {

constexpr std::size_t longest_text = 1U << 20U;

constexpr std::array<std::uint32_t, 256> crc_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) value = (value >> 1U) ^ ((value & 1U) ? 0xEDB88320U : 0U);
        table[i] = value;
    }
    return table;
}

}  // namespace

void ByteWriter::text(std::string_view value) {
    const std::string_view kept = value.substr(0, longest_text);
    number(static_cast<std::uint32_t>(kept.size()));
    raw(std::as_bytes(std::span(kept.data(), kept.size())));
}

std::string ByteReader::text() {
    const auto size = number<std::uint32_t>();
    if (size > longest_text) fail("a text is longer than 1 MiB");
    const auto from = take(size);
    return {reinterpret_cast<const char*>(from.data()), from.size()};
}

std::span<const std::byte> ByteReader::take(std::uint64_t count) {
    if (count > bytes_.size()) fail("it ends too early");
    const auto taken = bytes_.first(static_cast<std::size_t>(count));
    bytes_ = bytes_.subspan(static_cast<std::size_t>(count));
    return taken;
}

std::size_t ByteReader::count(std::size_t item_bytes) {
    const auto items = number<std::uint32_t>();
    if (items > bytes_.size() / item_bytes) fail("it announces more items than it has bytes for");
    return items;
}

void ByteReader::fail(const std::string& why) const {
    throw FormatError(what_ + " is damaged: " + why + ". Get the file again, or train the predictor anew.");
}

std::uint32_t crc32(std::span<const std::byte> bytes) {
    static constexpr auto table = crc_table();
    std::uint32_t crc = 0xFFFFFFFFU;
    for (const std::byte byte : bytes) crc = table[(crc ^ static_cast<std::uint32_t>(byte)) & 0xFFU] ^ (crc >> 8U);
    return crc ^ 0xFFFFFFFFU;
}

}  // namespace joulecast
