#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "joulecast/meter/meter.h"

namespace joulecast {

/// Looks at a meter again and again, in a thread of its own, from construction until stop().
class MeterLog {
  public:
    /// The meter must outlive the log, and nobody else reads it meanwhile.
    MeterLog(Meter& meter, double period_s);
    ~MeterLog();
    MeterLog(const MeterLog&) = delete;
    MeterLog& operator=(const MeterLog&) = delete;

    /// Takes a last reading, lasting until the meter has renewed itself or `linger_s` have gone by.
    void stop(double linger_s);
    /// After stop().
    const std::vector<MeterReading>& readings() const { return readings_; }
    /// Why reading ended early, or empty.
    const std::string& lost() const { return lost_; }

  private:
    void run();
    bool read();

    Meter& meter_;
    double period_s_;
    std::vector<MeterReading> readings_;
    std::string lost_;
    std::mutex mutex_;
    std::condition_variable stopping_;
    bool stop_asked_ = false;
    std::thread thread_;
};

}  // namespace joulecast
