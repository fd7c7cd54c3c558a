#include "joulecast/predict/forecast_cache.h"

#include <algorithm>
#include <utility>

namespace joulecast {

ForecastCache::ForecastCache(const DeviceModel& device, std::span<const Feature* const> columns,
                             const MeasuredOperations& measured, std::size_t capacity)
    : device_(device),
      columns_(columns.begin(), columns.end()),
      measured_(measured),
      half_capacity_(std::max<std::size_t>(1, capacity / 2)) {}

const OperationForecast& ForecastCache::forecast(const Operation& operation) {
    const Sought sought{operation, hash(operation)};
    if (const auto found = young_.find(sought); found != young_.end()) {
        ++hits_;
        return *found;
    }
    if (const auto found = old_.find(sought); found != old_.end()) {
        ++hits_;
        auto forecast = old_.extract(found);
        make_room();
        return *young_.insert(std::move(forecast)).position;
    }
    ++misses_;
    auto forecast = forecast_operation(device_, columns_, prepare(operation, device_.device), measured_);
    make_room();
    return *young_.insert(std::move(forecast)).first;
}

void ForecastCache::make_room() {
    if (young_.size() < half_capacity_) return;
    old_.clear();
    std::swap(old_, young_);
}

}  // namespace joulecast
