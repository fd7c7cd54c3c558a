#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cli/forecast_text.h"
#include "cli/loaded_device.h"
#include "cli/setting_options.h"
#include "joulecast/forecast/at_point.h"
#include "joulecast/forecast/forecast_cache.h"
#include "joulecast/graph/graph.h"

namespace joulecast::cli {

/// Forecasts on a loaded device, each operation made once. Not for several threads at once: one for each.
class DeviceForecasts {
  public:
    /// At most `capacity` operations are kept of every model of the device, each about 1 kB.
    explicit DeviceForecasts(std::shared_ptr<const LoadedDevice> device,
                             std::size_t capacity = ForecastCache::default_capacity,
                             std::shared_ptr<ForwardKernels> kernels = std::make_shared<ForwardKernels>());

    const LoadedDevice& device() const { return *device_; }
    /// As LoadedDevice::forecast().
    NetworkForecast forecast(const Graph& prepared, const ForecastSetting& setting);

  private:
    /// Operations as that model has them, issued from the host that they were measured with.
    ForecastCache& operations(const DeviceModel& model);

    std::shared_ptr<const LoadedDevice> device_;
    std::size_t capacity_;
    std::shared_ptr<ForwardKernels> kernels_;
    std::map<const DeviceModel*, ForecastCache> caches_;
};

/// The same for several threads at once, each with forecasts of its own.
class SharedForecasts {
  public:
    explicit SharedForecasts(std::shared_ptr<const LoadedDevice> device,
                             std::size_t capacity = ForecastCache::default_capacity);

    const LoadedDevice& device() const { return *device_; }
    const std::shared_ptr<const LoadedDevice>& kept_device() const { return device_; }
    /// As LoadedDevice::forecast() of the prepared() graph.
    NetworkForecast forecast(Graph graph, const ForecastSetting& setting);

  private:
    std::unique_ptr<DeviceForecasts> taken();

    std::shared_ptr<const LoadedDevice> device_;
    std::size_t capacity_;
    std::shared_ptr<ForwardKernels> kernels_ = std::make_shared<ForwardKernels>();
    std::mutex giving_;  ///< of idle_
    std::vector<std::unique_ptr<DeviceForecasts>> idle_;
};

/// With the names of device and predictor.
Forecast with_source(NetworkForecast network, const LoadedDevice& device);

/// A forecast, to be had at several clocks and power limits. Several threads may ask it at once.
class ForecastOverClocks {
  public:
    /// The model is one of the device's.
    ForecastOverClocks(Forecast forecast, std::shared_ptr<const LoadedDevice> device, const DeviceModel& model);

    const Forecast& forecast() const { return forecast_; }
    /// At the clocks and the limit of `asked`, without its list of operations where `operations` is false: that is most
    /// of the work. Throws what at_point() throws.
    Forecast at(const OperatingPoint& asked, bool operations) const;

  private:
    Forecast forecast_;
    Forecast summary_;                            ///< the same without operations
    std::shared_ptr<const LoadedDevice> device_;  ///< whose the model is
    const DeviceModel& model_;
    std::optional<ForecastCurve> curve_;  ///< absent for a device without clocks
    PointForecast default_;               ///< of the curve: what the device takes by itself
};

}  // namespace joulecast::cli
