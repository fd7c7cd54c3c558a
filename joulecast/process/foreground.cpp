#include "joulecast/process/foreground.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>

#include "joulecast/error.h"

namespace joulecast {

namespace {

constexpr std::array relayed = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

std::atomic<pid_t> running{0};
std::atomic<bool> end_asked{false};
std::array<struct sigaction, relayed.size()> earlier{};

void relay(int signal, siginfo_t* origin, void* /*context*/) {
    if (signal != SIGUSR1 && signal != SIGUSR2) end_asked = true;
    // What the terminal's keys send, the kernel has sent to the program too.
    const bool from_terminal = origin != nullptr && origin->si_code == SI_KERNEL;
    const int error_before = errno;  // of whatever call this came into
    if (const pid_t id = running; id > 0 && !from_terminal) ::kill(id, signal);
    errno = error_before;
}

sigset_t all_relayed() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int signal : relayed) ::sigaddset(&set, signal);
    return set;
}

double steady_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// In the child, where other threads of ours are gone: nothing that may allocate.
[[noreturn]] void become(char* const* words, const sigset_t& mask, int report) {
    // We ignore SIGPIPE, which an exec would hand on.
    ::signal(SIGPIPE, SIG_DFL);
    for (std::size_t i = 0; i < relayed.size(); ++i) ::sigaction(relayed[i], &earlier[i], nullptr);
    ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    ::execvp(words[0], words);
    const int code = errno;
    [[maybe_unused]] const auto written = ::write(report, &code, sizeof code);
    ::_exit(127);
}

/// The errno of an exec that failed, or 0. The pipe closes when the exec has succeeded.
int exec_failure(int report) {
    int code = 0;
    ssize_t count = 0;
    do count = ::read(report, &code, sizeof code);
    while (count < 0 && errno == EINTR);
    ::close(report);
    return count == static_cast<ssize_t>(sizeof code) ? code : 0;
}

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

[[noreturn]] void fail(const std::string& program, int code) {
    throw Error("cannot run '" + program + "': " + std::generic_category().message(code) +
                (code == ENOENT ? ". Check the name; a shell's own words need: sh -c '...'" : ""));
}

}  // namespace

Foreground::Foreground() {
    struct sigaction action{};
    action.sa_sigaction = relay;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    end_asked = false;
    for (std::size_t i = 0; i < relayed.size(); ++i) ::sigaction(relayed[i], &action, &earlier[i]);
}

Foreground::~Foreground() {
    for (std::size_t i = 0; i < relayed.size(); ++i) ::sigaction(relayed[i], &earlier[i], nullptr);
}

bool Foreground::interrupted() const {
    return end_asked;
}

ForegroundRun Foreground::run(const std::vector<std::string>& command) {
    if (command.empty()) throw Error("there is no program to run");
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    std::array<int, 2> report{};
    if (::pipe2(report.data(), O_CLOEXEC) != 0) fail(command[0], errno);
    // No signal between the fork and knowing whom to send it to.
    const sigset_t held = all_relayed();
    sigset_t mask;
    ::pthread_sigmask(SIG_BLOCK, &held, &mask);
    ForegroundRun result;
    result.start_s = steady_s();
    const pid_t id = ::fork();
    const int fork_failure = errno;
    if (id == 0) become(words.data(), mask, report[1]);
    running = id > 0 ? id : 0;
    ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    ::close(report[1]);
    if (id < 0) {
        ::close(report[0]);
        fail(command[0], fork_failure);
    }
    const int exec_code = exec_failure(report[0]);
    int status = 0;
    rusage usage{};
    while (::wait4(id, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    running = 0;
    result.end_s = steady_s();
    if (exec_code != 0) fail(command[0], exec_code);
    result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    result.cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    result.peak_rss_bytes = 1024.0 * static_cast<double>(usage.ru_maxrss);
    return result;
}

}  // namespace joulecast
