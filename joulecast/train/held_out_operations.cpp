#include "joulecast/train/held_out_operations.h"

#include <cmath>

namespace joulecast {

MeasuredOperations held_out_operations(std::span<const TrainingRow> rows, std::span<const HeldOutTime> held_out) {
    MeasuredOperations times;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const HeldOutTime& held = held_out[i];
        if (std::isnan(held.log_value)) continue;
        const double half = held.half_width;
        MeasuredOperation operation;
        operation.time = {Seconds(std::exp(held.log_value)), Seconds(std::exp(held.log_value - half)),
                          Seconds(std::exp(held.log_value + half))};
        if (!std::isnan(held.log_watts)) {
            const double watts_half = held.watts_half_width;
            operation.power = {Watts(std::exp(held.log_watts)), Watts(std::exp(held.log_watts - watts_half)),
                               Watts(std::exp(held.log_watts + watts_half))};
        }
        MeasuredOperation& known = times[rows[i].operation.signature];
        known.time = operation.time;
        if (operation.power.known()) known.power = operation.power;
        if (rows[i].sm_clock_mhz > 0)
            known.at_clocks.push_back(
                {rows[i].sm_clock_mhz, rows[i].memory_clock_mhz, operation.time, operation.power});
    }
    return times;
}

}  // namespace joulecast
