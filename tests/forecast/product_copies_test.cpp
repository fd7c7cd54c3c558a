#include "joulecast/forecast/flattened_linear.h"

#include <gtest/gtest.h>

#include <string>

#include "joulecast/device/device_table.h"
#include "joulecast/graph/operation.h"
#include "joulecast/physics/matrix_rate.h"

namespace joulecast {
namespace {

const Device& h200() {
    static const Device device = find_device("h200");
    return device;
}

Operation linear(const std::string& input, const std::string& bias = ", bias=bf16[2304]") {
    return parse_operation("aten::linear(input=" + input + ", weight=bf16[2304,768]" + bias + ")");
}

TEST(FlattenedLinear, IsOneWhoseInputIsNoMatrixAsItLies) {
    EXPECT_GT(flattening_kernels(linear("bf16[197,32,768]{768,151296,1}")), 0);
    EXPECT_EQ(flattening_kernels(linear("bf16[197,32,768]")), 0);
    EXPECT_EQ(flattening_kernels(linear("bf16[32,768]{151296,1}")), 0);
    EXPECT_EQ(flattening_kernels(linear("bf16[4,197,768]{302592,1536,1}")), 0);  // every other row of a matrix
    EXPECT_GT(flattening_kernels(linear("bf16[2,4,197,768]{151296,302592,768,1}")), 0);
    EXPECT_EQ(flattening_kernels(parse_operation("aten::relu(self=bf16[197,32,768]{768,151296,1})")), 0);
}

TEST(FlattenedLinear, CopiesItsInputAndAddsItsBias) {
    const double cycles_s = 0.65 / cycles_per_s(h200());
    const double input = 197.0 * 32 * 768, result = 197.0 * 32 * 2304;
    const auto seconds = [](const Operation& operation) {
        return flattening_s(prepare(operation, h200(), Math::ieee), h200()) -
               flattening_kernels(operation) * h200().kernel_latency_s;
    };
    EXPECT_NEAR(seconds(linear("bf16[197,32,768]{768,151296,1}")), cycles_s * (input + result), 1e-9);
    EXPECT_NEAR(seconds(linear("bf16[197,32,768]{768,151296,1}", "")), cycles_s * input, 1e-9);
    EXPECT_EQ(seconds(linear("bf16[197,32,768]")), 0);
    const Device amd = find_device("mi210");
    EXPECT_EQ(flattening_s(prepare(linear("bf16[197,32,768]{768,151296,1}"), amd, Math::ieee), amd), 0);
}

TEST(FlattenedLinear, HasItsHostLaunchTheseToo) {
    const auto of = [](const std::string& input) {
        return launches(prepare(linear(input), h200(), Math::ieee), h200());
    };
    EXPECT_EQ(of("bf16[197,32,768]{768,151296,1}"), 2);
    EXPECT_EQ(of("bf16[197,32,768]"), 1);
}

}  // namespace
}  // namespace joulecast
