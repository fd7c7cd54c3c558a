#include "joulecast/device/device.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast {
namespace {

TEST(Device, NamesOfMathAndHostAreReadBack) {
    for (const Math math : {Math::ieee, Math::tf32}) EXPECT_EQ(parse_math(name(math)), math);
    for (const Host host : {Host::python, Host::cpp, Host::graph}) {
        EXPECT_EQ(parse_host(name(host)), host);
        EXPECT_EQ(parse_stored_host(name(host)), host);
    }
    EXPECT_FALSE(parse_math("tf64"));
    EXPECT_FALSE(parse_host(""));
    EXPECT_FALSE(parse_stored_host("fortran"));
}

// Four verbs took `--host compiled`, and all refused it later: nothing measures or forecasts it. Files may hold it.
TEST(Device, CompiledHostsAreReadFromFilesAndCannotBeAskedFor) {
    EXPECT_FALSE(parse_host("compiled"));
    EXPECT_EQ(parse_stored_host(name(Host::compiled)), Host::compiled);
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

TEST(Device, MathDecidesHowFloat32IsMultiplied) {
    Device device;
    device.peak_flop_per_s_fp32 = 10e12;
    EXPECT_EQ(peak_flop_per_s(device, Dtype::f32, Math::tf32), 10e12);  // no such units
    device.peak_flop_per_s_tf32 = 80e12;
    EXPECT_EQ(peak_flop_per_s(device, Dtype::f32, Math::tf32), 80e12);
    EXPECT_EQ(peak_flop_per_s(device, Dtype::f32, Math::ieee), 10e12);
    EXPECT_EQ(peak_flop_per_s(device, Dtype::f64, Math::tf32), 5e12);
}

TEST(Device, ATypeWithoutARateIsComputedInTheNextThatHoldsIt) {
    Device device;
    device.peak_flop_per_s_fp32 = 10e12;
    device.peak_flop_per_s_fp16 = 100e12;
    // bfloat16 has more range than float16: without units of its own it is computed in float32.
    EXPECT_EQ(peak_flop_per_s(device, Dtype::bf16), 10e12);
    EXPECT_EQ(peak_flop_per_s(device, Dtype::f8e4m3fn), 100e12);
    EXPECT_EQ(peak_flop_per_s(device, Dtype::i8), 10e12);
    device.peak_flop_per_s_fp8 = 200e12;
    device.peak_op_per_s_int8 = 300e12;
    device.peak_flop_per_s_fp64 = 1e12;
    EXPECT_EQ(peak_flop_per_s(device, Dtype::f8e5m2), 200e12);
    EXPECT_EQ(peak_flop_per_s(device, Dtype::i8), 300e12);
    EXPECT_EQ(peak_flop_per_s(device, Dtype::f64), 1e12);
}

TEST(Device, ElementwiseArithmeticKnowsNoMatrixUnits) {
    Device device;
    device.peak_flop_per_s_fp32 = 40e12;
    device.peak_flop_per_s_bf16 = 160e12;
    EXPECT_EQ(vector_flop_per_s(device, Dtype::bf16), 40e12);
    device.vector_flop_per_s_fp32 = 20e12;
    EXPECT_EQ(vector_flop_per_s(device, Dtype::bf16), 20e12);
    EXPECT_EQ(vector_flop_per_s(device, Dtype::f64), 10e12);
    device.vector_flop_per_s_fp16 = 30e12;
    EXPECT_EQ(vector_flop_per_s(device, Dtype::f16), 30e12);
}

TEST(Device, HighestClockIsTheDriversOrElseTheDataSheets) {
    Device device;
    EXPECT_TRUE(std::isnan(highest_clock_mhz(device)));
    device.boost_clock_mhz = 1500;
    EXPECT_EQ(highest_clock_mhz(device), 1500);
    device.max_clock_mhz = 2100;
    EXPECT_EQ(highest_clock_mhz(device), 2100);
}

}  // namespace
}  // namespace joulecast
