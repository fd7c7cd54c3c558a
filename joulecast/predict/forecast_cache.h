#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "joulecast/graph/operation_hash.h"
#include "joulecast/predict/forecast_operation.h"

namespace joulecast {

/// Forecasts of operations on one device and setting, each made once: for searches, which ask for the same operations
/// again and again. Operations are told apart as their signatures do, without writing these. Bounded: at most
/// `capacity` forecasts of about 1 kB each are kept, those asked for lately; what is asked for again after it was
/// dropped is forecast anew, to the same result. Not for several threads at once: one cache for each.
class ForecastCache {
  public:
    static constexpr std::size_t default_capacity = std::size_t{1} << 16U;

    /// Device and measured operations must outlive the cache and stay as they are. A capacity below 2 counts as 2.
    ForecastCache(const DeviceModel& device, std::span<const Feature* const> columns,
                  const MeasuredOperations& measured, std::size_t capacity = default_capacity);

    /// What forecast_operation() says of one call; valid until the next call. Throws what that throws.
    const OperationForecast& forecast(const Operation& operation);

    std::size_t size() const { return young_.size() + old_.size(); }
    std::uint64_t hits() const { return hits_; }
    std::uint64_t misses() const { return misses_; }

  private:
    struct Sought {
        const Operation& operation;
        std::size_t hash;
    };
    // Not noexcept: then the table keeps the hash beside each element and compares operations only where it is equal.
    struct HashOperation {
        using is_transparent = void;
        std::size_t operator()(const OperationForecast& forecast) const { return hash(forecast.operation); }
        std::size_t operator()(const Sought& sought) const { return sought.hash; }
    };
    struct SameOperation {
        using is_transparent = void;
        bool operator()(const OperationForecast& a, const OperationForecast& b) const {
            return a.operation == b.operation;
        }
        bool operator()(const Sought& a, const OperationForecast& b) const { return a.operation == b.operation; }
        bool operator()(const OperationForecast& a, const Sought& b) const { return a.operation == b.operation; }
    };
    using Generation = std::unordered_set<OperationForecast, HashOperation, SameOperation>;

    /// Once the young are half of the capacity they become the old ones, and the old ones go.
    void make_room();

    const DeviceModel& device_;
    std::vector<const Feature*> columns_;
    const MeasuredOperations& measured_;
    std::size_t half_capacity_;
    Generation young_;
    Generation old_;
    std::uint64_t hits_ = 0;
    std::uint64_t misses_ = 0;
};

}  // namespace joulecast
