#include "joulecast/graph/readers/onnx_wire.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <fstream>

#include "joulecast/error.h"

namespace joulecast::onnx {

namespace {

/// Small, since a seek over weights throws it away: a network has a thousand of them.
constexpr std::uint64_t window_bytes = std::uint64_t{16} << 10U;

/// Well-formed UTF-8 without NUL: the texts go into JSON and onto terminals.
bool is_plain(const std::string& text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<std::uint8_t>(text[i]);
        if (lead == 0) return false;
        const std::size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
        if (lead >= 0x80 && (lead < 0xC2 || lead > 0xF4)) return false;
        if (i + length > text.size()) return false;
        for (std::size_t k = 1; k < length; ++k) {
            const auto next = static_cast<std::uint8_t>(text[i + k]);
            if (next < 0x80 || next > 0xBF) return false;
        }
        // Overlong forms, surrogates and what lies beyond U+10FFFF.
        const auto second = length > 1 ? static_cast<std::uint8_t>(text[i + 1]) : std::uint8_t{0x80};
        if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) || (lead == 0xF0 && second < 0x90) ||
            (lead == 0xF4 && second > 0x8F))
            return false;
        i += length;
    }
    return true;
}

}  // namespace

struct Source::File {
    std::ifstream stream;
};

Source::Source(const std::filesystem::path& path) : name_(path.string()), file_(std::make_unique<File>()) {
    std::error_code problem;
    const auto status = std::filesystem::status(path, problem);
    if (!std::filesystem::exists(status)) throw FormatError("cannot read " + name_ + ": there is no such file");
    if (!std::filesystem::is_regular_file(status)) throw FormatError("cannot read " + name_ + ": it is not a file");
    size_ = std::filesystem::file_size(path, problem);
    if (problem) throw FormatError("cannot read " + name_ + ": " + problem.message());
    // The window is ours; a second buffer would read beyond it at every seek.
    file_->stream.rdbuf()->pubsetbuf(nullptr, 0);
    file_->stream.open(path, std::ios::binary);
    if (!file_->stream) throw FormatError("cannot read " + name_ + ": it cannot be opened");
}

Source::Source(std::span<const std::byte> bytes, std::string name)
    : name_(std::move(name)), size_(bytes.size()), window_(bytes) {}

Source::~Source() = default;

void Source::fill(std::uint64_t offset) {
    buffer_.resize(std::min(window_bytes, size_ - offset));
    window_ = {};
    file_->stream.seekg(static_cast<std::streamoff>(offset));
    file_->stream.read(reinterpret_cast<char*>(buffer_.data()), static_cast<std::streamsize>(buffer_.size()));
    if (!file_->stream) throw FormatError("it ended while it was read; is it still being written?");
    window_ = buffer_;
    window_start_ = offset;
}

std::uint8_t Source::at(std::uint64_t offset) {
    if (offset < window_start_ || offset - window_start_ >= window_.size()) {
        if (offset >= size_ || file_ == nullptr) throw FormatError("it is cut off");
        fill(offset);
    }
    return static_cast<std::uint8_t>(window_[offset - window_start_]);
}

std::string Source::read(std::uint64_t offset, std::uint64_t length) {
    if (offset > size_ || length > size_ - offset) throw FormatError("it is cut off");
    std::string bytes;
    bytes.reserve(length);
    while (bytes.size() < length) {
        at(offset + bytes.size());
        const std::uint64_t start = offset + bytes.size() - window_start_;
        const std::uint64_t count = std::min<std::uint64_t>(length - bytes.size(), window_.size() - start);
        bytes.append(reinterpret_cast<const char*>(window_.data()) + start, count);
    }
    return bytes;
}

Fields::Fields(Source& source, Range range) : source_(&source), at_(range.offset), end_(range.offset + range.length) {}

void Fields::fail(const std::string& what) const {
    throw FormatError("it is not an ONNX model, or damaged: at byte " + std::to_string(at_) + " " + what +
                      ". Copy or export the file again");
}

std::uint64_t Fields::varint(std::uint64_t& at, std::uint64_t end) const {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (at >= end) fail("a number is cut off");
        const std::uint8_t byte = source_->at(at++);
        value |= std::uint64_t{byte & 0x7FU} << shift;
        if (byte < 0x80) return value;
    }
    fail("a number has more than 64 bits");
}

std::uint64_t Fields::fixed(std::uint64_t at, std::uint64_t bytes) const {
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < bytes; ++i) value |= std::uint64_t{source_->at(at + i)} << (8 * i);
    return value;
}

bool Fields::next() {
    if (at_ == end_) return false;
    constexpr std::uint64_t largest_tag = 0xFFFFFFFF;
    const std::uint64_t tag = varint(at_, end_);
    if (tag > largest_tag || tag < 8) fail("there is no field");
    number_ = static_cast<std::uint32_t>(tag >> 3U);
    const auto wire = tag & 7U;
    if (wire == 3 || wire == 4 || wire > 5) fail("a field has an unknown form");
    wire_ = static_cast<Wire>(wire);
    if (wire_ == Wire::varint) {
        value_ = varint(at_, end_);
        return true;
    }
    std::uint64_t length = wire_ == Wire::fixed64 ? 8 : 4;
    if (wire_ == Wire::delimited) length = varint(at_, end_);
    if (length > end_ - at_) fail("a field is longer than what holds it");
    if (wire_ != Wire::delimited) value_ = fixed(at_, length);
    payload_ = {at_, length};
    at_ += length;
    return true;
}

void Fields::expect(Wire wire) const {
    if (wire_ != wire) fail("field " + std::to_string(number_) + " is of another form");
}

std::int64_t Fields::integer() const {
    expect(Wire::varint);
    return static_cast<std::int64_t>(value_);
}

double decimal_of(float number) {
    if (!std::isfinite(number)) return static_cast<double>(number);
    constexpr std::size_t longest = 32;
    std::array<char, longest> text;
    const auto written = std::to_chars(text.data(), text.data() + text.size(), number);
    double decimal = 0.0;
    std::from_chars(text.data(), written.ptr, decimal);
    return decimal;
}

namespace {

double real_of(std::uint64_t bits, std::uint64_t bytes) {
    if (bytes == 8) return std::bit_cast<double>(bits);
    return decimal_of(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
}

}  // namespace

double Fields::real() const {
    if (wire_ != Wire::fixed64) expect(Wire::fixed32);
    return real_of(value_, payload_.length);
}

Range Fields::payload() const {
    expect(Wire::delimited);
    return payload_;
}

std::string Fields::text() const {
    expect(Wire::delimited);
    if (payload_.length > longest_text) fail("a name is longer than 1 MB");
    std::string text = source_->read(payload_.offset, payload_.length);
    if (!is_plain(text)) fail("a name is not UTF-8, or holds a NUL byte");
    return text;
}

Fields Fields::message() const {
    expect(Wire::delimited);
    return {*source_, payload_};
}

void Fields::append_integers(Integers& list, std::size_t most) const {
    const auto append = [&](std::uint64_t value) {
        if (list.size() >= most) fail("a list has more than " + std::to_string(most) + " items");
        list.push_back(static_cast<std::int64_t>(value));
    };
    if (!is_packed()) return append(static_cast<std::uint64_t>(integer()));
    const std::uint64_t end = payload_.offset + payload_.length;
    for (std::uint64_t at = payload_.offset; at < end;) append(varint(at, end));
}

void Fields::append_reals(std::vector<double>& list, std::size_t most) const {
    const auto append = [&](double value) {
        if (list.size() >= most) fail("a list has more than " + std::to_string(most) + " items");
        list.push_back(value);
    };
    if (!is_packed()) return append(real());
    // Only repeated floats are read this way; doubles stand in tensors, which know their element size.
    constexpr std::uint64_t bytes = 4;
    if (payload_.length % bytes != 0) fail("a list of floats is cut off");
    for (std::uint64_t at = 0; at < payload_.length; at += bytes)
        append(real_of(fixed(payload_.offset + at, bytes), bytes));
}

}  // namespace joulecast::onnx
