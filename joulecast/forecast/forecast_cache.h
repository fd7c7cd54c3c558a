#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "joulecast/forecast/forecast_operation.h"
#include "joulecast/forecast/forward_kernels.h"

namespace joulecast {

/// Forecasts of operations on one device and setting, each made once: for searches, which ask for the same operations
/// again and again. Operations are told apart as their signatures do, without writing these. Bounded: at most
/// `capacity` forecasts of about 1 kB each are kept, those asked for lately; what is asked for again after it was
/// dropped is forecast anew, to the same result. Not for several threads at once: one cache for each.
class ForecastCache {
  public:
    static constexpr std::size_t default_capacity = std::size_t{1} << 16U;

    /// Device and measured operations must outlive the cache and stay as they are. A capacity below 2 counts as 2.
    /// Without `host` calls are issued as the device's operations were. Throws Error for a host that nothing can be
    /// said of (hosts.h).
    ForecastCache(const DeviceModel& device, std::span<const Feature* const> columns,
                  const MeasuredOperations& measured, std::size_t capacity = default_capacity,
                  std::optional<Host> host = std::nullopt);

    /// Forward passes that others forecast, too, are forecast once for all of them.
    void share(std::shared_ptr<ForwardKernels> kernels) { kernels_ = std::move(kernels); }

    /// What forecast_operation() says of one call, issued from the host; valid until the next call. Throws what that
    /// throws.
    const OperationForecast& forecast(const Operation& operation);

    const DeviceModel& device() const { return device_; }
    /// Where the forecasts hold: the clocks of the device's point, all 1 for a model of one clock.
    const ClockPlace& clocks() const { return clocks_; }
    /// The same forecasts at other clocks, kept in a cache of their own. Only for a model over clocks.
    ForecastCache& at(const TrainedClock& clock);
    /// At the clocks of a point; this one for a model of one clock.
    ForecastCache& at(const OperatingPoint& point);
    /// Who issues the calls.
    Host host() const { return host_; }
    std::size_t size() const { return young_.size() + old_.size(); }
    std::uint64_t hits() const { return hits_; }
    std::uint64_t misses() const { return misses_; }

  private:
    /// An operation's key and its hash.
    struct Sought {
        std::span<const std::uint64_t> key;
        std::uint64_t hash;
    };

    /// Forecasts by key. What decides the speed of a search is how many places in memory it touches: here a slot, the
    /// key's words, which lie side by side, and the forecast.
    class Generation {
      public:
        /// nullptr where it is not among these; valid until the next add().
        const OperationForecast* find(const Sought& sought) const;
        /// The same, which is then no longer among these.
        std::optional<OperationForecast> take(const Sought& sought);
        /// One that is not among these.
        const OperationForecast& add(const Sought& sought, OperationForecast forecast);
        std::size_t size() const { return forecasts_.size() - taken_; }

      private:
        struct Slot {
            std::uint64_t hash = 0;
            std::uint32_t words = 0;  ///< where the key begins in words_: its length, then the key
            std::uint32_t place = nowhere;
        };
        static constexpr std::uint32_t nowhere = 0xFFFFFFFFU;
        static constexpr std::uint32_t taken = 0xFFFFFFFEU;

        /// Where it is, or slots_.size().
        std::size_t slot_of(const Sought& sought) const;
        bool holds(const Slot& slot, const Sought& sought) const;
        void put(const Slot& slot);
        void grow();

        std::vector<Slot> slots_;  ///< a power of two of them, at most half of them used; probed one after the other
        std::vector<std::uint64_t> words_;
        std::vector<OperationForecast> forecasts_;
        std::size_t taken_ = 0;
    };

    /// Once the young are half of the capacity they become the old ones, and the old ones go.
    void make_room();

    const DeviceModel& device_;
    ClockPlace clocks_;
    std::vector<std::unique_ptr<ForecastCache>> others_;  ///< at other clocks
    std::vector<const Feature*> columns_;
    const MeasuredOperations& measured_;
    std::shared_ptr<ForwardKernels> kernels_ = std::make_shared<ForwardKernels>();
    std::size_t half_capacity_;
    std::vector<std::uint64_t> key_;  ///< of what is asked for
    Host host_;
    Generation young_;
    Generation old_;
    std::uint64_t hits_ = 0;
    std::uint64_t misses_ = 0;
};

}  // namespace joulecast
