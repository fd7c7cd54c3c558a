#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "joulecast/train/train.h"

namespace joulecast {

/// What dynamic_watts() is made of.
inline constexpr std::array<double DynamicPower::*, 5> dynamic_parts{
    &DynamicPower::flop_w, &DynamicPower::byte_w, &DynamicPower::busy_w, &DynamicPower::active_w, &DynamicPower::on_w};

/// Whether the core's voltage multiplies that part.
constexpr bool follows_voltage(std::size_t part) {
    return dynamic_parts[part] != &DynamicPower::byte_w;
}

/// A measured row, all relative to its power.
struct PowerShares {
    std::size_t row = 0;                                  ///< its place among all rows
    double x = 1;                                         ///< its core clock over the highest
    std::array<double, dynamic_parts.size()> of_parts{};  ///< what a watt of each part comes to there
    double above_idle = 0;                                ///< what the parts have to come to
};

/// The time by which the work of a row becomes power: by its law, as of a call that nobody measured, or as measured.
enum class TimeOfWork { told, measured };

/// Of the rows whose power was measured and whose family has a law. `device` has its laws, its clocks and over_clocks.
std::vector<PowerShares> power_shares(const DeviceModel& device, std::span<const TrainingRow> rows,
                                      TimeOfWork time = TimeOfWork::told);

}  // namespace joulecast
