#include "joulecast/train/held_out_operations.h"

#include <cmath>

namespace joulecast {

MeasuredOperations held_out_operations(std::span<const TrainingRow> rows, std::span<const HeldOutTime> held_out) {
    MeasuredOperations times;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const HeldOutTime& held = held_out[i];
        if (std::isnan(held.log_value)) continue;
        const double half = held.half_width;
        MeasuredOperation one;
        one.time = {Seconds(std::exp(held.log_value)), Seconds(std::exp(held.log_value - half)),
                    Seconds(std::exp(held.log_value + half))};
        if (!std::isnan(held.log_watts)) {
            const double watts_half = held.watts_half_width;
            one.power = {Watts(std::exp(held.log_watts)), Watts(std::exp(held.log_watts - watts_half)),
                         Watts(std::exp(held.log_watts + watts_half))};
        }
        MeasuredOperation& known = times[rows[i].operation.signature];
        known.time = one.time;
        if (one.power.known()) known.power = one.power;
        if (rows[i].sm_clock_mhz > 0)
            known.at_clocks.push_back({rows[i].sm_clock_mhz, rows[i].memory_clock_mhz, one.time, one.power});
    }
    return times;
}

}  // namespace joulecast
