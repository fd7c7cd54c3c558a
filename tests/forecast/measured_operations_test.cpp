#include "joulecast/forecast/measured_operations.h"

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

InNetwork in_network(const Measurement& m, double cache_bytes) {
    return in_network(m, dimensions(m.operation), cache_bytes);
}

TEST(SecondsInNetwork, AreShorterWhereTheCacheHasWhatWasJustWritten) {
    const Measurement relu = measured("aten::relu(self=f32[1000000])");  // 4 MB in, 4 MB out
    Measurement slow_when_hot = relu;
    slow_when_hot.hot->median_s = 1.8e-3;
    // A cache without end: hot. The same set again and again touches 8 MB before it reads a byte again, a network 4 MB.
    EXPECT_NEAR(in_network(relu, 1e12).seconds, 1e-3, 1e-9);
    EXPECT_NEAR(in_network(relu, 1e12).kept_share, 0.5, 1e-9);
    // Of 8 MB a half is found in 8 MB: 1 ms for half of the misses. A network touches 8 MB, too, from the middle of the
    // call that wrote the 4 MB to the middle of this one, and half of what is read is found.
    EXPECT_NEAR(in_network(slow_when_hot, 8e6).kept_share, 0.25, 1e-9);
    EXPECT_NEAR(in_network(slow_when_hot, 8e6).seconds, 1.8e-3, 1e-9);
    // Of 8 MB four fifths are found in 16 MB.
    EXPECT_NEAR(in_network(slow_when_hot, 16e6).kept_share, 0.4, 1e-9);
    // 1 MB in, 4 MB out: 3.5 MB from middle to middle, but 5 MB from one such call to the next.
    const Measurement widens = measured("aten::upsample_nearest2d(self=f32[1,1,500,500], output_size=[1000,1000])");
    EXPECT_NEAR(in_network(widens, 3.5e6).kept_share, 0.5 / 5, 1e-9);
    EXPECT_NEAR(in_network(widens, 3.5e6).seconds, 2e-3 / 3, 1e-9);  // never below two thirds of hot
    // Hardly any cache: cold.
    EXPECT_NEAR(in_network(relu, 1e4).kept_share, 0, 1e-5);
    EXPECT_LE(in_network(relu, 4e6).seconds, 2e-3);
}

TEST(SecondsInNetwork, AreColdForWeights) {
    // 4 MB of weights beside 8 kB of input and output.
    const Measurement linear = measured("aten::linear(input=f32[1,1000], weight=f32[1000,1000])");
    EXPECT_NEAR(in_network(linear, 64e6).seconds, 2e-3, 5e-6);
    EXPECT_NEAR(in_network(linear, 64e6).kept_share, 0.001, 1e-4);
}

TEST(SecondsInNetwork, AreAsMeasuredWhereNobodyToldMore) {
    Measurement on_a_cpu = measured("aten::relu(self=f32[1000000])");
    on_a_cpu.issue.reset();
    EXPECT_DOUBLE_EQ(in_network(on_a_cpu, 16e6).seconds, 2e-3);
    EXPECT_DOUBLE_EQ(in_network(measured("aten::relu(self=f32[1000000])"), std::nan("")).seconds, 2e-3);
}

TEST(SecondsInNetwork, OfTrainingFindTheGradientButNotWhatWasKept) {
    // Forward it reads 4 MB, backward the gradient and its kept output or input, 4 MB each.
    const InNetwork found = in_network(measured("aten::relu(self=f32[1000000]~)"), 1e12);
    const Dimensions sizes = dimensions(parse_operation("aten::relu(self=f32[1000000]~)"));
    const auto read = static_cast<double>(sizes.forward.bytes_read + sizes.backward.bytes_read);
    ASSERT_DOUBLE_EQ(read, 12e6);
    EXPECT_NEAR(found.seconds, 1e-3 + 1e-3 * 4 / 12, 1e-9);
}

}  // namespace
}  // namespace joulecast
