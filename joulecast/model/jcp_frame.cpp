#include "joulecast/model/jcp_frame.h"

#include <array>
#include <cstring>

#include "joulecast/error.h"
#include "joulecast/model/jcp.h"

namespace joulecast {
namespace {

// As in PNG: a byte above 127, a name, and line ends that a text transfer would spoil.
constexpr std::array<unsigned char, 8> magic{0x89, 'J', 'C', 'P', '\r', '\n', 0x1A, '\n'};

}  // namespace

std::vector<std::byte> JcpWriter::file() const {
    ByteWriter out;
    out.raw(std::as_bytes(std::span(magic)));
    out.number(jcp_version);
    out.number(count_);
    out.raw(body_.bytes());
    return out.bytes();
}

void JcpWriter::append(std::string_view tag, std::span<const std::byte> payload) {
    body_.raw(std::as_bytes(std::span(tag)));
    body_.number(static_cast<std::uint64_t>(payload.size()));
    body_.number(checksum(payload));
    body_.raw(payload);
    ++count_;
}

std::vector<JcpSection> jcp_sections(std::span<const std::byte> bytes, const std::string& name) {
    ByteReader in(bytes, "predictor " + name);
    if (bytes.size() < magic.size() || std::memcmp(bytes.data(), magic.data(), magic.size()) != 0) {
        throw FormatError(name + " is not a predictor: it does not begin as .jcp files do.");
    }
    in.take(magic.size());
    const auto version = in.number<std::uint32_t>();
    if (version == 0) in.fail("version 0 does not exist");
    if (version > jcp_version) {
        throw FormatError("predictor " + name + " has format version " + std::to_string(version) +
                          ", this joulecast reads up to " + std::to_string(jcp_version) + ". Use a newer joulecast.");
    }
    const auto count = in.number<std::uint32_t>();
    std::vector<JcpSection> sections;
    for (std::uint32_t i = 0; i < count; ++i) {
        JcpSection& section = sections.emplace_back();
        section.tag = {reinterpret_cast<const char*>(in.take(4).data()), 4};
        const auto length = in.number<std::uint64_t>();
        section.crc = in.number<std::uint32_t>();
        section.payload = in.take(length);
        section.version = version;
    }
    if (!in.at_end()) in.fail("bytes follow the last section");
    return sections;
}

ByteReader checked_payload(const JcpSection& section, const std::string& name) {
    ByteReader in(section.payload, "predictor " + name);
    if (checksum(section.payload) != section.crc) in.fail("the checksum of a section does not match");
    return in;
}

}  // namespace joulecast
