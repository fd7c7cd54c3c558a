#include "joulecast/evaluate/leave_device_out.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/evaluate/published_baselines.h"
#include "joulecast/units/statistics.h"
#include "tests/train/made_up_gpus.h"

namespace joulecast {
namespace {

std::vector<MeasuredDevice> three() {
    std::vector<MeasuredDevice> devices;
    for (DeviceRows& rows : testing::three_made_up_gpus()) devices.push_back({std::move(rows), {}, {}});
    return devices;
}

ValidationSettings quick() {
    ValidationSettings settings;
    settings.training = testing::quick_settings();
    return settings;
}

TEST(ValidateDevices, ForecastsEveryRowOfADeviceByTheOthers) {
    const auto devices = three();
    auto settings = quick();
    settings.baselines = {&thesis_forest};
    const auto validation = validate_devices(devices, settings, 0);
    std::map<std::pair<std::string, std::string>, std::size_t> rows;
    std::map<std::string, std::set<std::size_t>> folds;
    for (const OutOfFoldRow& row : validation.operations) {
        ++rows[{row.model, row.device}];
        folds[row.device].insert(row.fold);
    }
    for (const MeasuredDevice& device : devices) {
        const std::string id = device.rows.device.id;
        EXPECT_EQ((rows[{"joulecast", id}]), device.rows.rows.size()) << id;
        EXPECT_EQ((rows[{"thesis_forest", id}]), device.rows.rows.size()) << id;
        EXPECT_EQ(folds[id].size(), 1U);
    }
    for (const Accuracy& a : accuracies(validation.operations)) {
        if (a.model != "joulecast" || a.family != "all") continue;
        EXPECT_LT(a.mape, 0.15) << a.device;
    }
}

TEST(ValidateDevices, ProbesAreNotAmongTheResults) {
    const auto devices = three();
    const auto validation = validate_devices(devices, quick(), 5);
    std::map<std::string, std::size_t> rows;
    for (const OutOfFoldRow& row : validation.operations) ++rows[row.device];
    for (const MeasuredDevice& device : devices) {
        const std::size_t left = device.rows.rows.size() - rows[device.rows.device.id];
        EXPECT_GT(left, 0U);
        EXPECT_LE(left, 5U);
    }
}

/// Kernels of a graph, on a device whose calls from Python are there, too.
MeasuredDevice replayed() {
    MeasuredDevice device{testing::made_up_rows("v100-32g-pcie", 1.0), {}, {}};
    device.rows.setting.host = Host::graph;
    for (TrainingRow& row : device.rows.rows) {
        row.time_s -= testing::made_up_launch_s;
        row.host = Host::graph;
    }
    return device;
}

// The launch of a call from Python was charged to each: a kernel of 2 us was told as 22.
TEST(ValidateDevices, ComparesKernelsOfAGraphWithoutALaunch) {
    auto devices = three();
    devices.push_back(replayed());
    const auto validation = validate_devices(devices, quick(), 0);
    std::vector<double> off;
    for (const OutOfFoldRow& row : validation.operations) {
        if (row.device == "v100-32g-pcie" && row.measured < 10e-6)
            off.push_back(std::abs(row.predicted / row.measured - 1));
    }
    ASSERT_FALSE(off.empty());
    EXPECT_LT(median(off), 0.2);
}

TEST(ValidateDevices, TakesThreeDevices) {
    auto devices = three();
    devices.pop_back();
    EXPECT_THROW(validate_devices(devices, quick(), 0), Error);
}

}  // namespace
}  // namespace joulecast
