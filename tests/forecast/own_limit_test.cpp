#include "joulecast/forecast/own_limit.h"

#include <gtest/gtest.h>

#include "joulecast/device/device_table.h"

namespace joulecast {
namespace {

/// A card of 250 W that the predictor has some operations of.
DeviceModel a100() {
    DeviceModel model;
    model.device = find_device("a100-40g-pcie");
    model.unseen.emplace();
    return model;
}

OperationForecast kernel(bool is_own, double seconds, double compute, double memory) {
    OperationForecast operation;
    operation.is_own = is_own;
    operation.kernel_s = seconds;
    operation.balance.compute = compute;
    operation.balance.memory = memory;
    return operation;
}

TEST(IsForecastUnlimited, WhereOthersToldTheKernelsThatFollowTheClock) {
    const DeviceModel card = a100();
    NetworkForecast network;
    network.operations = {kernel(false, 3e-3, 2e-3, 1e-3), kernel(true, 1e-3, 1e-3, 0)};
    EXPECT_TRUE(is_forecast_unlimited(network, card));
    network.operations[1].count = 4;
    EXPECT_FALSE(is_forecast_unlimited(network, card));
    // What waits for memory has no say, whoever told it.
    network.operations.push_back(kernel(false, 9e-3, 1e-3, 8e-3));
    EXPECT_FALSE(is_forecast_unlimited(network, card));
}

TEST(IsForecastUnlimited, IsACardOfWhichNothingWasMeasured) {
    NetworkForecast network;
    network.operations = {kernel(false, 3e-3, 2e-3, 1e-3)};
    EXPECT_TRUE(is_forecast_unlimited(network, a100()));
    DeviceModel measured = a100();
    measured.unseen.reset();
    EXPECT_FALSE(is_forecast_unlimited(network, measured));
}

}  // namespace
}  // namespace joulecast
