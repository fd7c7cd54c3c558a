#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "joulecast/answer/loaded_device.h"
#include "joulecast/forecast/forecast.h"
#include "joulecast/forecast/forecast_cache.h"

namespace joulecast {

/// A loaded device with the operations that were forecast on it, each made once. Several threads may ask at once, each
/// with operations of its own.
class WarmDevice {
  public:
    /// `name` tells it from all other devices. At most `capacity` operations are kept of each of its models in each
    /// thread, about 1 kB each.
    WarmDevice(std::string name, LoadedDevice device, std::size_t capacity);

    const std::string& name() const { return name_; }
    const LoadedDevice& device() const { return device_; }
    /// LoadedDevice::calibrate_clocks(), once: before any of its models is asked for other clocks.
    void calibrate_clocks();
    /// What a prepared graph costs at the clock that its model was measured at. Throws what model_for() and
    /// forecast_network() throw.
    NetworkForecast forecast(const Graph& prepared, const Execution& execution);

  private:
    /// As each model has them, issued from the host that they were measured with.
    using Operations = std::map<const DeviceModel*, ForecastCache>;

    std::unique_ptr<Operations> idle_operations();
    ForecastCache& of_model(Operations& operations, const DeviceModel& model) const;

    std::string name_;
    LoadedDevice device_;
    std::size_t capacity_;
    std::once_flag calibrating_;
    std::shared_ptr<ForwardKernels> kernels_ = std::make_shared<ForwardKernels>();
    std::mutex giving_;  ///< of idle_
    std::vector<std::unique_ptr<Operations>> idle_;
};

}  // namespace joulecast
