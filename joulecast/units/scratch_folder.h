#pragma once

#include <filesystem>
#include <string_view>

namespace joulecast {

/// A folder of a name that nobody else has, for its owner alone; gone with this object, with all that lies in it.
class ScratchFolder {
  public:
    /// "joulecast-fleet-x7Qp2c" where temporary files go. Throws Error, which says to set TMPDIR.
    explicit ScratchFolder(std::string_view name);
    /// The same in another folder. Throws Error.
    ScratchFolder(std::string_view name, const std::filesystem::path& parent);
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace joulecast
