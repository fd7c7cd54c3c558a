#include "joulecast/model/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "joulecast/error.h"

namespace joulecast {
namespace {

/// Closes what was opened, whatever is thrown in between.
class OpenFile {
  public:
    explicit OpenFile(const std::filesystem::path& path) : number_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    ~OpenFile() {
        if (number_ >= 0) close(number_);
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;

    int number() const { return number_; }

  private:
    int number_;
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path, std::string_view what, std::size_t largest) {
    const std::string name = std::string(what) + " " + path.string();
    const auto fail = [&] { throw Error("cannot read " + name + ": " + std::generic_category().message(errno) + "."); };
    const OpenFile file(path);
    struct stat status{};
    if (file.number() < 0 || fstat(file.number(), &status) != 0) fail();
    if (!S_ISREG(status.st_mode)) throw Error("cannot read " + name + ": it is not a plain file.");
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size > largest) {
        throw FormatError(name + " is larger than " + std::to_string(largest >> 20U) + " MiB.");
    }
    if (size == 0) return;
    // Populate: one call of the system instead of a fault for every page.
    void* mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.number(), 0);
    if (mapped == MAP_FAILED) fail();
    bytes_ = {static_cast<const std::byte*>(mapped), size};
}

MappedFile::~MappedFile() {
    if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace joulecast
