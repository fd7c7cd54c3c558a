#pragma once

#include <optional>

#include "joulecast/answer/answer.h"
#include "joulecast/forecast/at_point.h"

namespace joulecast {

/// A forecast, to be had at several clocks and power limits. Several threads may ask it at once.
class NetworkOverClocks {
  public:
    /// Forecast::model must live as long.
    explicit NetworkOverClocks(Forecast forecast);

    const Forecast& forecast() const { return forecast_; }
    /// The same without its list of operations.
    const Forecast& summary() const { return summary_; }
    /// At the clocks and the limit of `asked`, without its list of operations where `operations` is false: that is most
    /// of the work. Throws what at_point() throws.
    Forecast at(const OperatingPoint& asked, bool operations) const;

  private:
    Forecast forecast_;
    Forecast summary_;                    ///< the same without operations
    std::optional<ForecastCurve> curve_;  ///< absent for a device without clocks
    PointForecast default_;               ///< of the curve: what the device takes by itself
};

}  // namespace joulecast
