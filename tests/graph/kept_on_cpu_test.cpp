#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

std::optional<KeptTensors> kept(const std::string& text) {
    return kept_on_cpu(canonical(parse_operation(text)));
}

TEST(KeptOnCpu, DropoutKeepsFactorsInPlaceOfAMask) {
    const auto found = kept("aten::dropout(input=f32[10,100]~, p=0.1, train=true)");
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->hidden_bytes, 4000);  // one byte each on a GPU
    EXPECT_TRUE(found->saved.empty());
    EXPECT_FALSE(kept("aten::dropout(input=f32[10,100]~, p=0.0, train=true)").has_value());
    EXPECT_FALSE(kept("aten::dropout(input=f32[10,100], p=0.1, train=true)").has_value());
}

TEST(KeptOnCpu, AttentionThatDropsOutKeepsItsOperandsAndThreeTimesItsWeights) {
    const auto found = kept(
        "aten::scaled_dot_product_attention(query=f32[2,3,5,8]~, key=f32[2,3,7,8]~, value=f32[2,3,7,8]~, "
        "dropout_p=0.1)");
    ASSERT_TRUE(found.has_value());
    const double query = 2 * 3 * 5 * 8, key = 2 * 3 * 7 * 8, weights = 2 * 3 * 5 * 7;
    EXPECT_EQ(found->hidden_bytes, 4 * (query + 2 * key + 3 * weights));
}

TEST(KeptOnCpu, FusedAttentionKeepsTheSame) {
    EXPECT_FALSE(kept("aten::scaled_dot_product_attention(query=f32[2,3,5,8]~, key=f32[2,3,7,8]~, "
                      "value=f32[2,3,7,8]~)")
                     .has_value());
    EXPECT_FALSE(kept("aten::relu(self=f32[2]~)").has_value());
}

}  // namespace
}  // namespace joulecast
