#include "joulecast/device/device.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast {
namespace {

TEST(Device, NamesOfMathAndHostAreReadBack) {
    for (const Math math : {Math::ieee, Math::tf32}) EXPECT_EQ(parse_math(name(math)), math);
    for (const Host host : {Host::python, Host::cpp, Host::graph, Host::compiled}) {
        EXPECT_EQ(parse_host(name(host)), host);
    }
    EXPECT_FALSE(parse_math("tf64"));
    EXPECT_FALSE(parse_host(""));
}

TEST(Device, PeakDependsOnTheElementType) {
    Device device;
    device.peak_flop_per_s_fp32 = 8e12;
    device.peak_flop_per_s_bf16 = 16e12;
    EXPECT_EQ(peak_flop_per_s(device, Dtype::f32), 8e12);
    EXPECT_EQ(peak_flop_per_s(device, Dtype::bf16), 16e12);
    EXPECT_EQ(peak_flop_per_s(device, Dtype::f16), 16e12);
    EXPECT_EQ(peak_flop_per_s(device, Dtype::f64), 4e12);  // half as many lanes
    EXPECT_TRUE(std::isnan(peak_flop_per_s(Device{}, Dtype::f32)));
}

}  // namespace
}  // namespace joulecast
