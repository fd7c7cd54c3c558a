#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "cli/forecast_text.h"
#include "cli/json_tree.h"
#include "joulecast/forecast/network_difference.h"

namespace joulecast::cli {

/// What some calls take on the device; NaN where it is not known, or where there are none.
struct CallsCost {
    double time_s = std::numeric_limits<double>::quiet_NaN();
    double energy_j = std::numeric_limits<double>::quiet_NaN();
};

/// Two networks forecast on one device.
class DiffCosts {
  public:
    /// Both by that model, in one setting and at one clock.
    DiffCosts(Forecast before, Forecast after, const DeviceModel& device);
    DiffCosts(const DiffCosts&) = delete;
    DiffCosts& operator=(const DiffCosts&) = delete;

    /// `count` calls of an operation of the first, or the second, of both; without calls nothing is known.
    CallsCost before(const std::string& signature, std::int64_t count) const;
    CallsCost after(const std::string& signature, std::int64_t count) const;
    /// What was asked, both networks and their difference.
    nlohmann::ordered_json to_json() const;
    /// "time 1.8 ms → 3.4 ms: 1.6 ms more (1.4 – 1.8 ms), beyond the error", and the same of energy and memory.
    std::string to_text(const std::string& arrow) const;

  private:
    /// Means over the calls of an operation, whose roles in an engine's kernels may differ.
    struct MeanCost {
        std::int64_t calls = 0;
        CallsCost each;
    };
    using BySignature = std::map<std::string, MeanCost>;
    static BySignature by_signature(const NetworkForecast& network);
    static CallsCost cost(const BySignature& operations, const std::string& signature, std::int64_t count);

    Forecast before_;
    Forecast after_;
    BySignature operations_before_;
    BySignature operations_after_;
    NetworkDifference difference_;
};

}  // namespace joulecast::cli
