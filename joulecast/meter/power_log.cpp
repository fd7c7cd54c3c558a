#include "joulecast/meter/power_log.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <system_error>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/units/time_stamp.h"

namespace joulecast {

namespace {

std::string number(double value, int digits) {
    if (!std::isfinite(value)) return "";
    std::array<char, 64> text{};
    const int length = std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return length < static_cast<int>(text.size()) ? text.data() : "";
}

std::string csv_text(const std::string& text) {
    if (text.empty()) return "";
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"') result += '"';
        result += c == '\n' || c == '\r' ? ' ' : c;
    }
    return result + '"';
}

/// What an earlier run left: nothing, whole lines, or one cut off in the middle.
enum class Left { nothing, whole_lines, half_a_line };

Left inspect(const std::filesystem::path& path) {
    std::error_code none;
    if (!std::filesystem::is_regular_file(path, none) || std::filesystem::file_size(path, none) == 0) {
        return Left::nothing;
    }
    std::ifstream file(path, std::ios::binary);
    const std::string header = std::string(power_log_header) + '\n';
    std::string start(header.size(), ' ');
    file.read(start.data(), static_cast<std::streamsize>(start.size()));
    if (start != header) {
        throw Error("cannot append a power log to " + path.string() +
                    ": it holds something else. Name another file, or remove this one");
    }
    file.clear();
    file.seekg(-1, std::ios::end);
    return file.get() == '\n' ? Left::whole_lines : Left::half_a_line;
}

}  // namespace

PowerLog::PowerLog(PowerLogSettings settings, std::unique_ptr<Meter> meter, std::unique_ptr<DeviceStateProbe> probe)
    : settings_(std::move(settings)), meter_(std::move(meter)), probe_(std::move(probe)) {
    if (!settings_.now_s) settings_.now_s = steady_seconds;
    if (!settings_.utc_s) settings_.utc_s = utc_now_s;
    const Left left = inspect(settings_.file);
    file_.open(settings_.file, std::ios::app | std::ios::binary);
    if (left == Left::half_a_line) file_ << '\n';
    if (left == Left::nothing) file_ << power_log_header << '\n';
    if (!file_.flush()) {
        throw Error("cannot write the power log " + settings_.file.string() +
                    ". See that its folder is there and may be written");
    }
    thread_ = std::thread([this] { run(); });
}

PowerLog::~PowerLog() {
    stop();
}

void PowerLog::stop() {
    {
        const std::lock_guard lock(mutex_);
        stop_asked_ = true;
    }
    stopping_.notify_all();
    if (thread_.joinable()) thread_.join();
}

std::string PowerLog::failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
}

void PowerLog::run() {
    const auto period = std::chrono::duration<double>(settings_.period_s);
    auto next = std::chrono::steady_clock::now();
    for (bool last = false; !last;) {
        append_line();
        next += std::chrono::duration_cast<std::chrono::steady_clock::duration>(period);
        // A machine that slept, or a meter slower than the period, is not caught up with in a burst.
        next = std::max(next, std::chrono::steady_clock::now());
        std::unique_lock lock(mutex_);
        last = stopping_.wait_until(lock, next, [this] { return stop_asked_; });
        if (!failure_.empty()) return;
    }
    append_line();
}

std::string PowerLog::energy_fields(std::string& note, double& time_s) {
    if (!meter_) return ",,";
    MeterReading reading;
    try {
        reading = meter_->read();
    } catch (const Error& lost) {
        note = lost.what();
        meter_.reset();
        return ",,";
    }
    if (std::isfinite(reading.time_s)) time_s = reading.time_s;
    double power_w = reading.power_w;
    if (std::isfinite(reading.energy_j) && reading.energy_j != renewed_.energy_j) {
        if (std::isnan(power_w)) {
            power_w = (reading.energy_j - renewed_.energy_j) / (reading.time_s - renewed_.time_s);
        }
        renewed_ = reading;
    }
    return number(power_w, 4) + "," + number(reading.energy_j, 6) + ",";
}

void PowerLog::append_line() {
    double time_s = settings_.now_s();
    const double utc_s = settings_.utc_s();
    std::string note;
    const std::string energy = energy_fields(note, time_s);
    const DeviceState state = probe_ ? probe_->read() : DeviceState{};
    file_ << utc_time_stamp(utc_s) << ',' << number(time_s, 6) << ',' << energy << number(state.sm_clock_mhz, 1) << ','
          << number(state.memory_clock_mhz, 1) << ',' << number(state.temperature_c, 1) << ','
          << (probe_ ? std::to_string(state.throttle_reasons) : "") << ',' << csv_text(note) << '\n';
    if (!file_.flush()) {
        const std::lock_guard lock(mutex_);
        failure_ = "the power log " + settings_.file.string() + " ends early: it cannot be written (is the disk full?)";
    }
}

}  // namespace joulecast
