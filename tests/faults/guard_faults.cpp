// What goes wrong in a guard of the clocks under test: linked, with --wrap for the calls, into a second
// joulecast-clockd, which JOULECAST_FAULT steers:
//
//     allocation 17 [lasts]                  that allocation fails, counted from the start, or it and all after it
//     call 3 fails|lasts|dies|halves|fills   that call on its state files fails, or it and all after it; or the guard
//     is
//                                            killed before it; or half of what it writes is written, and then the guard
//                                            is killed or all after it fails
//
// The file that JOULECAST_FAULT_REPORT names gets "start" at its start and, unless it dies, "end ALLOCATIONS CALLS".
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "tests/faults/countdown.h"
#include "tests/faults/failing_allocation.h"

// Names that the linker's --wrap wants.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
int __real_open(const char* path, int flags, ...);
ssize_t __real_write(int file, const void* bytes, size_t count);
int __real_fsync(int file);
int __real_rename(const char* from, const char* to);
int __real_unlink(const char* path);
}

namespace {

using joulecast::testing::Countdown;
using joulecast::testing::FailingAllocation;

constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

enum class Way { fails, dies, halves, fills };

/// The calls on state files, and which of them goes wrong.
class FileCalls {
  public:
    void start(std::int64_t nth, const char* way) {
        const auto is = [way](const char* word) { return std::strcmp(way, word) == 0; };
        way_ = is("dies") ? Way::dies : is("halves") ? Way::halves : is("fills") ? Way::fills : Way::fails;
        countdown_.start(nth, is("lasts") || is("fills"));
    }
    std::int64_t asked() const { return countdown_.asked(); }

    /// Whether a call fails; how many bytes of a write come to the disk before it does.
    bool fails(std::size_t& bytes_before) {
        if (!countdown_.fails()) return false;
        if (way_ == Way::dies) ::raise(SIGKILL);
        const bool is_first = !std::exchange(has_failed_, true);
        bytes_before = is_first && way_ != Way::fails ? bytes_before / 2 : 0;
        errno = ENOSPC;
        return true;
    }
    bool dies_after() const { return way_ == Way::halves; }

  private:
    Countdown countdown_;
    Way way_ = Way::fails;
    bool has_failed_ = false;
};

constinit FileCalls calls;

bool fails() {
    std::size_t no_bytes = 0;
    if (!calls.fails(no_bytes)) return false;
    if (calls.dies_after()) ::raise(SIGKILL);
    return true;
}

void report(const char* line) {
    const char* path = std::getenv("JOULECAST_FAULT_REPORT");
    if (path == nullptr) return;
    const int file = __real_open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || __real_write(file, line, std::strlen(line)) < 0) ::abort();
    ::close(file);
}

/// From before main() until after it.
class Fault {
  public:
    Fault() {
        char kind[16] = "";
        char way[16] = "";
        long nth = 0;
        const char* asked = std::getenv("JOULECAST_FAULT");
        if (asked != nullptr) std::sscanf(asked, "%15s %ld %15s", kind, &nth, way);
        report("start\n");
        const bool is_call = std::strcmp(kind, "call") == 0;
        const bool is_allocation = std::strcmp(kind, "allocation") == 0;
        calls.start(is_call ? nth : none, way);
        allocations_.emplace(is_allocation ? nth : none, std::strcmp(way, "lasts") == 0);
    }
    ~Fault() {
        char line[64];
        std::snprintf(line, sizeof line, "end %ld %ld\n", static_cast<long>(allocations_->asked()),
                      static_cast<long>(calls.asked()));
        allocations_.reset();
        report(line);
    }
    Fault(const Fault&) = delete;
    Fault& operator=(const Fault&) = delete;

  private:
    std::optional<FailingAllocation> allocations_;
};

const Fault fault;

}  // namespace

extern "C" {

int __wrap_open(const char* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const auto mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : mode_t{0};
    va_end(rest);
    return fails() ? -1 : __real_open(path, flags, mode);
}

ssize_t __wrap_write(int file, const void* bytes, size_t count) {
    std::size_t before = count;
    if (!calls.fails(before)) return __real_write(file, bytes, count);
    if (before == 0) return -1;
    const ssize_t written = __real_write(file, bytes, before);
    if (calls.dies_after()) ::raise(SIGKILL);
    errno = 0;  // a part that was written says nothing of why the rest was not
    return written;
}

int __wrap_fsync(int file) {
    return fails() ? -1 : __real_fsync(file);
}

int __wrap_rename(const char* from, const char* to) {
    return fails() ? -1 : __real_rename(from, to);
}

int __wrap_unlink(const char* path) {
    return fails() ? -1 : __real_unlink(path);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
