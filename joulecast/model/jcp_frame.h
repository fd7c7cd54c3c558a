#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/model/bytes.h"

namespace joulecast {

// The frame of a predictor file: what tells it from other files, its version, and the sections that hold its content
// (docs/predictor-format.md).

class JcpWriter {
  public:
    /// `fill` writes the payload.
    template <class Fill>
    void section(std::string_view tag, Fill fill) {
        ByteWriter payload;
        fill(payload);
        append(tag, payload.bytes());
    }
    std::vector<std::byte> file() const;

  private:
    void append(std::string_view tag, std::span<const std::byte> payload);

    ByteWriter body_;
    std::uint32_t count_ = 0;
};

/// A view into the file.
struct JcpSection {
    std::string_view tag;
    std::span<const std::byte> payload;
    std::uint32_t crc = 0;
    std::uint32_t version = 0;  ///< of the file
};

/// Those of a file in their order, not yet checked. Throws FormatError for another kind of file, a newer version and
/// one that is cut short or too long; `name` is for the message.
std::vector<JcpSection> jcp_sections(std::span<const std::byte> bytes, const std::string& name);

/// Reads a payload; throws FormatError for one that its checksum does not fit.
ByteReader checked_payload(const JcpSection& section, const std::string& name);

}  // namespace joulecast
