#include "joulecast/forecast/split_attention.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "joulecast/device/device_table.h"
#include "joulecast/graph/operation.h"

namespace joulecast {
namespace {

const Device& h200() {
    static const Device device = find_device("h200");
    return device;
}

/// Twelve heads of 64 over 128 tokens, as BERT's. `more` begins with ", "; `mark`: "~" where gradients flow.
Operation attention(const std::string& dtype, int batch, const std::string& more, const std::string& mark = "") {
    const std::string type = dtype + "[" + std::to_string(batch) + ",12,128,64]{98304,64,768,1}" + mark;
    return parse_operation("aten::scaled_dot_product_attention(query=" + type + ", key=" + type + ", value=" + type +
                           more + ", scale=0.125)");
}

std::string mask(int batch, const std::string& strides) {
    return ", attn_mask=bool[" + std::to_string(batch) + ",1,128,128]" + strides;
}

double microseconds(const Operation& operation, Math math) {
    return 1e6 * split_attention_forward_s(prepare(operation, h200(), math), h200());
}

TEST(SplitAttention, IsWhatNoFusedKernelTakes) {
    EXPECT_TRUE(runs_split_attention(attention("bf16", 4, mask(4, "{0,128,1,0}")), h200()));
    EXPECT_FALSE(runs_split_attention(attention("bf16", 4, mask(4, "{128,128,0,1}")), h200()));
    EXPECT_FALSE(runs_split_attention(attention("bf16", 4, mask(4, "")), h200()));
    EXPECT_FALSE(runs_split_attention(attention("bf16", 4, ""), h200()));
    EXPECT_FALSE(runs_split_attention(attention("bf16", 4, mask(4, "{0,128,1,0}")), find_device("mi210")));
    const std::string across = "f32[2,2,64,64]{8192,4096,1,64}", along = "f32[2,2,64,64]";
    EXPECT_TRUE(runs_split_attention(parse_operation("aten::scaled_dot_product_attention(query=" + along +
                                                     ", key=" + across + ", value=" + along + ")"),
                                     h200()));
    EXPECT_FALSE(runs_split_attention(parse_operation("aten::relu(self=f32[8])"), h200()));
    const std::string nothing = "f32[2,2,64,0]";
    EXPECT_FALSE(runs_split_attention(parse_operation("aten::scaled_dot_product_attention(query=" + nothing +
                                                      ", key=" + nothing + ", value=" + across + ")"),
                                      h200()));
}

// Fused kernels take operands of four dimensions alone: NesT and Hiera have windows in a fifth, SAM's joined to the
// batch.
TEST(SplitAttention, IsWhatHasAnotherNumberOfDimensions) {
    const auto runs_split = [](const std::string& type) {
        return runs_split_attention(parse_operation("aten::scaled_dot_product_attention(query=" + type +
                                                    ", key=" + type + ", value=" + type + ")"),
                                    h200());
    };
    EXPECT_TRUE(runs_split("f16[512,3,16,196,32]"));
    EXPECT_TRUE(runs_split("f16[6144,196,64]"));
    EXPECT_FALSE(runs_split("f16[512,3,196,32]"));
}

TEST(SplitAttention, IsToldWithoutAClockToo) {
    Device unclocked = h200();
    for (double Device::* clock : {&Device::boost_clock_mhz, &Device::max_clock_mhz, &Device::base_clock_mhz})
        unclocked.*clock = std::numeric_limits<double>::quiet_NaN();
    const PreparedOperation call = prepare(attention("bf16", 4, mask(4, "{0,128,1,0}")), unclocked, Math::ieee);
    EXPECT_GT(split_attention_forward_s(call, unclocked), 0);
}

// What an H200 took (datasets/h200.csv): the rule has the usual kernels alone, so it may be a fifth short, not more.
TEST(SplitAttention, TakesWhatItsKernelsTake) {
    const double in_bf16 = microseconds(attention("bf16", 128, mask(128, "{0,128,1,0}")), Math::ieee);
    EXPECT_GT(in_bf16, 0.75 * 962);
    EXPECT_LT(in_bf16, 1.1 * 962);
    const double in_tf32 = microseconds(attention("f32", 32, mask(32, "{0,128,1,0}")), Math::tf32);
    EXPECT_GT(in_tf32, 0.75 * 167);
    EXPECT_LT(in_tf32, 1.1 * 167);
}

TEST(SplitAttention, TakesLongerToTrain) {
    const Operation trained = attention("f32", 32, mask(32, "{0,128,1,0}") + ", dropout_p=0.1", "~");
    const PreparedOperation call = prepare(trained, h200(), Math::tf32);
    const double forward = 1e6 * split_attention_forward_s(call, h200());
    const double whole = forward + 1e6 * split_attention_backward_s(call, h200());
    EXPECT_NEAR(forward, 184, 0.25 * 184);
    EXPECT_NEAR(whole, 305, 0.25 * 305);
    EXPECT_GT(forward, microseconds(attention("f32", 32, mask(32, "{0,128,1,0}")), Math::tf32));
}

TEST(SplitAttention, HoldsItsScoresAndCopiesInFloat32) {
    const double elements = 128.0 * 12 * 128 * 64, scores = 128.0 * 12 * 128 * 128;
    const Operation half = attention("bf16", 128, mask(128, "{0,128,1,0}"));
    EXPECT_EQ(split_attention_scratch_bytes(half), 4 * 4 * elements + 9 * scores);
    const Operation whole = attention("f32", 128, mask(128, "{0,128,1,0}"));
    EXPECT_EQ(split_attention_scratch_bytes(whole), 4 * elements + 9 * scores);
}

// BERT's, whose twelve of an H100 hold 0.87 GB more than fused ones would (datasets/h100-sxm.csv): 72 MB each.
TEST(SplitAttention, KeepsOperandsAndWeightsInFloat32) {
    const Device h100 = find_device("h100-sxm");
    const auto kept_mb = [&](const std::string& mark, const std::string& mask, const std::string& more) {
        const std::string heads = "bf16[32,12,128,64]{98304,64,768,1}" + mark;
        const auto kept = kept_by_split_attention(
            parse_operation("aten::scaled_dot_product_attention(query=" + heads + ", key=" + heads +
                            ", value=" + heads + ", attn_mask=bool[32,1,128,128]" + mask + more + ")"),
            h100);
        return kept ? kept->hidden_bytes * 1e-6 : -1;
    };
    const std::string apart = "{0,128,1,0}";
    EXPECT_NEAR(kept_mb("~", apart, ""), 37.7 + 25.2, 0.1);
    EXPECT_NEAR(kept_mb("~", apart, ", dropout_p=0.1"), 37.7 + 25.2 + 6.3 + 25.2, 0.1);
    EXPECT_EQ(kept_mb("", apart, ", dropout_p=0.1"), -1);
    EXPECT_EQ(kept_mb("~", "", ", dropout_p=0.1"), -1);
}

TEST(SplitAttention, IsManyKernelsForItsHost) {
    const Operation whole = attention("f32", 32, mask(32, "{0,128,1,0}"));
    const Operation half = attention("bf16", 32, mask(32, "{0,128,1,0}"));
    EXPECT_EQ(split_attention_kernels(whole), 12);
    EXPECT_EQ(split_attention_kernels(half), 17);
    EXPECT_EQ(launches(prepare(half, h200(), Math::ieee), h200()), 9);  // those within the call count half
    EXPECT_EQ(launches(prepare(attention("bf16", 32, ""), h200(), Math::ieee), h200()), 1);
}

}  // namespace
}  // namespace joulecast
