#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace joulecast {

/// A file as it lies in the system's cache, without a copy of it. Only for files that are replaced as a whole, by a
/// rename, as write_jcp() does: one that is cut short in place while it is mapped ends the program.
class MappedFile {
  public:
    /// `what` is how messages call it: "predictor". Throws Error where the file cannot be read or is no plain file,
    /// FormatError where it is larger than `largest` bytes.
    MappedFile(const std::filesystem::path& path, std::string_view what, std::size_t largest);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    std::span<const std::byte> bytes() const { return bytes_; }

  private:
    std::span<const std::byte> bytes_;
};

}  // namespace joulecast
