#include "joulecast/predict/measured_operations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace joulecast {
namespace {

Measurement measured(const std::string& text) {
    Measurement m;
    m.operation = parse_operation(text);
    m.time.median_s = 2e-3;
    m.hot.emplace();
    m.hot->median_s = 1e-3;
    m.issue.emplace();
    return m;
}

double in_network(const Measurement& m, double cache_bytes) {
    return seconds_in_network(m, dimensions(m.operation), cache_bytes);
}

TEST(SecondsInNetwork, AreHotAsFarAsInputsAndOutputsFitIntoTheCache) {
    const Measurement relu = measured("aten::relu(self=f32[1000000])");  // 4 MB in, 4 MB out
    EXPECT_DOUBLE_EQ(in_network(relu, 16e6), 1e-3);
    EXPECT_DOUBLE_EQ(in_network(relu, 4e6), 1.5e-3);
}

TEST(SecondsInNetwork, AreColdForWeights) {
    // 4 MB of weights beside 8 kB of input and output.
    const Measurement linear = measured("aten::linear(input=f32[1,1000], weight=f32[1000,1000])");
    EXPECT_NEAR(in_network(linear, 16e6), 2e-3, 3e-6);
}

TEST(SecondsInNetwork, AreAsMeasuredWhereNobodyToldMore) {
    Measurement on_a_cpu = measured("aten::relu(self=f32[1000000])");
    on_a_cpu.issue.reset();
    EXPECT_DOUBLE_EQ(in_network(on_a_cpu, 16e6), 2e-3);
    EXPECT_DOUBLE_EQ(in_network(measured("aten::relu(self=f32[1000000])"), std::nan("")), 2e-3);
    EXPECT_DOUBLE_EQ(in_network(measured("aten::relu(self=f32[1000000]~)"), 16e6), 2e-3);  // trained
}

}  // namespace
}  // namespace joulecast
