#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace joulecast {

/// What replace_file asks of the system, each as its namesake there: -1 and errno where it fails. Tests let each fail,
/// and lose power after each.
class FileCalls {
  public:
    virtual ~FileCalls() = default;

    /// A file that nobody else has made, to be written.
    virtual int create(const std::filesystem::path& path);
    virtual int open_folder(const std::filesystem::path& path);
    virtual std::ptrdiff_t write(int file, const char* bytes, std::size_t count);
    virtual int sync(int file);
    virtual int close(int file);
    virtual int rename(const std::filesystem::path& from, const std::filesystem::path& to);
    virtual int remove(const std::filesystem::path& path);
};

/// The file has this content afterwards, or what it had before: also when the machine loses power meanwhile. A link
/// keeps pointing where it does; nobody's planted link or file is written through. Returns 0, or the errno of what went
/// wrong. Permissions are those of a new file.
int replace_file(const std::filesystem::path& path, std::string_view content);
int replace_file(const std::filesystem::path& path, std::string_view content, FileCalls& calls);

}  // namespace joulecast
