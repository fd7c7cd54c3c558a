#pragma once

#include <optional>
#include <string>

#include "joulecast/measure/calibration.h"
#include "joulecast/measure/calibration_file.h"
#include "joulecast/measure/meter_traits.h"
#include "joulecast/meter/meter.h"
#include "joulecast/meter/open_meter.h"

namespace joulecast::torch_worker {

/// The meter of one device, opened when it is first asked for by that name and kept until another is.
class Metering {
  public:
    /// What `auto` looks for, and where.
    explicit Metering(MeterRequest of_device) : request_(std::move(of_device)) {}

    struct Opened {
        Meter* meter = nullptr;
        std::string missing_reason;
        MeterTraits traits;  ///< calibrated, or else what the meter says of itself
    };
    Opened open(const std::string& name);
    /// The meter was lost in a trial: the next open() tries again.
    void close() { found_ = {}; }

    /// Calibrates the open meter by running `load`, or takes what was found at another time for the same key, whose
    /// `meter` is filled in here. Kept in `folder` (empty: nowhere). Throws MeterLost.
    Calibration calibrate(CalibrationKey key, Workload& load, double call_s, Clock& clock, const std::string& folder);

  private:
    MeterRequest request_;
    FoundMeter found_;
    MeterTraits traits_;
};

}  // namespace joulecast::torch_worker
