#include "cli/wheel.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cli/sha256.h"
#include "joulecast/model/bytes.h"

namespace joulecast::cli {

namespace {

/// RFC 4648, for URLs, without padding: as RECORD has it.
std::string base64(const std::array<std::uint8_t, 32>& bytes) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::string text;
    std::uint32_t held = 0;
    int bits = 0;
    for (const std::uint8_t byte : bytes) {
        held = held << 8 | byte;
        for (bits += 8; bits >= 6; bits -= 6) text += digits[held >> (bits - 6) & 63];
    }
    if (bits > 0) text += digits[held << (6 - bits) & 63];
    return text;
}

class Zip {
  public:
    void add(const WheelFile& file) {
        constexpr std::uint32_t regular = 0100000;
        const std::uint32_t mode = regular | (file.is_program ? 0755 : 0644);
        const std::size_t begin = bytes_.size();
        const auto what = [&](std::string& to) {
            put(to, 20, 2);  // needs version 2.0
            put(to, 0, 2);
            put(to, 0, 2);       // stored as it is
            put(to, 0, 2);       // midnight
            put(to, 0x5a21, 2);  // of 2025-01-01: the same wheel has the same bytes
            put(to, checksum(std::as_bytes(std::span(file.content))), 4);
            put(to, file.content.size(), 4);
            put(to, file.content.size(), 4);
            put(to, file.path.size(), 2);
            put(to, 0, 2);
        };
        bytes_ += "PK\x03\x04";
        what(bytes_);
        bytes_ += file.path + file.content;
        directory_ += "PK\x01\x02";
        put(directory_, 3 << 8 | 20, 2);  // made on Unix: the mode is one of Unix
        what(directory_);
        for (int field = 0; field < 3; ++field) put(directory_, 0, 2);
        put(directory_, mode << 16, 4);
        put(directory_, begin, 4);
        directory_ += file.path;
        ++files_;
    }

    std::string finished() && {
        const std::size_t begin = bytes_.size();
        bytes_ += directory_ + std::string("PK\x05\x06\0\0\0\0", 8);
        put(bytes_, files_, 2);
        put(bytes_, files_, 2);
        put(bytes_, directory_.size(), 4);
        put(bytes_, begin, 4);
        put(bytes_, 0, 2);
        return std::move(bytes_);
    }

  private:
    /// Little endian.
    static void put(std::string& to, std::uint64_t value, int count) {
        for (int i = 0; i < count; ++i) to += static_cast<char>(value >> 8 * i & 0xff);
    }

    std::string bytes_;
    std::string directory_;
    std::size_t files_ = 0;
};

std::string metadata(const Wheel& wheel) {
    std::string text = "Metadata-Version: 2.1\nName: " + wheel.name + "\nVersion: " + wheel.version +
                       "\nSummary: " + wheel.summary + "\nLicense: Apache-2.0\nRequires-Python: " + wheel.python + "\n";
    for (const std::string& need : wheel.needs) text += "Requires-Dist: " + need + "\n";
    return text;
}

std::string tag(const Wheel& wheel) {
    return "py3-none-" + wheel.platform;
}

}  // namespace

std::string file_name(const Wheel& wheel) {
    return wheel.name + "-" + wheel.version + "-" + tag(wheel) + ".whl";
}

std::string wheel_bytes(const Wheel& wheel) {
    const std::string folder = wheel.name + "-" + wheel.version + ".dist-info/";
    std::vector<WheelFile> files = wheel.files;
    std::string programs = "[console_scripts]\n";
    for (const std::string& program : wheel.programs) programs += program + "\n";
    files.push_back({folder + "METADATA", metadata(wheel)});
    files.push_back({folder + "WHEEL",
                     "Wheel-Version: 1.0\nGenerator: joulecast\nRoot-Is-Purelib: false\nTag: " + tag(wheel) + "\n"});
    files.push_back({folder + "entry_points.txt", programs});
    std::string record;
    Zip zip;
    for (const WheelFile& file : files) {
        record +=
            file.path + ",sha256=" + base64(sha256(file.content)) + "," + std::to_string(file.content.size()) + "\n";
        zip.add(file);
    }
    zip.add({folder + "RECORD", record + folder + "RECORD,,\n"});
    return std::move(zip).finished();
}

}  // namespace joulecast::cli
