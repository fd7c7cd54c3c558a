#include "joulecast/dataset/measuring_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <system_error>
#include <thread>

#include "joulecast/error.h"

namespace joulecast {

bool MeasuringLock::try_lock() {
    const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        throw Error("cannot write lock file '" + path_.string() + "': " + std::generic_category().message(errno) +
                    ". Give --db a file in a folder that can be written.");
    struct stat opened{}, named{};
    // The holder before us may have removed the file between our open and our lock: then the lock guards nothing.
    const bool locked = ::flock(file, LOCK_EX | LOCK_NB) == 0 && ::fstat(file, &opened) == 0 &&
                        ::stat(path_.c_str(), &named) == 0 && opened.st_ino == named.st_ino;
    if (!locked) {
        ::close(file);
        return false;
    }
    file_ = file;
    const std::string self = std::to_string(::getpid()) + "\n";
    // Only for the message of those who wait: when it cannot be written they name no holder.
    if (::ftruncate(file_, 0) == 0 && ::write(file_, self.data(), self.size()) < 0) return true;
    return true;
}

MeasuringLock::MeasuringLock(const std::filesystem::path& database, const std::string& device,
                             const std::function<void(const std::string& holder)>& waiting,
                             const std::function<bool()>& give_up)
    : path_(database.string() + "-measuring-" + device) {
    bool told = false;
    while (!try_lock()) {
        if (!told) {
            std::string holder;
            std::ifstream(path_) >> holder;
            waiting(holder.empty() ? "unknown" : holder);
            told = true;
        }
        if (give_up()) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

MeasuringLock::~MeasuringLock() {
    if (file_ < 0) return;
    ::unlink(path_.c_str());
    ::close(file_);
}

}  // namespace joulecast
