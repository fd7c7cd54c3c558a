#include "joulecast/forecast/network_difference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "joulecast/forecast/compose.h"

namespace joulecast {
namespace {

/// A call of `seconds` that is known within exp(1.645 sigma).
OperationForecast call(const std::string& text, std::int64_t count, double seconds, double sigma) {
    OperationForecast one;
    one.operation = parse_operation(text);
    one.count = count;
    const double spread = spread_90(sigma);
    one.cost.device_time = {Seconds(seconds), Seconds(seconds / spread), Seconds(seconds * spread)};
    one.energy = {Joules(2 * seconds), Joules(2 * seconds / spread), Joules(2 * seconds * spread)};
    return one;
}

/// A network that costs `factor` times the sum of its calls.
NetworkForecast network(std::vector<OperationForecast> calls, double factor = 1) {
    NetworkForecast forecast;
    double sum = 0;
    for (const OperationForecast& one : calls)
        sum += static_cast<double>(one.count) * one.cost.device_time.value.value();
    forecast.time.value = Seconds(factor * sum);
    forecast.energy.value = Joules(2 * factor * sum);
    forecast.operations = std::move(calls);
    return forecast;
}

constexpr const char* relu = "aten::relu(self=f32[8])";
constexpr const char* gelu = "aten::gelu(self=f32[8])";
constexpr const char* tanh_ = "aten::tanh(self=f32[8])";

TEST(NetworkDifference, OfANetworkAndItselfIsNothingForSure) {
    const auto one = network({call(relu, 3, 1e-3, 0.5), call(gelu, 1, 2e-3, 0.5)});
    const auto found = difference(one, one, {});
    EXPECT_EQ(found.time_s.value, 0);
    EXPECT_EQ(found.time_s.low, 0);
    EXPECT_EQ(found.time_s.high, 0);
    EXPECT_FALSE(found.time_s.exceeds_error());
}

TEST(NetworkDifference, HasTheErrorOfTheCallsThatOneHasMoreOf) {
    // The relu of both is known within a factor of 5 and cancels; three gelu more, 1 ms each known within 10 %.
    const auto before = network({call(relu, 100, 1e-3, 1), call(gelu, 1, 1e-3, 0.1)});
    const auto after = network({call(relu, 100, 1e-3, 1), call(gelu, 4, 1e-3, 0.1)});
    const auto found = difference(before, after, {});
    EXPECT_NEAR(found.time_s.value, 3e-3, 1e-12);
    EXPECT_NEAR(found.time_s.high - found.time_s.value, 1.645 * 3e-3 * 0.1, 1e-6);
    EXPECT_TRUE(found.time_s.exceeds_error());
    EXPECT_NEAR(found.energy_j.value, 6e-3, 1e-12);
    EXPECT_NEAR(found.energy_j.value - found.energy_j.low, 1.645 * 6e-3 * 0.1, 2e-6);
}

TEST(NetworkDifference, AddsErrorsOfDifferentOperationsAsIndependent) {
    // gelu goes, tanh comes: 3 and 4 tenths of a millisecond off, together 5.
    const auto before = network({call(gelu, 1, 3e-3, 0.1)});
    const auto after = network({call(tanh_, 1, 4e-3, 0.1)});
    const auto found = difference(before, after, {});
    EXPECT_NEAR(found.time_s.value, 1e-3, 1e-12);
    EXPECT_NEAR(found.time_s.high - found.time_s.value, 1.645 * 5e-4, 1e-6);
    EXPECT_TRUE(found.time_s.exceeds_error());
    const auto less = network({call(tanh_, 1, 3.5e-3, 0.1)});
    EXPECT_FALSE(difference(before, less, {}).time_s.exceeds_error());  // 0.5 ms with 0.46 ms: 1.645 of it are 0.76
}

TEST(NetworkDifference, TellsSumsOfGradientsFromCallsOfTheGraph) {
    // The same text, but a forecast of its own: 1 ms less of one is not the other's 1 ms.
    auto sum = call(relu, 1, 1e-3, 0);
    sum.part = StepPart::gradient_sum;
    const auto before = network({call(relu, 2, 1e-3, 0.1), sum});
    const auto after = network({call(relu, 3, 1e-3, 0.1), sum});
    const auto found = difference(before, after, {});
    EXPECT_NEAR(found.time_s.high - found.time_s.value, 1.645 * 1e-4, 1e-6);
}

TEST(NetworkDifference, ScalesErrorsAsNetworksCompareToTheirSums) {
    const auto before = network({call(gelu, 1, 1e-3, 0.1)}, 2);
    const auto after = network({call(gelu, 2, 1e-3, 0.1)}, 2);
    const auto found = difference(before, after, {});
    EXPECT_NEAR(found.time_s.high - found.time_s.value, 2 * 1.645 * 1e-4, 1e-6);
}

TEST(NetworkDifference, ComposingErrsByAShareOfTheDifference) {
    const auto before = network({call(gelu, 1, 1e-3, 0)});
    const auto after = network({call(gelu, 2, 1e-3, 0)});
    DeviceModel device;
    device.sigma_network = 0.2;
    EXPECT_NEAR(difference(before, after, device).time_s.high - 1e-3, 1.645 * 0.2 * 1e-3, 1e-7);
}

TEST(NetworkDifference, IsNotKnownWhereOneOfBothIsNot) {
    auto before = network({call(gelu, 1, 1e-3, 0)});
    before.energy = {};
    const auto found = difference(before, network({call(gelu, 2, 1e-3, 0)}), {});
    EXPECT_TRUE(std::isnan(found.energy_j.value));
    EXPECT_FALSE(found.energy_j.exceeds_error());
    EXPECT_TRUE(std::isnan(found.peak_memory_bytes.value));
}

TEST(NetworkDifference, OfPeaksIsKnownAsWellAsPeaksAre) {
    auto before = network({call(gelu, 1, 1e-3, 0)});
    auto after = before;
    before.cost.peak_memory.value = Bytes(1e6);
    after.cost.peak_memory.value = Bytes(3e6);
    before.resident_bytes = 5;
    after.resident_bytes = 7;
    DeviceModel device;
    device.memory_half_width = std::log(1.1);
    const auto found = difference(before, after, device);
    EXPECT_DOUBLE_EQ(found.peak_memory_bytes.value, 2e6);
    EXPECT_NEAR(found.peak_memory_bytes.high, 2.2e6, 1);
    EXPECT_DOUBLE_EQ(found.resident_bytes, 2);
}

}  // namespace
}  // namespace joulecast
