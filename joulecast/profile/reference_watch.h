#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/device/device.h"
#include "joulecast/graph/operation.h"
#include "joulecast/measure/measurement.h"

namespace joulecast {

/// What is measured again and again along a sweep: a product of square matrices that takes a few milliseconds on that
/// kind of device and leans on its cores, caches and clock alike.
Operation reference_operation(Device::Kind kind);
/// Its time alone: repeats must not cost more than the sweep can spare.
MeasureSettings reference_settings(MeasureSettings of_sweep);
/// What one repeat takes, about.
inline constexpr double reference_cost_s = 0.35;
/// Repeats at the start of each stage, and the interval of those that follow.
inline constexpr std::int64_t first_repeats = 3;
inline constexpr double reference_interval_s = 60;
/// Where a sweep follows the machine's pace (joulecast/dataset/pace.h): a shorter repeat so often, and what it takes.
inline constexpr double pace_interval_s = 5;
inline constexpr double pace_cost_s = 0.12;
MeasureSettings pace_settings(MeasureSettings of_sweep);
/// At the end of a stage a tenth of its operations, but no more than these, are drawn and measured a second time; along
/// the way one with every repeat.
inline constexpr std::size_t most_drawn = 8;

/// Tells from the repeats whether the machine still is what it was at the start (docs/method.md).
class ReferenceWatch {
  public:
    /// The first ones are not complete, or the last one is an interval ago.
    bool due(double now_s) const;
    /// Without one more, what was measured since the last repeat would stand unchecked.
    bool unchecked_since(double measured_s) const { return measured_s > last_s_; }

    enum class Verdict { good, drifted, settled };
    /// A repeat that ended at `now_s`. It has drifted when it lies further from the first ones than three of its own
    /// half widths and three sigma of the good ones together. The third in a row is `settled`: the machine stays as it
    /// is now, and these three become the first ones.
    Verdict add(double time_s, double half_width_s, double now_s);
    /// Nothing came of a repeat: the next one comes after an interval.
    void skip(double now_s);

    /// How much longer than the first ones the last repeat took, as a share.
    double excess() const { return excess_; }

  private:
    std::vector<double> first_;
    std::vector<double> good_;
    std::vector<double> drifted_;
    std::optional<double> asked_s_;
    double last_s_ = 0;
    double excess_ = 0;
};

}  // namespace joulecast
