#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include "cli/ask.h"
#include "cli/verb.h"
#include "joulecast/error.h"
#include "joulecast/process/shell_word.h"

namespace joulecast::cli {
namespace {

std::filesystem::path folder_of_this_program() {
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) {
        throw Error("cannot find the folder of this program: " + error.message() +
                    ". Set JOULECAST_HOME to the folder that holds zoo/ and predictors/");
    }
    return program.parent_path();
}

std::filesystem::path& told_folder() {
    static std::filesystem::path folder;
    return folder;
}

}  // namespace

void ship_from(const std::filesystem::path& folder) {
    told_folder() = folder;
}

std::string shipped_folder(const std::string& name) {
    if (const char* home = std::getenv("JOULECAST_HOME"); home != nullptr && *home != '\0') {
        return (std::filesystem::path(home) / name).string();
    }
    if (!told_folder().empty()) return (told_folder() / name).string();
    // <prefix>/bin/joulecast -> <prefix>/share/joulecast/<name>; the build tree has links at the same place.
    return (folder_of_this_program().parent_path() / "share" / "joulecast" / name).string();
}

bool is_on_path(const std::string& program) {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (::access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
    }
    return false;
}

std::string beside_this_program(const std::string& program) {
    const auto neighbour = folder_of_this_program() / program;
    return ::access(neighbour.c_str(), X_OK) == 0 ? neighbour.string() : "";
}

std::string default_worker(Host host) {
    std::string program = host == Host::python ? "joulecast-python" : "joulecast-torch";
    if (const std::string neighbour = beside_this_program(program); !neighbour.empty()) return shell_word(neighbour);
    if (host == Host::python && !is_on_path(program)) {
        throw Error(
            "no joulecast-python beside this program or on the PATH. It is built with -DJOULECAST_TORCH=... where "
            "that Python has its headers (Debian: apt-get install python3-dev); or give --worker.");
    }
    return program;
}

}  // namespace joulecast::cli
