#include "joulecast/meter/clock_guard.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "joulecast/error.h"
#include "joulecast/meter/clock_line.h"

namespace joulecast {

namespace {

namespace fs = std::filesystem;

// A lock takes the driver milliseconds; a card that is about to be lost keeps it busy for seconds.
constexpr double answer_limit_s = 30;
constexpr double farewell_limit_s = 10;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

std::string service_socket(const std::string& asked) {
    if (!asked.empty()) return asked;
    const std::string named = variable("JOULECAST_CLOCKD_SOCKET");
    return named.empty() ? "/run/joulecast-clockd/socket" : named;
}

std::string guard_program(const std::string& asked) {
    if (!asked.empty()) return asked;
    if (const std::string named = variable("JOULECAST_CLOCKD"); !named.empty()) return named;
    std::error_code none;
    const fs::path beside = fs::read_symlink("/proc/self/exe", none).parent_path() / "joulecast-clockd";
    if (!none && ::access(beside.c_str(), X_OK) == 0) return beside.string();
    return "joulecast-clockd";
}

/// In the child, between fork and exec: only what is safe in a copy of a process with threads. A session of its own, so
/// that neither Ctrl-C nor a kill of our process group meets the guard; no file of ours stays open in it but its end of
/// the connection, so that nobody waits for a pipe that it holds.
[[noreturn]] void become_guard(char* const* arguments, int connection) {
    ::setsid();
    if (::chdir("/") != 0) ::_exit(127);
    const int nowhere = ::open("/dev/null", O_RDWR);
    ::dup2(connection, STDIN_FILENO);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    // Whatever the program opened without close-on-exec, pipes of libraries among it.
    for (int file = STDERR_FILENO + 1; file < 4096; ++file) ::close(file);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execvp(arguments[0], arguments);
    ::_exit(127);
}

bool wait_readable(int file, double limit_s) {
    pollfd wanted{file, POLLIN, 0};
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit_s);
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        const int ready = ::poll(&wanted, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
        if (ready > 0) return true;
        if (ready == 0 || errno != EINTR) return false;
    }
}

}  // namespace

ClockGuard::ClockGuard(NvmlGpu gpu, Settings settings, SettleClock* clock)
    : gpu_(std::move(gpu)), settings_(std::move(settings)), clock_(clock != nullptr ? clock : &steady_) {}

ClockGuard::~ClockGuard() {
    try_to_release();
    disconnect();
}

/// What could not be undone stands in the guard's state file, and `clocks show` tells.
bool ClockGuard::try_to_release() {
    try {
        release();
        return true;
    } catch (const Error&) {
        return false;
    }
}

std::string ClockGuard::why_not() const {
    if (::geteuid() == 0 || ::access(service_socket(settings_.socket).c_str(), W_OK) == 0) return "";
    return describe(NvmlCode::no_permission);
}

std::optional<int> ClockGuard::child() const {
    return child_ > 0 ? std::optional(child_) : std::nullopt;
}

bool ClockGuard::is_connected() const {
    if (connection_ < 0) return false;
    char byte = 0;
    // A guard never speaks unasked: anything to read now is its end.
    const ssize_t got = ::recv(connection_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

void ClockGuard::connect() {
    if (is_connected()) return;
    disconnect();
    if (!connect_to_service()) start_child();
    std::string greeting;
    try {
        greeting = read_line(answer_limit_s);
    } catch (const Error&) {
        disconnect();
        throw Error(
            "cannot lock clocks on " + gpu_.label() + ": the guard '" + guard_program(settings_.program) +
            "' does not start. Install joulecast again or set JOULECAST_CLOCKD, or measure at the current clock "
            "with --clocks current.");
    }
    if (greeting != guard_greeting) {
        disconnect();
        throw Error("joulecast-clockd is of another version (it says '" + greeting.substr(0, 80) +
                    "'). Install both from one release");
    }
}

bool ClockGuard::connect_to_service() {
    service_refused_us_ = false;
    const std::string path = service_socket(settings_.socket);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) throw Error("the path of the guard's socket is too long: " + path);
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0) return false;
    if (::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        service_refused_us_ = errno == EACCES || errno == EPERM;
        ::close(file);
        return false;
    }
    connection_ = file;
    return true;
}

void ClockGuard::start_child() {
    const std::string program = guard_program(settings_.program);
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        throw Error(std::string("cannot start the guard of the clocks: ") + std::strerror(errno));
    }
    std::vector<std::string> words = {program, "--child"};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t id = ::fork();
    if (id == 0) become_guard(arguments.data(), ends[1]);
    ::close(ends[1]);
    if (id < 0) {
        ::close(ends[0]);
        throw Error(std::string("cannot start the guard of the clocks: ") + std::strerror(errno));
    }
    connection_ = ends[0];
    child_ = id;
}

void ClockGuard::disconnect() {
    if (connection_ >= 0) {
        ::shutdown(connection_, SHUT_WR);
        // The guard closes its end when it has restored; what it may still say is of no interest now.
        std::array<char, 256> rest{};
        while (wait_readable(connection_, farewell_limit_s) && ::recv(connection_, rest.data(), rest.size(), 0) > 0) {
        }
        ::close(connection_);
    }
    connection_ = -1;
    pending_.clear();
    held_.reset();
    if (child_ <= 0) return;
    // It has closed its end, or hangs in the driver: then it is left to itself and to the state file.
    for (int tries = 0; tries < 100 && ::waitpid(child_, nullptr, WNOHANG) == 0; ++tries) ::usleep(10000);
    child_ = -1;
}

std::string ClockGuard::read_line(double limit_s) {
    for (;;) {
        const auto end = pending_.find('\n');
        if (end != std::string::npos) {
            std::string line = pending_.substr(0, end);
            pending_.erase(0, end + 1);
            return line;
        }
        std::array<char, 512> buffer{};
        const bool readable = pending_.size() <= most_guard_answer_bytes && wait_readable(connection_, limit_s);
        const ssize_t got = readable ? ::recv(connection_, buffer.data(), buffer.size(), 0) : 0;
        if (got <= 0) throw Error("the guard of the clocks, joulecast-clockd, does not answer");
        pending_.append(buffer.data(), static_cast<std::size_t>(got));
    }
}

void ClockGuard::ask(const std::string& line) {
    const std::string whole = line + '\n';
    const ssize_t sent = ::send(connection_, whole.data(), whole.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(whole.size())) throw Error("the guard of the clocks, joulecast-clockd, is gone");
    std::string reason = parse_answer(read_line(answer_limit_s));
    if (reason.empty()) return;
    if (service_refused_us_) {
        reason += " (The service joulecast-clockd runs here, but this user is not in the group of its socket " +
                  service_socket(settings_.socket) + ".)";
    }
    throw Error(reason);
}

Settled ClockGuard::hold(const OperatingPoint& asked) {
    const ClockRequest request = clock_request(asked);
    if (request.asks_nothing()) {
        release();
        return {real_point(gpu_, asked), "", 0};
    }
    SettleRule rule = settings_.settle;
    if (held_ == request && is_connected()) {
        // Every request of a sweep comes here: a card that stays below its target must not be waited for each time.
        rule = {.equal_readings = 1, .poll_s = 0, .rest_s = 0, .limit_s = 0};
    } else {
        connect();
        held_.reset();
        ask(to_line(GuardRequest{GuardRequest::Kind::hold, gpu_.facts().uuid, request}));
        held_ = request;
    }
    return settle(gpu_, asked, *clock_, rule);
}

void ClockGuard::release() {
    if (!held_) return;
    // If our guard was killed, this starts the next one, which undoes what it left as soon as it is asked for the card.
    connect();
    ask(to_line(GuardRequest{GuardRequest::Kind::hold, gpu_.facts().uuid, {}}));
    held_.reset();
}

void ClockGuard::reset() {
    connect();
    held_.reset();
    ask(to_line(GuardRequest{GuardRequest::Kind::reset, gpu_.facts().uuid, {}}));
}

}  // namespace joulecast
