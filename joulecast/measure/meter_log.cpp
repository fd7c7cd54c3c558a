#include "joulecast/measure/meter_log.h"

#include <chrono>
#include <cmath>

#include "joulecast/meter/time_source.h"

namespace joulecast {

MeterLog::MeterLog(Meter& meter, double period_s) : meter_(meter), period_s_(period_s) {
    thread_ = std::thread([this] { run(); });
}

MeterLog::~MeterLog() {
    stop(0);
}

void MeterLog::stop(double linger_s) {
    {
        const std::lock_guard lock(mutex_);
        if (!thread_.joinable()) return;
        stop_asked_ = true;
    }
    stopping_.notify_all();
    thread_.join();
    const double end_s = steady_seconds();
    if (!read() || !meter_.facts().counts_energy) return;
    const double before_j = readings_.back().energy_j;
    while (steady_seconds() < end_s + linger_s && readings_.back().energy_j == before_j) {
        std::this_thread::sleep_for(std::chrono::duration<double>(period_s_));
        if (!read()) return;
    }
}

bool MeterLog::read() {
    if (!lost_.empty()) return false;
    try {
        MeterReading reading = meter_.read();
        if (!std::isfinite(reading.time_s)) reading.time_s = steady_seconds();
        readings_.push_back(reading);
        return true;
    } catch (const Error& error) {
        lost_ = error.what();
        return false;
    }
}

void MeterLog::run() {
    const auto period =
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(period_s_));
    auto next = std::chrono::steady_clock::now();
    while (read()) {
        // A machine that slept, or a meter slower than the period, is not caught up with in a burst.
        next = std::max(next + period, std::chrono::steady_clock::now());
        std::unique_lock lock(mutex_);
        if (stopping_.wait_until(lock, next, [this] { return stop_asked_; })) return;
    }
}

}  // namespace joulecast
