#include "joulecast/answer/own_clocks.h"

#include <set>

#include "joulecast/physics/clock_curve.h"
#include "joulecast/profile/checked_answer.h"

namespace joulecast {
namespace {

constexpr std::size_t least_measured = 2;

}  // namespace

std::vector<double> measured_clocks_mhz(std::span<const OperationRow> operations,
                                        std::span<const NetworkRow> networks) {
    std::set<double> clocks;
    const auto add = [&clocks](const auto& rows) {
        for (const auto& row : rows) {
            if (is_timed(row.measurement.outcome) && row.measurement.asked.sm_clock_mhz > 0)
                clocks.insert(row.measurement.asked.sm_clock_mhz);
        }
    };
    add(operations);
    add(networks);
    return {clocks.begin(), clocks.end()};
}

std::vector<double> choosable_clocks_mhz(const LoadedDevice& device) {
    std::vector<double> table = clock_table_mhz(device.device());
    if (!device.database() || table.empty() || !device.device().core_clocks_mhz.empty()) return table;
    const std::string& id = device.device().id;
    for (const Device& stored : device.database()->devices()) {
        if (stored.id == id && !stored.core_clocks_mhz.empty()) return stored.core_clocks_mhz;
    }
    std::vector<double> measured =
        measured_clocks_mhz(device.database()->operations(id), device.database()->networks(id));
    if (measured.size() < least_measured) return table;
    // What the device runs at by itself is compared with all others.
    if (table.back() > measured.back()) measured.push_back(table.back());
    return measured;
}

}  // namespace joulecast
