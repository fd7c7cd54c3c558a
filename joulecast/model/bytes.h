#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace joulecast {

/// Appends little-endian numbers and length-prefixed text to a buffer.
class ByteWriter {
  public:
    template <std::unsigned_integral T>
    void number(T value) {
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            bytes_.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i)));
        }
    }
    void signed_number(std::int64_t value) { number(static_cast<std::uint64_t>(value)); }
    void real(double value) { number(std::bit_cast<std::uint64_t>(value)); }
    void real(float value) { number(std::bit_cast<std::uint32_t>(value)); }
    void text(std::string_view value);
    void raw(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }

    const std::vector<std::byte>& bytes() const { return bytes_; }

  private:
    std::vector<std::byte> bytes_;
};

/// The number that starts there.
template <std::unsigned_integral T>
T little_endian(const std::byte* from) {
    if constexpr (std::endian::native == std::endian::little) {
        T value;
        std::memcpy(&value, from, sizeof(T));  // of the loop compilers make a load for each byte
        return value;
    } else {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < sizeof(T); ++i) value |= static_cast<std::uint64_t>(from[i]) << (8 * i);
        return static_cast<T>(value);
    }
}

/// Reads them back; every read checks that the bytes are there and throws FormatError if not.
class ByteReader {
  public:
    ByteReader(std::span<const std::byte> bytes, std::string what) : bytes_(bytes), what_(std::move(what)) {}

    template <std::unsigned_integral T>
    T number() {
        return little_endian<T>(take(sizeof(T)).data());
    }
    std::int64_t signed_number() { return static_cast<std::int64_t>(number<std::uint64_t>()); }
    double real() { return std::bit_cast<double>(number<std::uint64_t>()); }
    float short_real() { return std::bit_cast<float>(number<std::uint32_t>()); }
    std::string text();
    std::span<const std::byte> take(std::uint64_t count);
    /// A count of items of at least `item_bytes` each: one that cannot fit is refused before anything is allocated.
    std::size_t count(std::size_t item_bytes);
    bool at_end() const { return bytes_.empty(); }
    std::size_t left() const { return bytes_.size(); }
    [[noreturn]] void fail(const std::string& why) const;

  private:
    std::span<const std::byte> bytes_;
    std::string what_;
};

/// CRC-32 of IEEE 802.3, as in zip and PNG.
std::uint32_t checksum(std::span<const std::byte> bytes);

}  // namespace joulecast
