#include "joulecast/dataset/unpack.h"

#include <zlib.h>

#include <array>

#include "joulecast/error.h"

namespace joulecast {
namespace {

constexpr std::size_t chunk_bytes = 65536;
/// zlib's way to ask for a gzip header and the largest window.
constexpr int gzip_window = 15 + 16;

[[noreturn]] void fail(const std::string& name, const std::string& what) {
    throw FormatError("cannot unpack '" + name + "': " + what + ".");
}

class Inflater {
  public:
    Inflater(std::string name, const UnpackLimits& limits) : name_(std::move(name)), limits_(limits) {
        if (inflateInit2(&stream_, gzip_window) != Z_OK) fail(name_, "zlib does not start");
    }
    ~Inflater() { inflateEnd(&stream_); }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;

    void take(const char* packed, std::size_t size) {
        packed_bytes_ += size;
        // zlib reads through a pointer to non-const and does not write.
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed));
        stream_.avail_in = static_cast<uInt>(size);
        bool output_full = false;
        while (stream_.avail_in > 0 || output_full) output_full = step();
    }

    std::string finish() {
        if (is_inside_) fail(name_, "it is cut off. Fetch it again");
        return std::move(text_);
    }

  private:
    /// True when there may be more to come out without more going in.
    bool step() {
        if (!is_inside_) {
            inflateReset(&stream_);
            is_inside_ = true;
        }
        stream_.next_out = reinterpret_cast<Bytef*>(unpacked_.data());
        stream_.avail_out = static_cast<uInt>(unpacked_.size());
        const int status = inflate(&stream_, Z_NO_FLUSH);
        text_.append(unpacked_.data(), unpacked_.size() - stream_.avail_out);
        check_size();
        if (status == Z_STREAM_END) {
            is_inside_ = false;
            return false;
        }
        if (status != Z_OK && status != Z_BUF_ERROR)
            fail(name_, std::string("it is damaged (") +
                            (stream_.msg != nullptr ? stream_.msg : "zlib gives no reason") + "). Fetch it again");
        return stream_.avail_out == 0;
    }

    void check_size() const {
        if (text_.size() > limits_.most_bytes)
            fail(name_, "it holds more than " + std::to_string(limits_.most_bytes) + " bytes");
        const double allowed =
            static_cast<double>(limits_.free_bytes) + limits_.most_ratio * static_cast<double>(packed_bytes_);
        if (static_cast<double>(text_.size()) > allowed)
            fail(name_, "it unpacks to more than " + std::to_string(static_cast<int>(limits_.most_ratio)) +
                            " times its size, which no table does");
    }

    std::string name_;
    UnpackLimits limits_;
    z_stream stream_{};
    std::array<char, chunk_bytes> unpacked_{};
    std::string text_;
    std::size_t packed_bytes_ = 0;
    bool is_inside_ = true;  ///< of a member
};

bool is_gzip(const std::string& start) {
    return start.size() >= 2 && start[0] == '\x1f' && start[1] == '\x8b';
}

/// The next bytes of the stream, at most a chunk; empty at its end.
std::string next_chunk(std::istream& input) {
    std::string chunk(chunk_bytes, '\0');
    input.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    chunk.resize(static_cast<std::size_t>(input.gcount()));
    return chunk;
}

}  // namespace

std::string read_unpacked(std::istream& input, const std::string& name, const UnpackLimits& limits) {
    std::string chunk = next_chunk(input);
    if (is_gzip(chunk)) {
        Inflater inflater(name, limits);
        for (; !chunk.empty(); chunk = next_chunk(input)) inflater.take(chunk.data(), chunk.size());
        if (input.bad()) throw Error("cannot read all of '" + name + "'. Check the disk.");
        return inflater.finish();
    }
    std::string text;
    for (; !chunk.empty(); chunk = next_chunk(input)) {
        text += chunk;
        if (text.size() > limits.most_bytes)
            throw FormatError("'" + name + "' holds more than " + std::to_string(limits.most_bytes) + " bytes.");
    }
    if (input.bad()) throw Error("cannot read all of '" + name + "'. Check the disk.");
    return text;
}

}  // namespace joulecast
