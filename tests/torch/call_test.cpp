#include "workers/torch/call.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace joulecast::torch_worker {
namespace {

using ::testing::HasSubstr;

at::Tensor result(const std::string& text, const std::vector<at::Tensor>& tensors) {
    const Call call(parse_operation(text));
    Stack stack = call.stack(tensors);
    call.issue(stack);
    std::vector<at::Tensor> results;
    flatten(stack, results);
    return results.at(0);
}

std::string why_not(const std::string& text) {
    try {
        const Call call(parse_operation(text));
    } catch (const Unsupported& error) {
        return error.what();
    }
    return "supported";
}

TEST(Call, FillsInDefaultsOfTheSchema) {
    const at::Tensor input = at::randn({1, 2, 8, 8});
    const at::Tensor weight = at::randn({4, 2, 3, 3});
    const at::Tensor got =
        result("aten::conv2d(input=f32[1,2,8,8], weight=f32[4,2,3,3], padding=[1,1])", {input, weight});
    EXPECT_TRUE(at::allclose(got, at::conv2d(input, weight, {}, 1, 1)));
}

TEST(Call, TakesTheOverloadOfTheName) {
    const at::Tensor x = at::randn({4});
    EXPECT_TRUE(at::equal(result("aten::add.Tensor(self=f32[4], other=f32[4], alpha=2)", {x, x}), x + x * 2));
    EXPECT_TRUE(at::equal(result("aten::relu.default(self=f32[4])", {x}), at::relu(x)));
}

TEST(Call, WrapsANumberGivenForATensor) {
    // torch.export writes x + 1 as add.Tensor(x, 1); the result keeps x's type.
    const at::Tensor x = at::randn({4}).to(at::kBFloat16);
    const at::Tensor got = result("aten::add.Tensor(self=bf16[4], other=1.5)", {x});
    EXPECT_EQ(got.scalar_type(), at::kBFloat16);
    EXPECT_TRUE(at::equal(got, x + 1.5));
}

TEST(Call, TakesListsWithAndWithoutHoles) {
    const at::Tensor x = at::randn({2, 3});
    EXPECT_TRUE(at::equal(result("aten::cat(tensors=[f32[2,3], f32[2,3]], dim=1)", {x, x}), at::cat({x, x}, 1)));
    const at::Tensor index = at::tensor({2, 0}, at::kLong);
    EXPECT_TRUE(at::equal(result("aten::index.Tensor(self=f32[2,3], indices=[none, i64[2]])", {x, index}),
                          at::index_select(x, 1, index)));
}

TEST(Call, TakesDtypesAndNames) {
    const at::Tensor x = at::randn({4});
    EXPECT_EQ(result("aten::to.dtype(self=f32[4], dtype=bf16)", {x}).scalar_type(), at::kBFloat16);
    EXPECT_TRUE(at::allclose(result("aten::gelu(self=f32[4], approximate=\"tanh\")", {x}), at::gelu(x, "tanh")));
    EXPECT_EQ(result("aten::arange(end=5)", {}).numel(), 5);
}

TEST(Call, KnowsWhatIsWrittenTo) {
    EXPECT_EQ(Call(parse_operation("aten::add_.Tensor(self=f32[4], other=f32[4])")).mutated(),
              (std::vector<bool>{true, false}));
    EXPECT_EQ(Call(parse_operation("aten::relu(self=f32[4])")).mutated(), std::vector<bool>{false});
}

TEST(Call, SaysWhyItIsNotSupported) {
    EXPECT_THAT(why_not("aten::nonsense(self=f32[4])"), HasSubstr("no operation aten::nonsense"));
    EXPECT_THAT(why_not("nonsense(self=f32[4])"), HasSubstr("no operation nonsense"));
    EXPECT_THAT(why_not("aten::relu(self=f32[4], colour=3)"), HasSubstr("no argument colour"));
    EXPECT_THAT(why_not("aten::matmul(self=f32[4,4])"), HasSubstr("argument other is missing"));
    EXPECT_THAT(why_not("aten::cat(tensors=f32[4])"), HasSubstr("argument tensors"));
}

TEST(Flatten, TakesListsApart) {
    const at::Tensor x = at::randn({4, 2});
    const Call call(parse_operation("aten::unbind.int(self=f32[4,2])"));
    Stack stack = call.stack(std::vector<at::Tensor>{x});
    call.issue(stack);
    std::vector<at::Tensor> results;
    flatten(stack, results);
    EXPECT_EQ(results.size(), 4U);
}

}  // namespace
}  // namespace joulecast::torch_worker
