#include "workers/torch/metering.h"

#include "joulecast/error.h"
#include "joulecast/units/printable.h"

namespace joulecast::torch_worker {

Metering::Opened Metering::open(const std::string& name) {
    if (found_.meter == nullptr || name != request_.name) {
        request_.name = name;
        found_ = open_meter(request_);
        if (found_.meter != nullptr) traits_ = traits_from(found_.meter->facts());
    }
    return {found_.meter.get(), found_.missing_reason, traits_};
}

Calibration Metering::calibrate(CalibrationKey key, Workload& load, double call_s, Clock& clock,
                                const std::string& folder) {
    Meter& meter = *found_.meter;
    key.meter = meter.facts().name;
    const std::string path = folder.empty() ? "" : calibration_path(folder, key);
    Calibration calibration;
    if (const auto cached = path.empty() ? std::nullopt : cached_calibration(path, key).calibration) {
        calibration = *cached;
    } else {
        // A second look at the same device, for the comparison of counted energy with integrated power.
        const FoundMeter power = open_power_beside(request_, meter.facts());
        calibration = joulecast::calibrate({load, call_s, meter, power.meter.get(), clock}, {});
        const std::string problem = path.empty() ? "" : store_calibration(path, key, calibration);
        if (!problem.empty()) write_error_line("joulecast-torch", problem);
    }
    traits_ = traits_from(calibration, meter.facts());
    return calibration;
}

}  // namespace joulecast::torch_worker
