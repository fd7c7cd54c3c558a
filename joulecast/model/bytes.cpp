#include "joulecast/model/bytes.h"

#include <array>

#include "joulecast/error.h"

namespace joulecast {
namespace {

constexpr std::size_t longest_text = 1U << 20U;

/// Bytes that one step of the checksum takes in.
constexpr std::size_t crc_stride = 16;
using CrcTables = std::array<std::array<std::uint32_t, 256>, crc_stride>;

/// Table k: what a byte with k bytes behind it does to the checksum ("slicing": Kounavis, Berry 2005).
constexpr CrcTables crc_tables() {
    CrcTables tables{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) value = (value >> 1U) ^ ((value & 1U) ? 0xEDB88320U : 0U);
        tables[0][i] = value;
    }
    for (std::size_t k = 1; k < crc_stride; ++k) {
        for (std::size_t i = 0; i < 256; ++i) {
            const std::uint32_t before = tables[k - 1][i];
            tables[k][i] = tables[0][before & 0xFFU] ^ (before >> 8U);
        }
    }
    return tables;
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
    throw FormatError(what_ + " is damaged: " + why + ". Get the file again, or train the predictor again.");
}

std::uint32_t crc32(std::span<const std::byte> bytes) {
    static constexpr CrcTables tables = crc_tables();
    std::uint32_t crc = 0xFFFFFFFFU;
    std::size_t at = 0;
    for (; bytes.size() - at >= crc_stride; at += crc_stride) {
        std::uint32_t next = 0;
        for (std::size_t k = 0; k < crc_stride; ++k) {
            // The first four bytes meet what is in the checksum already.
            const std::uint32_t carried = k < 4 ? (crc >> (8 * k)) & 0xFFU : 0U;
            next ^= tables[crc_stride - 1 - k][static_cast<std::uint32_t>(bytes[at + k]) ^ carried];
        }
        crc = next;
    }
    for (; at < bytes.size(); ++at) {
        crc = tables[0][(crc ^ static_cast<std::uint32_t>(bytes[at])) & 0xFFU] ^ (crc >> 8U);
    }
    return crc ^ 0xFFFFFFFFU;
}

}  // namespace joulecast
