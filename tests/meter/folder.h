#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace joulecast::testing {

/// A fresh folder to stand for "/" or to hold a test's files; removed at the end.
class Folder {
  public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "joulecast-meter-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = name;
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    const std::filesystem::path& path() const { return path_; }

    /// Writes a file below it, its folders too.
    std::filesystem::path put(const std::string& file, const std::string& text) const {
        const auto path = path_ / file;
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
        std::ifstream text(path_ / file, std::ios::binary);
        return {std::istreambuf_iterator<char>(text), {}};
    }

  private:
    std::filesystem::path path_;
};

}  // namespace joulecast::testing
