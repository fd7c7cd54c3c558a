#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "joulecast/forecast/published/subject.h"

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

/// All that forecast operations, in the order of the tables. One of whole networks is apart (lattuada.h).
std::span<const Baseline> baselines();
/// The one of that name, or nullptr.
const Baseline* find_baseline(std::string_view name);
/// "roofline, paleo, ...", for messages and help.
std::string baseline_names();

}  // namespace joulecast
