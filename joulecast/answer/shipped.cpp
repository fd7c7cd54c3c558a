// Where zoo, predictors and workers lie.
#include "joulecast/answer/shipped.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include "joulecast/error.h"
#include "joulecast/process/shell_word.h"

namespace joulecast {
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

/// Of the library that this is in, as it was loaded; empty where nobody can tell.
std::filesystem::path folder_of_this_library() {
    Dl_info found{};
    if (::dladdr(reinterpret_cast<const void*>(&told_folder), &found) == 0 || found.dli_fname == nullptr) return {};
    std::error_code error;
    return std::filesystem::weakly_canonical(found.dli_fname, error).parent_path();
}

/// share/joulecast of the program's installation; for another program that links the library, of the library's.
std::filesystem::path installed_folder() {
    // <prefix>/bin/joulecast -> <prefix>/share/joulecast; the build tree has links at the same place.
    const auto beside = std::filesystem::path("share") / "joulecast";
    auto of_program = folder_of_this_program().parent_path() / beside;
    std::error_code none;
    if (std::filesystem::exists(of_program, none)) return of_program;
    // <prefix>/lib/libjoulecast.so, <prefix>/lib/x86_64-linux-gnu/libjoulecast.so, or build/libjoulecast.so
    auto folder = folder_of_this_library();
    for (int up = 0; up < 3 && !folder.empty(); ++up, folder = folder.parent_path()) {
        if (std::filesystem::exists(folder / beside, none)) return folder / beside;
    }
    return of_program;
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
    return (installed_folder() / name).string();
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

}  // namespace joulecast
