#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/device/device.h"
#include "joulecast/meter/nvml.h"

namespace joulecast {

/// What a card is asked to hold; what is not named is left, or given back, as it was before.
struct ClockRequest {
    std::optional<unsigned> graphics_mhz;
    std::optional<unsigned> memory_mhz;
    std::optional<unsigned> power_limit_mw;

    bool asks_nothing() const { return !graphics_mhz && !memory_mhz && !power_limit_mw; }
    friend bool operator==(const ClockRequest&, const ClockRequest&) = default;
};

/// The clocks and the limit that a point names (NaN: none). Throws Error for numbers that no card can have.
ClockRequest clock_request(const OperatingPoint& point);

/// Why the card cannot be asked for that, as a sentence; empty if it can: clocks must be listed by the card, limits lie
/// within its constraints.
std::string why_not_supported(const NvmlGpu& gpu, const ClockRequest& request);

/// The point with clocks and limit as the card tells them now.
OperatingPoint real_point(const NvmlGpu& gpu, OperatingPoint point);

/// Time and its passing; handed in so that tests wait for nothing.
class SettleClock {
  public:
    virtual ~SettleClock() = default;
    virtual double now_s() = 0;
    virtual void wait(double seconds) = 0;
};

class SteadySettleClock final : public SettleClock {
  public:
    double now_s() override;
    void wait(double seconds) override;
};

/// When clocks count as settled after a change.
struct SettleRule {
    int equal_readings = 3;  ///< one after the other at the target
    double poll_s = 0.02;
    double rest_s = 0.25;  ///< after them: voltage and power follow the clock
    double limit_s = 3.0;  ///< given up after so long: a card may run below its target (idle, or at its power cap)
};

/// Where a card came to rest. Waits until all that was asked for is read back, `limit_s` at most.
struct Settled {
    OperatingPoint real;  ///< clocks and limit as the card tells them; the rest as asked
    std::string remark;   ///< why it is not what was asked; empty if it is
    double waited_s = 0;
};
Settled settle(const NvmlGpu& gpu, const OperatingPoint& asked, SettleClock& clock, const SettleRule& rule = {});

}  // namespace joulecast
