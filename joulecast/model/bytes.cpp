#include "joulecast/model/bytes.h"

#include <zlib.h>

#include "joulecast/error.h"

namespace joulecast {
namespace {

constexpr std::size_t longest_text = 1U << 20U;

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

std::uint32_t checksum(std::span<const std::byte> bytes) {
    return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace joulecast
