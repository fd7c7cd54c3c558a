#pragma once

#include <string>

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
        MeterTraits traits;
    };
    Opened open(const std::string& name);
    /// The meter was lost in a trial: the next open() tries again.
    void close() { found_ = {}; }

  private:
    MeterRequest request_;
    FoundMeter found_;
    MeterTraits traits_;
};

}  // namespace joulecast::torch_worker
