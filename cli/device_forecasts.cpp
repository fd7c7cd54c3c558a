#include "cli/device_forecasts.h"

#include <utility>

#include "joulecast/forecast/at_point.h"
#include "joulecast/forecast/forecast_network.h"
#include "joulecast/forecast/hosts.h"

namespace joulecast::cli {

DeviceForecasts::DeviceForecasts(std::shared_ptr<const LoadedDevice> device, std::size_t capacity,
                                 std::shared_ptr<ForwardKernels> kernels)
    : device_(std::move(device)), capacity_(capacity), kernels_(std::move(kernels)) {}

ForecastCache& DeviceForecasts::operations(const DeviceModel& model) {
    const auto found = caches_.find(&model);
    if (found != caches_.end()) return found->second;
    ForecastCache& made =
        caches_.try_emplace(&model, model, device_->columns(), device_->measured(model), capacity_).first->second;
    made.share(kernels_);
    return made;
}

NetworkForecast DeviceForecasts::forecast(const Graph& prepared, const ForecastSetting& setting) {
    const DeviceModel& model = device_->model_for(setting.precision, setting.host);
    NetworkForecast network =
        forecast_network(prepared, setting.precision, operations(model), setting.host, setting.training);
    network.predictor = device_->predictor_name();
    return network;
}

SharedForecasts::SharedForecasts(std::shared_ptr<const LoadedDevice> device, std::size_t capacity)
    : device_(std::move(device)), capacity_(capacity) {}

std::unique_ptr<DeviceForecasts> SharedForecasts::taken() {
    const std::scoped_lock alone(giving_);
    if (idle_.empty()) return std::make_unique<DeviceForecasts>(device_, capacity_, kernels_);
    auto last = std::move(idle_.back());
    idle_.pop_back();
    return last;
}

NetworkForecast SharedForecasts::forecast(Graph graph, const ForecastSetting& setting) {
    const Graph ready = device_->prepared(std::move(graph), setting);
    auto own = taken();
    NetworkForecast network = own->forecast(ready, setting);
    const std::scoped_lock alone(giving_);
    idle_.push_back(std::move(own));
    return network;
}

Forecast with_source(NetworkForecast network, const LoadedDevice& device) {
    Forecast one;
    one.network = std::move(network);
    one.device_name = device.device().display_name;
    one.origin = std::make_shared<const Origin>(device.origin());
    one.note = device.note();
    const DeviceModel& model = device.model_for(one.network.precision, one.network.point.host);
    one.assumed_host = default_extra(model, one.network.point.host, one.network.mode);
    return one;
}

ForecastOverClocks::ForecastOverClocks(Forecast forecast, std::shared_ptr<const LoadedDevice> device,
                                       const DeviceModel& model)
    : forecast_(std::move(forecast)), device_(std::move(device)), model_(model) {
    if (why_no_clocks(model).empty()) {
        curve_.emplace(forecast_.network, model);
        default_ = curve_->at({});
    }
    auto operations = std::exchange(forecast_.network.operations, {});
    summary_ = forecast_;
    forecast_.network.operations = std::move(operations);
}

Forecast ForecastOverClocks::at(const OperatingPoint& asked, bool operations) const {
    const Forecast& from = operations ? forecast_ : summary_;
    Forecast there;
    if (!curve_) clock_parameters(model_);  // throws, and says why there is none
    check_limit(model_, asked);
    const PointForecast point = curve_.value().at(asked);
    there.network = at_point(from.network, *curve_, point);
    there.device_name = from.device_name;
    there.origin = from.origin;
    there.note = from.note;
    there.clock_workloads = curve_->curve().parameters().workloads;
    there.relative_to_default = {default_.real, curve_->relative(point, default_)};
    return there;
}

}  // namespace joulecast::cli
