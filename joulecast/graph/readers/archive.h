#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace joulecast {

/// A zip file opened for reading single entries: only the central directory and the entries asked for are read, so a
/// file with gigabytes of weights opens in milliseconds. Every failure is a FormatError naming the file.
class Archive {
  public:
    explicit Archive(const std::filesystem::path& path);
    /// The bytes must outlive the archive.
    Archive(std::span<const std::byte> bytes, std::string name);
    ~Archive();
    Archive(const Archive&) = delete;
    Archive& operator=(const Archive&) = delete;

    const std::string& name() const { return name_; }
    /// Names of all entries, in the order of the directory.
    const std::vector<std::string>& entries() const { return entries_; }
    /// The entry's bytes, unpacked and checksummed. `most` bounds what is unpacked, whatever size the entry declares.
    std::string read(std::size_t entry, std::size_t most) const;

  private:
    struct Zip;
    void list_entries();

    std::string name_;
    std::uint64_t archive_bytes_ = 0;
    std::unique_ptr<Zip> zip_;
    std::vector<std::string> entries_;
};

}  // namespace joulecast
