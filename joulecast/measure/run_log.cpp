#include "joulecast/measure/run_log.h"

#include "joulecast/measure/readings.h"

namespace joulecast {

RunLog::RunLog(const Instruments& instruments, const MeasureSettings& settings, double every_s)
    : missing_reason_(why_no_energy(instruments, settings)) {
    if (missing_reason_.empty()) sampler_.emplace(*instruments.meter, instruments.clock, every_s);
}

void RunLog::look() {
    if (!missing_reason_.empty()) return;
    try {
        sampler_->look();
    } catch (const MeterLost& lost) {
        missing_reason_ = lost.what();
    }
}

const std::vector<PowerSample>& RunLog::samples() const {
    static const std::vector<PowerSample> none;
    return sampler_ ? sampler_->samples() : none;
}

std::string RunLog::missing_reason() const {
    if (missing_reason_.empty() && samples().size() < 2) return "the power log of the run has fewer than two lines";
    return missing_reason_;
}

}  // namespace joulecast
