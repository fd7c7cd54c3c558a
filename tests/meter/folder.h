#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "joulecast/units/scratch_folder.h"

namespace joulecast::testing {

/// A fresh folder to stand for "/" or to hold a test's files; removed at the end.
class Folder {
  public:
    const std::filesystem::path& path() const { return folder_.path(); }

    /// Writes a file below it, its folders too.
    std::filesystem::path put(const std::string& file, const std::string& text) const {
        const auto path = folder_.path() / file;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }
    /// A program of /bin/sh.
    std::filesystem::path put_script(const std::string& file, const std::string& text) const {
        const auto path = put(file, "#!/bin/sh\n" + text);
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        return path;
    }
    std::string read(const std::string& file) const {
        std::ifstream text(path() / file, std::ios::binary);
        return {std::istreambuf_iterator<char>(text), {}};
    }

  private:
    ScratchFolder folder_{"joulecast-meter"};
};

}  // namespace joulecast::testing
