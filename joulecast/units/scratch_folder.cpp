#include "joulecast/units/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "joulecast/error.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

fs::path made_in(const fs::path& parent, std::string_view name, const std::string& advice) {
    std::string path = (parent / (std::string(name) + "-XXXXXX")).string();
    if (::mkdtemp(path.data()) == nullptr)
        throw Error("cannot make a folder in " + parent.string() + ": " + std::generic_category().message(errno) +
                    advice);
    return path;
}

fs::path temporary() {
    std::error_code error;
    const fs::path folder = fs::temp_directory_path(error);
    if (error)
        throw Error("there is no folder for temporary files: " + error.message() +
                    ". Set TMPDIR to a folder that can be written.");
    return folder;
}

}  // namespace

ScratchFolder::ScratchFolder(std::string_view name)
    : path_(made_in(temporary(), name, ". Set TMPDIR to a folder that can be written.")) {}

ScratchFolder::ScratchFolder(std::string_view name, const fs::path& parent) : path_(made_in(parent, name, "")) {}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

}  // namespace joulecast
