#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "joulecast/graph/integers.h"

/// Protocol buffers as they lie in the file, read by position: what is not wanted (weights) is never read. Written
/// here, without a library, since generated classes keep every byte and know only the fields of their own version.
namespace joulecast::onnx {

/// A file or a piece of memory, read through a small window.
class Source {
  public:
    /// Throws FormatError naming the file when it cannot be opened.
    explicit Source(const std::filesystem::path& path);
    /// The bytes must outlive the Source.
    Source(std::span<const std::byte> bytes, std::string name);
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;
    ~Source();

    const std::string& name() const { return name_; }
    std::uint64_t size() const { return size_; }
    /// The byte at `offset`, which must be less than size().
    std::uint8_t at(std::uint64_t offset);
    /// Throws FormatError when the range is not inside of the source.
    std::string read(std::uint64_t offset, std::uint64_t length);

  private:
    struct File;
    void fill(std::uint64_t offset);

    std::string name_;
    std::uint64_t size_ = 0;
    std::unique_ptr<File> file_;
    std::vector<std::byte> buffer_;
    /// What at() answers from: all of the memory, or a window of the file that begins at window_start_.
    std::span<const std::byte> window_;
    std::uint64_t window_start_ = 0;
};

struct Range {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
};

/// The double that reads as the float prints: 1e-5 where the file has 9.99999974e-06, as everybody wrote it.
double decimal_of(float number);

/// Strings longer than this are no names.
inline constexpr std::uint64_t longest_text = std::uint64_t{1} << 20U;

/// The fields of one message, one after the other:
///     for (Fields fields(source, range); fields.next();) switch (fields.number()) { case 1: ... fields.text() ...
/// Payloads are skipped unless asked for. All throw FormatError for what is cut off, too long or of another wire type.
class Fields {
  public:
    Fields(Source& source, Range range);

    bool next();
    /// Number of the current field.
    std::uint32_t number() const { return number_; }

    std::int64_t integer() const;
    double real() const;
    /// Length-delimited: where it lies, its bytes, or its fields.
    Range payload() const;
    /// UTF-8 without NUL, at most longest_text bytes.
    std::string text() const;
    Fields message() const;
    bool is_packed() const { return wire_ == Wire::delimited; }
    /// Appends the integers or reals (of 4 or 8 bytes each) of a repeated field, packed or not; more than `most` are
    /// refused.
    void append_integers(Integers& list, std::size_t most) const;
    void append_reals(std::vector<double>& list, std::size_t most) const;

  private:
    enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, delimited = 2, fixed32 = 5 };

    [[noreturn]] void fail(const std::string& what) const;
    void expect(Wire wire) const;
    std::uint64_t varint(std::uint64_t& at, std::uint64_t end) const;
    std::uint64_t fixed(std::uint64_t at, std::uint64_t bytes) const;

    Source* source_;
    std::uint64_t at_ = 0;
    std::uint64_t end_ = 0;
    std::uint32_t number_ = 0;
    Wire wire_ = Wire::varint;
    /// The integer, or the bits of a real.
    std::uint64_t value_ = 0;
    Range payload_;
};

}  // namespace joulecast::onnx
