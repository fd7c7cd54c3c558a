#include "joulecast/meter/clock_lease.h"

#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "joulecast/error.h"

namespace joulecast {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view record_head = "joulecast-clocks 1\n";
constexpr std::size_t most_record_bytes = 512;
constexpr double limit_rounding_w = 0.5;  // a driver may round a limit to the card's steps

class File {
  public:
    File(const fs::path& path, int flags) : file_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
    ~File() {
        if (file_ >= 0) ::close(file_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int number() const { return file_; }
    bool is_open() const { return file_ >= 0; }
    int release() { return std::exchange(file_, -1); }

  private:
    int file_;
};

[[noreturn]] void fail(const std::string& what, const fs::path& path) {
    throw Error("cannot " + what + " " + path.string() + ": " + std::strerror(errno) +
                ". Clocks are only changed where that can be undone after a crash: set JOULECAST_CLOCK_STATE to a "
                "folder that can be written");
}

fs::path record_path(const fs::path& folder, const NvmlGpu& gpu) {
    return folder / (gpu.facts().uuid + ".clocks");
}

fs::path lock_path(const fs::path& folder, const NvmlGpu& gpu) {
    return folder / (gpu.facts().uuid + ".lock");
}

void synchronise_folder(const fs::path& folder) {
    const File opened(folder, O_RDONLY | O_DIRECTORY);
    if (!opened.is_open() || ::fsync(opened.number()) != 0) fail("synchronise", folder);
}

/// All of it or nothing, on the disk when this returns: written aside, then renamed.
void write_whole(const fs::path& path, const std::string& text) {
    const fs::path aside = path.string() + ".new";
    {
        const File file(aside, O_WRONLY | O_CREAT | O_TRUNC);
        if (!file.is_open()) fail("write", aside);
        for (std::string_view rest = text; !rest.empty();) {
            // A disk that is full takes a part first and says why at the next.
            const auto written = ::write(file.number(), rest.data(), rest.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) fail("write", aside);
            rest.remove_prefix(static_cast<std::size_t>(written));
        }
        if (::fsync(file.number()) != 0) fail("write", aside);
    }
    if (::rename(aside.c_str(), path.c_str()) != 0) fail("replace", path);
    synchronise_folder(path.parent_path());
}

std::optional<unsigned> parse_unsigned(std::string_view text) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string refusal(const std::string& what, const NvmlGpu& gpu, NvmlCode code, const std::string& instead) {
    std::string text = "cannot " + what + " " + gpu.label() + ": " + describe(code);
    if (code == NvmlCode::no_permission) return text + ". Run as root, or " + instead + ".";
    return text + ". " + static_cast<char>(std::toupper(static_cast<unsigned char>(instead.front()))) +
           instead.substr(1) + ".";
}

constexpr const char* current_clock = "measure at the current clock with --clocks current";
constexpr const char* current_limit = "measure at the current limit with --power-limits current";

/// Where the call has succeeded nothing may throw: its change would be taken as not made. Hence no std::string, which
/// allocates between the call and its result.
void require(NvmlCode code, const char* what, const NvmlGpu& gpu, const char* instead) {
    if (code != NvmlCode::success) throw Error(refusal(what, gpu, code, instead));
}

std::optional<unsigned> milliwatts(const NvmlReading& reading) {
    if (!reading.known()) return std::nullopt;
    return static_cast<unsigned>(std::lround(reading.value * 1e3));
}

void undo(NvmlCode code, const char* what, std::string& problems) {
    if (code == NvmlCode::success) return;
    problems += std::string(problems.empty() ? "" : "; ") + what + ": " + describe(code);
}

}  // namespace

std::string to_text(const ClockRecord& record) {
    std::string text(record_head);
    if (record.graphics_locked) text += "graphics locked\n";
    if (record.memory_locked) text += "memory locked\n";
    if (record.power_limit_before_mw) {
        text += "power_limit_before_mw " + std::to_string(*record.power_limit_before_mw) + '\n';
    }
    if (record.power_limit_set_mw) text += "power_limit_set_mw " + std::to_string(*record.power_limit_set_mw) + '\n';
    if (record.power_limit_next_mw) text += "power_limit_next_mw " + std::to_string(*record.power_limit_next_mw) + '\n';
    return text;
}

ClockRecord parse_clock_record(std::string_view text) {
    const auto wrong = [] { return FormatError("the state file of the clocks cannot be understood"); };
    if (text.size() > most_record_bytes || !text.starts_with(record_head)) throw wrong();
    text.remove_prefix(record_head.size());
    ClockRecord record;
    while (!text.empty()) {
        const auto end = text.find('\n');
        if (end == std::string_view::npos) throw wrong();
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 1);
        const auto space = line.find(' ');
        if (space == std::string_view::npos) throw wrong();
        const std::string_view key = line.substr(0, space);
        const std::string_view value = line.substr(space + 1);
        if (key == "graphics" && value == "locked") {
            record.graphics_locked = true;
        } else if (key == "memory" && value == "locked") {
            record.memory_locked = true;
        } else if (const auto number = parse_unsigned(value); number && key == "power_limit_before_mw") {
            record.power_limit_before_mw = number;
        } else if (number && key == "power_limit_set_mw") {
            record.power_limit_set_mw = number;
        } else if (number && key == "power_limit_next_mw") {
            record.power_limit_next_mw = number;
        } else {
            throw wrong();
        }
    }
    return record;
}

fs::path default_clock_state_folder() {
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value != nullptr ? value : "");
    };
    if (std::string named = variable("JOULECAST_CLOCK_STATE"); !named.empty()) return fs::path(std::move(named));
    if (::geteuid() == 0) return "/var/lib/joulecast";
    if (const std::string state = variable("XDG_STATE_HOME"); !state.empty()) return fs::path(state) / "joulecast";
    return fs::path(variable("HOME")) / ".local" / "state" / "joulecast";
}

std::optional<ClockRecord> left_behind(const fs::path& folder, const NvmlGpu& gpu) {
    const fs::path path = record_path(folder, gpu);
    const File file(path, O_RDONLY);
    if (!file.is_open()) {
        if (errno == ENOENT) return std::nullopt;
        fail("read", path);
    }
    std::array<char, most_record_bytes + 1> buffer{};
    const auto size = ::read(file.number(), buffer.data(), buffer.size());
    if (size < 0) fail("read", path);
    try {
        return parse_clock_record({buffer.data(), static_cast<std::size_t>(size)});
    } catch (const FormatError& error) {
        throw FormatError(std::string(error.what()) + ": " + path.string() +
                          ". Remove it and run joulecast clocks reset");
    }
}

bool is_leased(const fs::path& folder, const NvmlGpu& gpu) {
    const File file(lock_path(folder, gpu), O_RDWR);
    return file.is_open() && ::flock(file.number(), LOCK_SH | LOCK_NB) != 0;
}

ClockLease::ClockLease(NvmlGpu gpu, fs::path folder) : gpu_(std::move(gpu)), folder_(std::move(folder)) {
    if (gpu_.facts().uuid.empty()) throw Error(gpu_.label() + " has no UUID, so its clocks cannot be guarded");
    std::error_code failure;
    fs::create_directories(folder_, failure);
    File lock(lock_path(folder_, gpu_), O_RDWR | O_CREAT);
    if (!lock.is_open()) fail("write", lock_path(folder_, gpu_));
    if (::flock(lock.number(), LOCK_EX | LOCK_NB) != 0) {
        throw Error("the clocks of " + gpu_.label() +
                    " are held by another measurement. Wait for its end, or measure at the current clock with "
                    "--clocks current.");
    }
    const auto left = left_behind(folder_, gpu_);
    lock_ = lock.release();
    if (!left) return;
    record_ = *left;
    try {
        restore();
    } catch (...) {
        ::close(lock_);
        throw;
    }
}

ClockLease::~ClockLease() {
    try_to_restore(record_);
    ::close(lock_);
}

/// What cannot be undone stays in the state file; `clocks show` tells, and whoever takes the next lease tries again.
bool ClockLease::try_to_restore(const ClockRecord& what) {
    try {
        remember(what);
        restore();
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

void ClockLease::remember(const ClockRecord& record) {
    if (record == record_) return;
    if (record.nothing_to_undo()) {
        if (::unlink(record_path(folder_, gpu_).c_str()) != 0 && errno != ENOENT) {
            fail("remove", record_path(folder_, gpu_));
        }
        synchronise_folder(folder_);
    } else {
        write_whole(record_path(folder_, gpu_), to_text(record));
    }
    record_ = record;
}

void ClockLease::hold(const ClockRequest& request) {
    const std::string unsupported = why_not_supported(gpu_, request);
    if (!unsupported.empty()) throw Error(unsupported);
    ClockRecord done = record_;
    try {
        remember(planned(request));
        apply(request, done);
        remember(done);
    } catch (const std::exception&) {
        try_to_restore(done);
        throw;
    }
}

/// The record that covers the request before it is carried out, and whatever was held until now.
ClockRecord ClockLease::planned(const ClockRequest& request) const {
    ClockRecord next = record_;
    next.graphics_locked |= request.graphics_mhz.has_value();
    next.memory_locked |= request.memory_mhz.has_value();
    if (request.power_limit_mw) {
        if (!next.power_limit_before_mw) next.power_limit_before_mw = milliwatts(gpu_.power_limit_w());
        if (!next.power_limit_before_mw) throw Error(gpu_.label() + " does not report its power limit");
        next.power_limit_next_mw = request.power_limit_mw;
    }
    return next;
}

/// `done` follows what the card really has: a call that fails has changed nothing.
void ClockLease::apply(const ClockRequest& request, ClockRecord& done) {
    if (request.memory_mhz) {
        require(gpu_.lock_memory_clock(*request.memory_mhz), "lock the memory clock on", gpu_, current_clock);
    } else if (done.memory_locked) {
        require(gpu_.reset_memory_clock(), "free the memory clock on", gpu_, current_clock);
    }
    done.memory_locked = request.memory_mhz.has_value();
    if (request.graphics_mhz) {
        require(gpu_.lock_graphics_clock(*request.graphics_mhz), "lock clocks on", gpu_, current_clock);
    } else if (done.graphics_locked) {
        require(gpu_.reset_graphics_clock(), "free the clocks on", gpu_, current_clock);
    }
    done.graphics_locked = request.graphics_mhz.has_value();
    if (request.power_limit_mw) {
        set_power_limit(*request.power_limit_mw);
        done.power_limit_before_mw = record_.power_limit_before_mw;
        done.power_limit_set_mw = request.power_limit_mw;
    } else if (done.power_limit_before_mw) {
        if (limit_is_ours(done)) set_power_limit(*done.power_limit_before_mw);
        done.power_limit_before_mw = done.power_limit_set_mw = std::nullopt;
    }
}

void ClockLease::set_power_limit(unsigned limit_mw) {
    require(gpu_.set_power_limit(limit_mw), "set the power limit of", gpu_, current_limit);
}

/// Whether the card still has a limit that we set, or one that was about to be set when a guard died.
bool ClockLease::limit_is_ours(const ClockRecord& record) const {
    const NvmlReading now = gpu_.power_limit_w();
    if (!now.known()) return true;
    for (const auto& limit_mw : {record.power_limit_set_mw, record.power_limit_next_mw}) {
        if (limit_mw && std::abs(now.value - *limit_mw * 1e-3) < limit_rounding_w) return true;
    }
    return false;
}

void ClockLease::restore() {
    if (record_.nothing_to_undo()) return;
    std::string problems;
    if (record_.power_limit_before_mw && limit_is_ours(record_)) {
        undo(gpu_.set_power_limit(*record_.power_limit_before_mw), "power limit", problems);
    }
    if (record_.memory_locked) undo(gpu_.reset_memory_clock(), "memory clock", problems);
    if (record_.graphics_locked) undo(gpu_.reset_graphics_clock(), "graphics clock", problems);
    if (!problems.empty()) {
        throw Error("cannot restore " + gpu_.label() + " (" + problems +
                    "). Run joulecast clocks reset as root, or reboot.");
    }
    remember(ClockRecord{});
}

void ClockLease::reset() {
    require(gpu_.reset_graphics_clock(), "free the clocks on", gpu_, current_clock);
    // Cards before Ampere have no such lock to free.
    const NvmlCode memory = gpu_.reset_memory_clock();
    if (memory != NvmlCode::not_supported && memory != NvmlCode::function_not_found) {
        require(memory, "free the memory clock on", gpu_, current_clock);
    }
    const auto usual = milliwatts(gpu_.default_power_limit_w());
    if (usual && usual != milliwatts(gpu_.power_limit_w())) set_power_limit(*usual);
    remember(ClockRecord{});
}

}  // namespace joulecast
