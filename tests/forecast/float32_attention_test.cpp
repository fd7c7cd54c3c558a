#include "joulecast/forecast/float32_attention.h"

#include <gtest/gtest.h>

#include <string>

#include "joulecast/device/device_table.h"
#include "joulecast/graph/operation.h"

namespace joulecast {
namespace {

std::string attention(const std::string& query, const std::string& keys, const std::string& more = "") {
    return "aten::scaled_dot_product_attention(query=" + query + ", key=" + keys + ", value=" + keys + more + ")";
}

bool runs(const std::string& call, const std::string& device) {
    const Device sheet = find_device(device);
    return runs_float32_attention(prepare(parse_operation(call), sheet, Math::ieee), sheet);
}

double told_us(const std::string& call, const std::string& device = "h200") {
    const Device sheet = find_device(device);
    return 1e6 * float32_attention_s(prepare(parse_operation(call), sheet, Math::ieee), sheet);
}

TEST(Float32Attention, IsFusedAndOfAmpereOrNewer) {
    const std::string plain = attention("f32[8,12,128,64]", "f32[8,12,128,64]");
    EXPECT_TRUE(runs(plain, "a100"));
    EXPECT_FALSE(runs(plain, "v100-16g-sxm"));
    EXPECT_FALSE(runs(plain, "mi300x"));
    EXPECT_FALSE(runs(attention("bf16[8,12,128,64]", "bf16[8,12,128,64]"), "a100"));
    EXPECT_FALSE(runs(attention("f32[8,12,128,64]{98304,1,768,64}", "f32[8,12,128,64]"), "a100")) << "split";
}

// As measured on an H200.
TEST(Float32Attention, GoesByItsTilesAndByTheKeysOfOneBlock) {
    EXPECT_NEAR(told_us(attention("f32[4,12,2048,64]", "f32[4,12,2048,64]")), 1512, 130);
    EXPECT_NEAR(told_us(attention("f32[32,12,197,64]", "f32[32,12,197,64]")), 201, 15);
    EXPECT_NEAR(told_us(attention("f32[8,12,128,64]", "f32[8,12,128,64]")), 24.2, 4);
    EXPECT_NEAR(told_us(attention("f32[1,32,1,64]", "f32[1,32,1024,64]")), 118, 8) << "one block for each head";
}

TEST(Float32Attention, LeavesOutTilesAboveTheDiagonal) {
    const double whole = told_us(attention("f32[8,12,2048,64]", "f32[8,12,2048,64]"));
    const double causal = told_us(attention("f32[8,12,2048,64]", "f32[8,12,2048,64]", ", is_causal=true"));
    EXPECT_NEAR(causal / whole, 0.5, 0.03);
}

TEST(Float32Attention, TakesLongerWhereTensorCoresDo) {
    const std::string call = attention("f32[8,12,2048,64]", "f32[8,12,2048,64]");
    const Device a100 = find_device("a100"), card = find_device("rtx3090");
    const double clocks = a100.units * a100.boost_clock_mhz / (card.units * card.boost_clock_mhz);
    EXPECT_GT(told_us(call, "rtx3090") / told_us(call, "a100"), 1.3 * clocks);
}

}  // namespace
}  // namespace joulecast
