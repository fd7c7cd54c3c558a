#include "joulecast/answer/network_over_clocks.h"

#include <utility>

namespace joulecast {

NetworkOverClocks::NetworkOverClocks(Forecast forecast) : forecast_(std::move(forecast)) {
    const DeviceModel& model = *forecast_.model;
    if (why_no_clocks(model).empty()) {
        curve_.emplace(forecast_.network, model);
        default_ = curve_->at({});
    }
    auto operations = std::exchange(forecast_.network.operations, {});
    summary_ = forecast_;
    forecast_.network.operations = std::move(operations);
}

Forecast NetworkOverClocks::at(const OperatingPoint& asked, bool operations) const {
    const Forecast& from = operations ? forecast_ : summary_;
    if (!curve_) clock_parameters(*from.model);  // throws, and says why there is none
    check_limit(*from.model, asked);
    const PointForecast point = curve_.value().at(asked);
    Forecast there;
    there.network = at_point(from.network, *curve_, point);
    there.device_name = from.device_name;
    there.threads = from.threads;
    there.origin = from.origin;
    there.note = from.note;
    there.clock_workloads = curve_->curve().parameters().workloads;
    there.relative_to_default = {default_.real, curve_->relative(point, default_)};
    there.device = from.device;
    there.model = from.model;
    there.graph = from.graph;
    return there;
}

}  // namespace joulecast
