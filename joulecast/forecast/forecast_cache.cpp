#include "joulecast/forecast/forecast_cache.h"

#include <algorithm>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/forecast/hosts.h"
#include "joulecast/forecast/over_clocks.h"
#include "joulecast/graph/operation_key.h"

namespace joulecast {
namespace {

constexpr std::size_t fewest_slots = 64;

}  // namespace

bool ForecastCache::Generation::holds(const Slot& slot, const Sought& sought) const {
    if (slot.hash != sought.hash || slot.place == taken || words_[slot.words] != sought.key.size()) return false;
    return std::equal(sought.key.begin(), sought.key.end(), words_.begin() + slot.words + 1);
}

std::size_t ForecastCache::Generation::slot_of(const Sought& sought) const {
    if (slots_.empty()) return 0;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = sought.hash & mask;; at = (at + 1) & mask) {
        if (slots_[at].place == nowhere) return slots_.size();
        if (holds(slots_[at], sought)) return at;
    }
}

const OperationForecast* ForecastCache::Generation::find(const Sought& sought) const {
    const std::size_t at = slot_of(sought);
    return at == slots_.size() ? nullptr : &forecasts_[slots_[at].place];
}

std::optional<OperationForecast> ForecastCache::Generation::take(const Sought& sought) {
    const std::size_t at = slot_of(sought);
    if (at == slots_.size()) return {};
    ++taken_;
    // The slot stays used: those behind it are found past it.
    return std::move(forecasts_[std::exchange(slots_[at].place, taken)]);
}

void ForecastCache::Generation::put(const Slot& slot) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = slot.hash & mask;
    while (slots_[at].place != nowhere) at = (at + 1) & mask;
    slots_[at] = slot;
}

void ForecastCache::Generation::grow() {
    const auto before = std::exchange(slots_, std::vector<Slot>(std::max(fewest_slots, 2 * slots_.size())));
    for (const Slot& slot : before) {
        if (slot.place != nowhere) put(slot);
    }
}

const OperationForecast& ForecastCache::Generation::add(const Sought& sought, OperationForecast forecast) {
    if (2 * (forecasts_.size() + 1) > slots_.size()) grow();
    put({sought.hash, static_cast<std::uint32_t>(words_.size()), static_cast<std::uint32_t>(forecasts_.size())});
    words_.push_back(sought.key.size());
    words_.insert(words_.end(), sought.key.begin(), sought.key.end());
    forecasts_.push_back(std::move(forecast));
    return forecasts_.back();
}

ForecastCache::ForecastCache(const DeviceModel& device, std::span<const Feature* const> columns,
                             const MeasuredOperations& measured, std::size_t capacity, std::optional<Host> host)
    : device_(device),
      clocks_(place_of(device, device.point)),
      columns_(columns.begin(), columns.end()),
      measured_(measured),
      half_capacity_(std::clamp<std::size_t>(capacity / 2, 1, std::size_t{1} << 24U)),
      host_(host.value_or(device.point.host)) {
    if (const auto why = refusal(host_, device_.device, device_.point.host)) throw Error(*why + ".");
}

const OperationForecast& ForecastCache::forecast(const Operation& operation) {
    key_.clear();
    append_key(operation, key_);
    const Sought sought{key_, hash(key_)};
    if (const OperationForecast* found = young_.find(sought)) {
        ++hits_;
        return *found;
    }
    if (auto found = old_.take(sought)) {
        ++hits_;
        make_room();
        return young_.add(sought, *std::move(found));
    }
    ++misses_;
    auto forecast =
        forecast_operation(device_, columns_, prepare_unnamed(operation, device_, clocks_), measured_, *kernels_);
    if (host_ != device_.point.host) forecast = issued_from(host_, device_, std::move(forecast));
    make_room();
    return young_.add(sought, std::move(forecast));
}

ForecastCache& ForecastCache::at(const TrainedClock& clock) {
    const ClockPlace place = place_of(*device_.clocks, clock.sm_clock_mhz, clock.memory_clock_mhz);
    if (place == clocks_) return *this;
    for (const auto& other : others_) {
        if (other->clocks_ == place) return *other;
    }
    auto made = std::make_unique<ForecastCache>(device_, columns_, measured_, 2 * half_capacity_, host_);
    made->clocks_ = place;
    made->share(kernels_);
    return *others_.emplace_back(std::move(made));
}

ForecastCache& ForecastCache::at(const OperatingPoint& point) {
    if (!device_.over_clocks) return *this;
    return at(TrainedClock{point.sm_clock_mhz, point.memory_clock_mhz, 0});
}

void ForecastCache::make_room() {
    if (young_.size() < half_capacity_) return;
    old_ = std::exchange(young_, {});
}

}  // namespace joulecast
