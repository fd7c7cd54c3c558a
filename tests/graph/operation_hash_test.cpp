#include "joulecast/graph/operation_hash.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace joulecast {
namespace {

TEST(OperationHash, IsEqualForEqualOperations) {
    const auto of = [](const char* text) { return hash(parse_operation(text)); };
    EXPECT_EQ(of("aten::conv2d(input=f32[1,8,9,9], weight=f32[4,8,3,3])"),
              of("aten::conv2d(input=f32[1,8,9,9], weight=f32[4,8,3,3])"));
    Operation zero{"aten::add.Scalar", {{"other", 0.0}}};
    Operation minus_zero{"aten::add.Scalar", {{"other", -0.0}}};
    ASSERT_EQ(zero, minus_zero);
    EXPECT_EQ(hash(zero), hash(minus_zero));
}

TEST(OperationHash, DiffersWhereOneThingDiffers) {
    const std::vector<const char*> texts{
        "aten::op(a=f32[8,4], b=[1,2], c=\"none\")",     "aten::op2(a=f32[8,4], b=[1,2], c=\"none\")",
        "aten::op(a=f32[4,8], b=[1,2], c=\"none\")",     "aten::op(a=f32[8,4]~, b=[1,2], c=\"none\")",
        "aten::op(a=bf16[8,4], b=[1,2], c=\"none\")",    "aten::op(a=f32[8,4]{1,8}, b=[1,2], c=\"none\")",
        "aten::op(a=f32[8,4], b=[2,1], c=\"none\")",     "aten::op(a=f32[8,4], b=[1,2], c=\"nine\")",
        "aten::op(a=f32[8,4], d=[1,2], c=\"none\")",     "aten::op(a=[f32[8,4]], b=[1,2], c=\"none\")",
        "aten::op(a=f32[8,4], b=[1.0,2.0], c=\"none\")", "aten::op(a=f32[8,4], b=[true,false], c=\"none\")",
        "aten::op(a=f32[8,4], b=1, c=\"none\")",         "aten::op(a=[f32[8,4],none], b=[1,2], c=\"none\")",
    };
    std::set<std::size_t> hashes;
    for (const char* text : texts) hashes.insert(hash(parse_operation(text)));
    EXPECT_EQ(hashes.size(), texts.size());
}

}  // namespace
}  // namespace joulecast
