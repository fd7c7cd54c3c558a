#pragma once

#include <vector>

#include "joulecast/measure/workload.h"
#include "joulecast/meter/meter.h"

namespace joulecast {

/// A line of a power log.
struct PowerSample {
    double time_s = 0.0;  ///< steady clock
    double power_w = 0.0;
};

/// Logs a meter's power: what a power meter says each time it is looked at, or of a counter the mean power between
/// two renewals of its value.
class PowerSampler {
  public:
    /// Looks at most once in `every_s`.
    PowerSampler(Meter& meter, Clock& clock, double every_s) : meter_(meter), clock_(clock), every_s_(every_s) {}

    /// Reads the meter if it is time to. Throws MeterLost.
    void look();
    const std::vector<PowerSample>& samples() const { return samples_; }

  private:
    Meter& meter_;
    Clock& clock_;
    double every_s_;
    double last_look_s_ = -1e300;
    int renewals_ = -1;  ///< of a counter; the first value that is seen began at some time in the past
    MeterReading renewed_;
    std::vector<PowerSample> samples_;
};

}  // namespace joulecast
