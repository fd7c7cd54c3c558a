#include "joulecast/graph/operation.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

TEST(Operation, TrainsAsSoonAsOneTensorRequiresAGradient) {
    EXPECT_EQ(mode(parse_operation("aten::relu(self=f32[8])")), Mode::inference);
    EXPECT_EQ(mode(parse_operation("aten::relu(self=f32[8]~)")), Mode::training);
    EXPECT_EQ(mode(parse_operation("aten::cat(tensors=[f32[8],f32[8]~])")), Mode::training);
}

TEST(Operation, ModesReadBack) {
    EXPECT_EQ(parse_mode(name(Mode::training)), Mode::training);
    EXPECT_EQ(parse_mode(name(Mode::inference)), Mode::inference);
    EXPECT_EQ(parse_mode("eval"), std::nullopt);
}

TEST(Operation, FindsArgumentsByName) {
    const Operation operation = parse_operation("aten::softmax.int(self=f32[8], dim=-1)");
    ASSERT_NE(find_argument(operation, "dim"), nullptr);
    EXPECT_EQ(std::get<std::int64_t>(*find_argument(operation, "dim")), -1);
    EXPECT_EQ(find_argument(operation, "dtype"), nullptr);
}

TEST(Operation, ListsTensorsInArgumentOrderWithoutHoles) {
    Operation operation = parse_operation("aten::index.Tensor(self=f32[9], indices=[none,i64[2],none,i64[3]])");
    const auto found = tensors(operation);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0]->sizes, Integers{9});
    EXPECT_EQ(found[1]->sizes, Integers{2});
    EXPECT_EQ(found[2]->sizes, Integers{3});
    found[2]->sizes[0] = 5;
    EXPECT_EQ(signature(operation), "aten::index.Tensor(self=f32[9], indices=[none,i64[2],none,i64[5]])");
}

}  // namespace
}  // namespace joulecast
