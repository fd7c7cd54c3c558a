#include "joulecast/process/child_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "joulecast/error.h"
#include "joulecast/process/process_file.h"

namespace joulecast {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t error_tail_bytes = 4096;
constexpr long longest_unwatched_ms = 1000;

void close_if_open(int& file) {
    if (file >= 0) ::close(file);
    file = -1;
}

struct Pipe {
    int read = -1;
    int write = -1;

    Pipe() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
            throw Error(std::string("cannot start a process: no pipe left (") + std::strerror(errno) + ")");
        }
        read = ends[0];
        write = ends[1];
    }
    ~Pipe() {
        close_if_open(read);
        close_if_open(write);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
};

int take(int& file) {
    return std::exchange(file, -1);
}

/// In the child, between fork and exec: only what is safe in a copy of a process with threads.
[[noreturn]] void become(const char* command, const Pipe& in, const Pipe& out, const Pipe& error, pid_t parent) {
    ::setpgid(0, 0);
    // Even one that hangs and reads nothing must not outlive us.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    ::dup2(in.read, STDIN_FILENO);
    ::dup2(out.write, STDOUT_FILENO);
    ::dup2(error.write, STDERR_FILENO);
    ::signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
    ::_exit(127);
}

/// write() to a pipe whose reader is gone raises SIGPIPE in this thread; here it is only an error.
ssize_t write_quietly(int file, const char* data, std::size_t size) {
    sigset_t pipe_signal;
    sigset_t before;
    ::sigemptyset(&pipe_signal);
    ::sigaddset(&pipe_signal, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    const ssize_t count = ::write(file, data, size);
    const int error = errno;
    if (count < 0 && error == EPIPE && ::sigismember(&before, SIGPIPE) == 0) {
        const timespec at_once{};
        ::sigtimedwait(&pipe_signal, nullptr, &at_once);
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    return count;
}

std::string signal_text(int number) {
    return "signal " + std::to_string(number) + " (" + ::strsignal(number) + ")";
}

/// Appends what can be read now; false at the end of the stream.
bool read_available(int file, std::string& to) {
    std::array<char, 65536> chunk{};
    const ssize_t count = ::read(file, chunk.data(), chunk.size());
    if (count > 0) to.append(chunk.data(), static_cast<std::size_t>(count));
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace

ChildProcess::ChildProcess(const std::string& command, std::size_t max_line_bytes) : max_line_bytes_(max_line_bytes) {
    Pipe in;
    Pipe out;
    Pipe error;
    const pid_t parent = ::getpid();
    id_ = ::fork();
    if (id_ < 0) throw Error(std::string("cannot start a process: ") + std::strerror(errno));
    if (id_ == 0) become(command.c_str(), in, out, error, parent);
    ::setpgid(id_, id_);  // both sides, whoever comes first; an error means that the child already did
    input_ = take(in.write);
    output_ = take(out.read);
    errors_ = take(error.read);
    exit_ = file_of_process(id_);  // without one the process is asked for now and then
    for (const int file : {input_, output_, errors_}) ::fcntl(file, F_SETFL, O_NONBLOCK);
}

ChildProcess::~ChildProcess() {
    stop();
    close_if_open(output_);
    close_if_open(errors_);
    close_if_open(exit_);
}

void ChildProcess::drain_errors() {
    if (errors_ < 0) return;
    const std::size_t before = error_tail_.size();
    if (!read_available(errors_, error_tail_)) close_if_open(errors_);
    if (error_tail_.size() > before && error_tail_.size() > error_tail_bytes) {
        error_tail_.erase(0, error_tail_.size() - error_tail_bytes);
    }
}

bool ChildProcess::take_line(Reply& reply) {
    const auto end = pending_.find('\n');
    if (end == std::string::npos && pending_.size() <= max_line_bytes_) return false;
    reply.ending = end == std::string::npos || end > max_line_bytes_ ? Ending::too_long : Ending::line;
    reply.line = pending_.substr(0, std::min(end, max_line_bytes_));
    pending_.erase(0, end == std::string::npos ? end : end + 1);
    return true;
}

/// One round of waiting: true when `reply` is decided.
bool ChildProcess::wait_for_input(Clock::time_point deadline, const std::string& outgoing, std::size_t& written,
                                  Reply& reply) {
    const auto left = std::chrono::ceil<Milliseconds>(deadline - Clock::now()).count();
    const bool writing = input_ >= 0 && written < outgoing.size();
    std::array<pollfd, 4> files{
        {{output_, POLLIN, 0}, {errors_, POLLIN, 0}, {writing ? input_ : -1, POLLOUT, 0}, {exit_, POLLIN, 0}}};
    const long longest = exit_ >= 0 ? 60'000 : longest_unwatched_ms;
    const int ready = ::poll(files.data(), files.size(), static_cast<int>(std::clamp<long>(left, 0, longest)));
    if (ready < 0 && errno != EINTR) return true;
    if (files[1].revents != 0) drain_errors();
    if (files[2].revents != 0) {
        const ssize_t count = write_quietly(input_, outgoing.data() + written, outgoing.size() - written);
        if (count > 0) written += static_cast<std::size_t>(count);
        if (count < 0 && errno != EAGAIN && errno != EINTR) close_if_open(input_);
    }
    if (files[0].revents != 0) {
        const std::size_t known = pending_.size();
        const bool open = read_available(output_, pending_);
        const bool news = pending_.find('\n', known) != std::string::npos || pending_.size() > max_line_bytes_;
        if (news && take_line(reply)) return true;
        if (!open) return true;
    }
    // Whatever it started may hold its output open for long.
    const bool has_exited = exit_ >= 0 ? files[3].revents != 0 : ready == 0 && reap(false);
    if (has_exited && files[0].revents == 0) return true;
    if (files[0].revents == 0 && Clock::now() >= deadline) {
        reply.ending = Ending::timeout;
        return true;
    }
    return false;
}

ChildProcess::Reply ChildProcess::exchange(const std::string& line, Milliseconds timeout) {
    return wait_for_line(line + "\n", timeout);
}

ChildProcess::Reply ChildProcess::next_line(Milliseconds timeout) {
    return wait_for_line("", timeout);
}

ChildProcess::Reply ChildProcess::wait_for_line(const std::string& outgoing, Milliseconds timeout) {
    const auto deadline = Clock::now() + timeout;
    std::size_t written = 0;
    Reply reply;
    if (take_line(reply)) return reply;  // it spoke before it was asked
    while (!wait_for_input(deadline, outgoing, written, reply)) {
    }
    return reply;
}

bool ChildProcess::reap(bool block) {
    if (id_ < 0 || wait_status_) return true;
    int status = 0;
    pid_t result = 0;
    do {
        result = ::waitpid(id_, &status, block ? 0 : WNOHANG);
    } while (result < 0 && errno == EINTR);
    if (result == 0) return false;
    wait_status_ = result == id_ ? status : 0;
    return true;
}

std::optional<int> ChildProcess::finish(Milliseconds timeout) {
    close_if_open(input_);
    const auto deadline = Clock::now() + timeout;
    while (!reap(false)) {
        if (Clock::now() >= deadline) return std::nullopt;
        // Its standard streams close a moment before it can be reaped; no descriptor tells when.
        std::this_thread::sleep_for(Milliseconds(5));
    }
    if (WIFSIGNALED(*wait_status_)) return 128 + WTERMSIG(*wait_status_);
    return WEXITSTATUS(*wait_status_);
}

std::string ChildProcess::stop() {
    if (id_ < 0) return "not started";
    // One that has just closed its streams is given the time to end by itself, so that its own status is reported.
    if (!wait_status_ && input_ >= 0) finish(Milliseconds(200));
    ::kill(-id_, SIGKILL);
    reap(true);
    if (WIFSIGNALED(*wait_status_)) return signal_text(WTERMSIG(*wait_status_));
    const int status = WEXITSTATUS(*wait_status_);
    // A shell that waited for its command reports the signal that killed it like this.
    if (status > 128 && status <= 128 + SIGSYS) return signal_text(status - 128);
    return "exit status " + std::to_string(status);
}

std::string ChildProcess::error_tail() {
    std::size_t before = 0;
    do {
        before = error_tail_.size();
        drain_errors();
    } while (errors_ >= 0 && error_tail_.size() > before && before < error_tail_bytes);
    return error_tail_;
}

}  // namespace joulecast
