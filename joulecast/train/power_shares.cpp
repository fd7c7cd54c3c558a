#include "joulecast/train/power_shares.h"

#include <algorithm>

#include "joulecast/forecast/over_clocks.h"
#include "joulecast/physics/law.h"

namespace joulecast {

std::vector<PowerShares> power_shares(const DeviceModel& device, std::span<const TrainingRow> rows,
                                      TimeOfWork time_of) {
    std::vector<PowerShares> shares;
    DeviceModel unit = device;
    for (const TrainingRow& row : rows) {
        const Law* law = find_law(device, row.operation.operation);
        if (!law || !(row.power_w > 0)) continue;
        const ClockPlace& at = row.operation.clocks;
        const double metered = row.metered_s > 0 ? row.metered_s : row.time_s;
        const double told = metered / row.time_s * seconds(*law, row.operation.roofline);
        const double time = time_of == TimeOfWork::told ? told : metered;
        PowerShares& share = shares.emplace_back();
        share.row = static_cast<std::size_t>(&row - rows.data());
        share.x = at.x;
        for (std::size_t part = 0; part < dynamic_parts.size(); ++part) {
            DynamicPower watt;
            watt.*dynamic_parts[part] = 1;
            unit.over_clocks->dynamic = watt;
            share.of_parts[part] = dynamic_watts(unit, row.operation, *law, time) / row.power_w;
        }
        share.above_idle = std::max(row.power_w - static_w(*device.clocks, at.x, at.y), 0.0) / row.power_w;
    }
    return shares;
}

}  // namespace joulecast
