#include "joulecast/units/replaced_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <string>

namespace joulecast {

namespace {

/// 0, or the errno of what went wrong.
int write_all(FileCalls& calls, int file, std::string_view content) {
    while (!content.empty()) {
        const std::ptrdiff_t written = calls.write(file, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        if (written == 0) return EIO;
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return calls.sync(file) == 0 ? 0 : errno;
}

std::string unpredictable_name(const std::string& name) {
    std::random_device random;
    static constexpr std::string_view letters = "0123456789abcdefghijklmnopqrstuv";
    std::string result = "." + name.substr(0, 200) + ".";
    for (int i = 0; i < 16; ++i) result += letters[random() % letters.size()];
    return result;
}

/// The name survives a loss of power once the folder is written. Some file systems cannot do that to a folder.
int sync_folder(FileCalls& calls, const std::filesystem::path& folder) {
    const int opened = calls.open_folder(folder);
    if (opened < 0) return 0;
    const int code = calls.sync(opened) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
    calls.close(opened);
    return code;
}

}  // namespace

int FileCalls::create(const std::filesystem::path& path) {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

int FileCalls::open_folder(const std::filesystem::path& path) {
    return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

std::ptrdiff_t FileCalls::write(int file, const char* bytes, std::size_t count) {
    return ::write(file, bytes, count);
}

int FileCalls::sync(int file) {
    return ::fsync(file);
}

int FileCalls::close(int file) {
    return ::close(file);
}

int FileCalls::rename(const std::filesystem::path& from, const std::filesystem::path& to) {
    return std::rename(from.c_str(), to.c_str());
}

int FileCalls::remove(const std::filesystem::path& path) {
    return ::unlink(path.c_str());
}

int replace_file(const std::filesystem::path& path, std::string_view content) {
    FileCalls calls;
    return replace_file(path, content, calls);
}

int replace_file(const std::filesystem::path& path, std::string_view content, FileCalls& calls) {
    namespace fs = std::filesystem;
    std::error_code failure;
    const fs::path target = fs::exists(path, failure) ? fs::canonical(path, failure) : path;
    if (failure) return failure.value();
    const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
    fs::path part;
    int file = -1;
    constexpr int most_tries = 100;
    for (int tries = 0; file < 0 && tries < most_tries; ++tries) {
        part = folder / unpredictable_name(target.filename().string());
        file = calls.create(part);
        if (file < 0 && errno != EEXIST && errno != EINTR) return errno;
    }
    if (file < 0) return EEXIST;
    int code = write_all(calls, file, content);
    // Some file systems (NFS, quotas) report a full disk only when closing.
    if (calls.close(file) != 0 && code == 0) code = errno;
    if (code == 0 && calls.rename(part, target) != 0) code = errno;
    if (code != 0) {
        calls.remove(part);
        return code;
    }
    return sync_folder(calls, folder);
}

}  // namespace joulecast
