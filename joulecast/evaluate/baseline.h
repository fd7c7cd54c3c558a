#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "joulecast/forecast/published/subject.h"
#include "joulecast/train/train.h"

// What a validation takes beside our own forecasts: a method as a record of functions. The product has those of its
// published predictors (published_baselines.h); the table of all methods is the laboratory's.

namespace joulecast {

/// A published method after its training.
class FittedBaseline {
  public:
    FittedBaseline() = default;
    FittedBaseline(const FittedBaseline&) = delete;
    FittedBaseline& operator=(const FittedBaseline&) = delete;
    virtual ~FittedBaseline() = default;

    /// In the unit of what it was fitted to; NaN where the method has nothing to go by (Baseline::gaps says why).
    virtual double forecast(const Subject& subject) const = 0;
};

/// What published methods forecast.
enum class BaselineMetric { time, power, energy };
/// "time_s", "power_w", "energy_j".
std::string_view name(BaselineMetric metric);

struct BaselineSettings {
    BaselineMetric metric = BaselineMetric::time;
    std::uint64_t seed = 1;
    unsigned threads = 0;
};

/// A published way to forecast what an operation costs (docs/baselines.md: what each uses and what we had to assume).
struct Baseline {
    /// How a method that knows power comes by energy.
    enum class Energy { none, time_times_power, fitted };

    std::string_view name;   ///< as the tables print it
    std::string_view paper;  ///< authors and year
    std::string_view gaps;   ///< for which operations it has no forecast, and why
    bool power = false;      ///< forecasts power; time is forecast by all
    Energy energy = Energy::none;
    std::unique_ptr<FittedBaseline> (*fit)(std::span<const Observation> rows, const BaselineSettings& settings);
};

/// Whether a method forecasts that metric at all.
bool forecasts(const Baseline& baseline, BaselineMetric metric);
/// Why it has no forecast of a metric by that name.
std::string no_forecast_reason(const Baseline& baseline, std::string_view metric);

/// Seconds of a network; NaN where the method has nothing to go by.
using NetworkForecaster = std::function<double(const TrainingNetwork& network)>;

/// A published way to forecast the time of a whole network from measured networks.
struct NetworkBaseline {
    std::string_view name;   ///< as the tables print it
    std::string_view paper;  ///< authors and year
    std::string_view gaps;   ///< for which networks it has no forecast, and why
    NetworkForecaster (*fit)(std::span<const TrainingNetwork> networks, const Device& device);
};

}  // namespace joulecast
