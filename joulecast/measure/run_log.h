#pragma once

#include <optional>
#include <string>
#include <vector>

#include "joulecast/measure/measure.h"
#include "joulecast/measure/power_samples.h"

namespace joulecast {

/// The power log of a run, if there is a meter and energy is asked for. A meter that is lost on the way ends the log
/// and not the run.
class RunLog {
  public:
    RunLog(const Instruments& instruments, const MeasureSettings& settings, double every_s);

    void look();
    const std::vector<PowerSample>& samples() const;
    /// Why the log does not go on, if it does not: a run for it alone would be for nothing.
    const std::string& missing_reason_so_far() const { return missing_reason_; }
    /// Of a log that is complete: empty if it can be used, or why not.
    std::string missing_reason() const;

  private:
    std::optional<PowerSampler> sampler_;
    std::string missing_reason_;
};

}  // namespace joulecast
