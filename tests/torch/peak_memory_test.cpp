#include "workers/torch/peak_memory.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace joulecast::torch_worker {
namespace {

TEST(PeakMemory, IsTheMostThatLivedAtOnce) {
    const auto bytes = peak_memory([] {
        {
            const at::Tensor first = at::empty({1000}, at::kByte);
        }
        const at::Tensor second = at::empty({600}, at::kByte);
        const at::Tensor third = at::empty({700}, at::kByte);
    });
    EXPECT_EQ(bytes, 1300);  // the first was gone by then
}

TEST(PeakMemory, WhatWasThereBeforeDoesNotCount) {
    const at::Tensor before = at::randn({1000});
    EXPECT_EQ(peak_memory([&] { at::relu(before); }), 4000);
    EXPECT_EQ(peak_memory([&] { before.relu_(); }), 0);
}

}  // namespace
}  // namespace joulecast::torch_worker
