#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "joulecast/device/device_table.h"
#include "joulecast/train/pooled.h"

namespace joulecast::testing {

/// Times by a rule that the test knows: a launch of 20 us, and a kernel of `slowdown` times 1.3 times the roofline and
/// 2 us.
inline constexpr double made_up_launch_s = 20e-6;

inline double made_up_kernel_s(const PreparedOperation& operation, double slowdown) {
    return slowdown * 1.3 * seconds(operation.roofline) + usual_kernel_latency_s;
}

/// Products of many shapes and additions of many sizes.
inline std::vector<std::string> made_up_operations() {
    std::vector<std::string> all;
    for (const int m : {1, 100, 300, 700, 1500, 3000}) {
        for (const int n : {64, 250, 1024, 2000}) {
            for (const int k : {128, 512, 3000}) {
                const auto text = [](int size) { return std::to_string(size); };
                all.push_back("aten::linear(input=f32[" + text(m) + "," + text(k) + "], weight=f32[" + text(n) + "," +
                              text(k) + "])");
                all.push_back("aten::add.Tensor(self=f32[" + text(m * n) + "," + text(k / 64) + "], other=f32[" +
                              text(m * n) + "," + text(k / 64) + "])");
            }
        }
    }
    return all;
}

inline void add_made_up_row(DeviceRows& rows, const std::string& text, double slowdown) {
    TrainingRow row;
    row.operation = prepare(parse_operation(text), rows.device, Math::ieee);
    row.group = operation_group(row.operation.operation);
    row.time_s = made_up_launch_s + made_up_kernel_s(row.operation, slowdown);
    rows.rows.push_back(std::move(row));
}

inline DeviceRows made_up_rows(const std::string& id, double slowdown) {
    DeviceRows rows;
    rows.device = find_device(id);
    rows.setting.device = rows.device.id;
    rows.setting.host = Host::python;
    for (const std::string& text : made_up_operations()) add_made_up_row(rows, text, slowdown);
    return rows;
}

/// Cards that sustain their peaks alike, at 0.9 to 1.1 of one law.
inline std::vector<DeviceRows> three_made_up_gpus() {
    return {made_up_rows("p100", 0.9), made_up_rows("v100-32g-pcie", 1.0), made_up_rows("a100-40g-sxm", 1.1)};
}

inline TrainSettings quick_settings() {
    TrainSettings settings;
    settings.learner = Learner::extra_trees;
    settings.trees = 8;
    settings.threads = 1;
    return settings;
}

}  // namespace joulecast::testing
