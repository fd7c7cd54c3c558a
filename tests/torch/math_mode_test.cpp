#include "workers/torch/math_mode.h"

#include <ATen/Context.h>
#include <gtest/gtest.h>

namespace joulecast::torch_worker {
namespace {

TEST(MathMode, IeeeTurnsTf32OffEverywhere) {
    // PyTorch starts with TF32 allowed in cuDNN.
    set_math(Math::ieee);
    EXPECT_EQ(math_now(), Math::ieee);
    EXPECT_FALSE(at::globalContext().allowTF32CuDNN(at::Float32Op::CONV));
    EXPECT_FALSE(at::globalContext().allowTF32CuDNN(at::Float32Op::RNN));
    EXPECT_FALSE(at::globalContext().allowTF32CuBLAS());
}

TEST(MathMode, Tf32TurnsItOnAndIeeeOffAgain) {
    set_math(Math::tf32);
    EXPECT_EQ(math_now(), Math::tf32);
    EXPECT_TRUE(at::globalContext().allowTF32CuDNN(at::Float32Op::CONV));
    EXPECT_TRUE(at::globalContext().allowTF32CuDNN(at::Float32Op::RNN));
    set_math(Math::ieee);
    EXPECT_EQ(math_now(), Math::ieee);
}

}  // namespace
}  // namespace joulecast::torch_worker
