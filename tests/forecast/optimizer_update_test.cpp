#include "joulecast/forecast/optimizer_update.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace joulecast {
namespace {

using ::testing::ElementsAre;

const TensorType small{Dtype::f32, {10}};
const TensorType large{Dtype::f32, {100, 20}};

std::vector<std::string> called(const std::vector<TensorType>& parameters, Optimizer optimizer, UpdateForm form,
                                Device::Kind kind = Device::Kind::gpu) {
    TrainingSetup training;
    training.optimizer = optimizer;
    training.form = form;
    const UpdateCalls calls = update_calls(parameters, training, kind);
    std::vector<std::string> names;
    for (const std::uint32_t place : calls.order) {
        const CallKind& one = calls.kinds[place];
        names.push_back((one.called.empty() ? one.operation.target : one.called).substr(6));
    }
    return names;
}

// torch.optim 2.13: _single_tensor_sgd, _single_tensor_adam.
TEST(UpdateCalls, OfTheLoopAreThoseOfTorchForEveryParameter) {
    EXPECT_THAT(called({small, large}, Optimizer::sgd, UpdateForm::loop), ElementsAre("add_.Tensor", "add_.Tensor"));
    EXPECT_THAT(called({small}, Optimizer::momentum, UpdateForm::loop),
                ElementsAre("mul_.Scalar", "add_.Tensor", "add_.Tensor"));
    EXPECT_THAT(called({small}, Optimizer::adam, UpdateForm::loop),
                ElementsAre("add_.Scalar", "lerp_.Scalar", "mul_.Scalar", "addcmul_", "sqrt", "div.Scalar",
                            "add_.Scalar", "addcdiv_"));
    EXPECT_EQ(called({small}, Optimizer::adamw, UpdateForm::loop).size(), 9U) << "and the decay";
}

// _multi_tensor_sgd, _multi_tensor_adam.
TEST(UpdateCalls, OfListsAreOneForAllParametersOfAType) {
    EXPECT_THAT(called({small, large}, Optimizer::momentum, UpdateForm::foreach),
                ElementsAre("_foreach_mul_", "_foreach_add_", "_foreach_add_"));
    EXPECT_THAT(called({small, large}, Optimizer::adam, UpdateForm::foreach),
                ElementsAre("_foreach_lerp_", "_foreach_mul_", "_foreach_addcmul_", "_foreach_sqrt", "_foreach_div_",
                            "_foreach_add_", "_foreach_addcdiv_"));
    EXPECT_THAT(called({small, {Dtype::bf16, {7}}}, Optimizer::sgd, UpdateForm::foreach),
                ElementsAre("_foreach_add_", "_foreach_add_"));
    // A CPU has no kernel for lists.
    EXPECT_EQ(called({small, large}, Optimizer::sgd, UpdateForm::foreach, Device::Kind::cpu).size(), 2U);
}

TEST(UpdateCalls, StandForAllElements) {
    const UpdateCalls calls =
        update_calls(std::vector{small, large}, {Optimizer::sgd, 1, false, UpdateForm::foreach}, Device::Kind::gpu);
    EXPECT_EQ(calls.kinds.front().operation.arguments.front().value, Value(TensorType{Dtype::f32, {2010}}));
    EXPECT_EQ(calls.kinds.front().work, 1);
    EXPECT_EQ(calls.kinds.front().launches, 1);
}

TEST(UpdateCalls, LaunchAsOftenAsListsAndBlocksAsk) {
    const auto launches = [](const std::vector<TensorType>& parameters) {
        return update_calls(parameters, {Optimizer::sgd, 1, false, UpdateForm::foreach}, Device::Kind::gpu)
            .kinds.front()
            .launches;
    };
    // Two lists: 448 tensors a launch.
    EXPECT_EQ(launches(std::vector<TensorType>(448, small)), 1);
    EXPECT_EQ(launches(std::vector<TensorType>(449, small)), 2);
    // 2240 blocks of 65536 elements.
    EXPECT_EQ(launches({{Dtype::f32, {2240, 65536}}}), 1);
    EXPECT_EQ(launches({{Dtype::f32, {2241, 65536}}}), 2);
}

TEST(UpdateCalls, FusedPassOnceOverParametersGradientsAndState) {
    const auto fused = [](Optimizer optimizer) {
        return update_calls(std::vector{small, large}, {optimizer, 1, false, UpdateForm::fused}, Device::Kind::gpu);
    };
    EXPECT_EQ(fused(Optimizer::adamw).kinds.size(), 1U);
    EXPECT_EQ(fused(Optimizer::adamw).kinds.front().called, "aten::_fused_adamw_");
    // Adam reads parameter, gradient and two moments and writes all but the gradient: 7 values, an addition 3.
    EXPECT_NEAR(fused(Optimizer::adamw).kinds.front().work, 7.0 / 3, 1e-12);
    EXPECT_NEAR(fused(Optimizer::momentum).kinds.front().work, 5.0 / 3, 1e-12);
    EXPECT_NEAR(fused(Optimizer::sgd).kinds.front().work, 1, 1e-12);
}

TEST(UpdateCalls, TakeTorchsFormWhereNoneIsAskedFor) {
    EXPECT_EQ(default_form(Device::Kind::gpu), UpdateForm::foreach);
    EXPECT_EQ(default_form(Device::Kind::cpu), UpdateForm::loop);
    for (const UpdateForm form : {UpdateForm::loop, UpdateForm::foreach, UpdateForm::fused})
        EXPECT_EQ(parse_update_form(name(form)), form);
    EXPECT_FALSE(parse_update_form("vectorised"));
    EXPECT_TRUE(update_calls(std::vector{small}, {}, Device::Kind::gpu).order.empty());
}

}  // namespace
}  // namespace joulecast
