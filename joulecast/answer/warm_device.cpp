#include "joulecast/answer/warm_device.h"

#include <utility>

#include "joulecast/forecast/forecast_network.h"

namespace joulecast {

WarmDevice::WarmDevice(std::string name, LoadedDevice device, std::size_t capacity)
    : name_(std::move(name)), device_(std::move(device)), capacity_(capacity) {}

void WarmDevice::calibrate_clocks() {
    std::call_once(calibrating_, [this] { device_.calibrate_clocks(); });
}

std::unique_ptr<WarmDevice::Operations> WarmDevice::idle_operations() {
    const std::scoped_lock alone(giving_);
    if (idle_.empty()) return std::make_unique<Operations>();
    auto last = std::move(idle_.back());
    idle_.pop_back();
    return last;
}

ForecastCache& WarmDevice::of_model(Operations& operations, const DeviceModel& model) const {
    const auto found = operations.find(&model);
    if (found != operations.end()) return found->second;
    ForecastCache& made =
        operations.try_emplace(&model, model, device_.columns(), device_.measured(model), capacity_).first->second;
    made.share(kernels_);
    return made;
}

NetworkForecast WarmDevice::forecast(const Graph& prepared, const Execution& execution) {
    const DeviceModel& model = device_.model_for(execution);
    auto own = idle_operations();
    NetworkForecast network = forecast_network(prepared, execution.precision, of_model(*own, model),
                                               LoadedDevice::host_for(model, execution), execution.training);
    network.predictor = device_.predictor_name();
    const std::scoped_lock alone(giving_);
    idle_.push_back(std::move(own));
    return network;
}

}  // namespace joulecast
