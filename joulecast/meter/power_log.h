#pragma once

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "joulecast/meter/device_state.h"
#include "joulecast/meter/meter.h"
#include "joulecast/meter/time_source.h"

namespace joulecast {

struct PowerLogSettings {
    std::filesystem::path file;
    double period_s = 0.1;  ///< between lines, at least
    TimeSource now_s;       ///< steady clock, where the meter tells no time; empty: the machine's
    TimeSource utc_s;       ///< since 1970; empty: the machine's
};

/// A continuous log beside a sweep, written by a thread of its own: CSV with the columns of power_log_header, one line
/// a period, each flushed. Lines are appended to a file that is there already. Empty fields: not told.
///
/// time_utc is ISO 8601 with milliseconds, as the rows of a dataset have it. power_w of a meter that counts energy is
/// the mean since its count last renewed itself, and empty in lines between two renewals. A meter that is lost is named
/// in `note` once; clocks and temperature go on.
class PowerLog {
  public:
    /// Either may be null. Throws Error when the file cannot be written or is something else.
    PowerLog(PowerLogSettings settings, std::unique_ptr<Meter> meter, std::unique_ptr<DeviceStateProbe> probe);
    ~PowerLog();
    PowerLog(const PowerLog&) = delete;
    PowerLog& operator=(const PowerLog&) = delete;

    /// Writes a last line and ends the thread.
    void stop();
    /// Why lines are missing (the disk is full), or empty. A log that fails stops no sweep.
    std::string failure() const;

  private:
    void run();
    void append_line();
    std::string energy_fields(std::string& note, double& time_s);

    PowerLogSettings settings_;
    std::unique_ptr<Meter> meter_;
    std::unique_ptr<DeviceStateProbe> probe_;
    std::ofstream file_;
    MeterReading renewed_;  ///< the reading at which the energy last changed
    mutable std::mutex mutex_;
    std::condition_variable stopping_;
    bool stop_asked_ = false;
    std::string failure_;
    std::thread thread_;
};

inline constexpr const char* power_log_header =
    "time_utc,time_s,power_w,energy_j,sm_clock_mhz,memory_clock_mhz,temperature_c,throttle_reasons,note";

}  // namespace joulecast
