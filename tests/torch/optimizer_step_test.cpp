#include "workers/torch/optimizer_step.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <tuple>

namespace joulecast::torch_worker {
namespace {

constexpr double learning_rate = 0.05;
constexpr int steps = 5;

at::Tensor count(std::int64_t elements) {
    return at::arange(elements, at::kDouble);
}

/// The start of tools/make_optimizer_oracles.py.
std::vector<at::Tensor> start() {
    const std::vector<std::vector<std::int64_t>> shapes = {{3, 4}, {5}, {2, 2, 2}};
    std::vector<at::Tensor> result;
    for (std::size_t k = 0; k < shapes.size(); ++k) {
        const std::int64_t elements = c10::multiply_integers(shapes[k]);
        const at::Tensor values = at::sin(count(elements) + static_cast<double>(k)).to(at::kFloat).reshape(shapes[k]);
        result.push_back(values.requires_grad_(true));
    }
    return result;
}

/// Its gradients; the second parameter has none in step 2.
void set_gradients(const std::vector<at::Tensor>& parameters, int step) {
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        const at::Tensor phase = count(parameters[k].numel()) * (step + 1) + static_cast<double>(k);
        parameters[k].mutable_grad() = at::cos(phase).to(at::kFloat).reshape(parameters[k].sizes());
    }
    if (step == 2) parameters[1].mutable_grad().reset();
}

/// Written by torch.optim.
std::vector<float> oracle(const std::string& kind) {
    std::ifstream file(JOULECAST_SOURCE_DIR "/tests/torch/data/optimizers.txt");
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string word;
        words >> word;
        if (word != kind) continue;
        std::vector<float> values;
        for (float value = 0.0F; words >> value;) values.push_back(value);
        return values;
    }
    return {};
}

class UpdateOf : public ::testing::TestWithParam<std::tuple<Optimizer, UpdateStyle>> {};

TEST_P(UpdateOf, EqualsPythonsOptimizerFromTheSameStart) {
    const auto [kind, style] = GetParam();
    const std::vector<float> expected = oracle(std::string(name(kind)));
    ASSERT_EQ(expected.size(), 25U);
    const auto parameters = start();
    OptimizerStep optimizer(kind, parameters, style, learning_rate);
    for (int step = 0; step < steps; ++step) {
        set_gradients(parameters, step);
        optimizer.step();
    }
    std::size_t next = 0;
    for (const at::Tensor& parameter : parameters) {
        const at::Tensor values = parameter.detach().flatten();
        for (std::int64_t i = 0; i < values.numel(); ++i) {
            EXPECT_NEAR(values[i].item<float>(), expected[next], 2e-6) << "number " << next;
            ++next;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, UpdateOf,
                         ::testing::Combine(::testing::Values(Optimizer::sgd, Optimizer::momentum, Optimizer::adam,
                                                              Optimizer::adamw),
                                            ::testing::Values(UpdateStyle::loop, UpdateStyle::foreach)));

TEST(OptimizerStep, KeepsAsMuchStateAsItsKindNeeds) {
    const auto bytes = [](Optimizer kind) {
        const auto parameters = start();  // 12 + 5 + 8 floats: 100 bytes
        OptimizerStep optimizer(kind, parameters, UpdateStyle::loop, learning_rate);
        set_gradients(parameters, 0);
        optimizer.step();
        return optimizer.state_bytes();
    };
    EXPECT_EQ(bytes(Optimizer::sgd), 0);
    EXPECT_EQ(bytes(Optimizer::momentum), 100);
    EXPECT_EQ(bytes(Optimizer::adam), 200);
}

TEST(OptimizerStep, NoneLeavesTheParametersAlone) {
    const auto parameters = start();
    const at::Tensor before = parameters[0].detach().clone();
    set_gradients(parameters, 0);
    OptimizerStep(Optimizer::none, parameters, UpdateStyle::loop, learning_rate).step();
    EXPECT_TRUE(at::equal(parameters[0].detach(), before));
}

}  // namespace
}  // namespace joulecast::torch_worker
