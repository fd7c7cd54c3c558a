#include "workers/torch/gpu_facts.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast::torch_worker {
namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

TEST(GpuId, IsTheOneThatTheDataSheetsUse) {
    // Names as the drivers give them.
    EXPECT_EQ(gpu_id("NVIDIA H200", 141 * gib), "h200");
    EXPECT_EQ(gpu_id("NVIDIA H100 80GB HBM3", 80 * gib), "h100-sxm");
    EXPECT_EQ(gpu_id("NVIDIA H100 PCIe", 80 * gib), "h100-pcie");
    EXPECT_EQ(gpu_id("NVIDIA H100 NVL", 94 * gib), "h100-nvl");
    EXPECT_EQ(gpu_id("NVIDIA A100-SXM4-40GB", 39.5 * gib), "a100-40g-sxm");
    EXPECT_EQ(gpu_id("NVIDIA A100 80GB PCIe", 79.1 * gib), "a100-80g-pcie");
    EXPECT_EQ(gpu_id("Tesla V100-SXM2-32GB", 31.7 * gib), "v100-32g-sxm");
    EXPECT_EQ(gpu_id("Tesla V100-PCIE-16GB", 15.8 * gib), "v100-16g-pcie");
    EXPECT_EQ(gpu_id("Tesla P100-PCIE-16GB", 15.9 * gib), "p100");
    EXPECT_EQ(gpu_id("Tesla T4", 14.6 * gib), "t4");
    EXPECT_EQ(gpu_id("NVIDIA A30", 23.5 * gib), "a30");
    EXPECT_EQ(gpu_id("NVIDIA L40S", 44 * gib), "l40s");
    EXPECT_EQ(gpu_id("NVIDIA GeForce RTX 2080 Ti", 10.7 * gib), "rtx2080ti");
    EXPECT_EQ(gpu_id("NVIDIA GeForce RTX 4090", 23.6 * gib), "rtx4090");
    EXPECT_EQ(gpu_id("Quadro RTX 8000", 47 * gib), "rtx8000");
    EXPECT_EQ(gpu_id("GeForce GTX 980", 4 * gib), "gtx980");
}

TEST(GpuId, OfAnUnknownNameIsOneWordWithoutBlanks) {
    EXPECT_EQ(gpu_id("Some New Card, 7th", 1 * gib), "some-new-card-7th");
    EXPECT_EQ(gpu_id("", 1 * gib), "gpu");
    EXPECT_EQ(gpu_id("NVIDIA", 1 * gib), "gpu");
}

TEST(GpuFacts, PeaksAreThoseOfTheDataSheet) {
    // A100 SXM: 19.5 and 312 TFLOP/s, 1555 GB/s.
    const Device a100 = gpu_facts({"NVIDIA A100-SXM4-40GB", 8, 0, 108, 1410000, 1215000, 5120, 40 * 1048576.0, 4e10});
    EXPECT_NEAR(a100.peak_flop_per_s_fp32, 19.5e12, 0.05e12);
    EXPECT_NEAR(a100.peak_flop_per_s_bf16, 312e12, 1e12);
    EXPECT_NEAR(a100.bandwidth_bytes_per_s, 1555e9, 1e9);
    EXPECT_EQ(a100.units, 108);
    EXPECT_EQ(a100.kind, Device::Kind::gpu);
    // RTX 3090: 35.6 TFLOP/s, and half of the tensor rate of an A10 with 32-bit accumulation: 71.
    const Device rtx = gpu_facts({"NVIDIA GeForce RTX 3090", 8, 6, 82, 1695000, 9751000, 384, 6 * 1048576.0, 2.5e10});
    EXPECT_NEAR(rtx.peak_flop_per_s_fp32, 35.6e12, 0.1e12);
    EXPECT_NEAR(rtx.peak_flop_per_s_bf16, 71e12, 0.5e12);
    EXPECT_NEAR(rtx.bandwidth_bytes_per_s, 936e9, 1e9);
}

TEST(GpuFacts, AKnownCardHasItsDataSheetUnderWhatTheRuntimeTells) {
    // The A30's sheet says 165 W and 82.5 TFLOP/s in tf32; the runtime tells the memory that is left.
    const Device a30 = gpu_facts({"NVIDIA A30", 8, 0, 56, 1440000, 1215000, 3072, 24 * 1048576.0, 2.52e10});
    EXPECT_EQ(a30.id, "a30");
    EXPECT_EQ(a30.tdp_w, 165);
    EXPECT_NEAR(a30.peak_flop_per_s_tf32, 82.5e12, 0.1e12);
    EXPECT_EQ(a30.memory_bytes, 2.52e10);
    // Fewer multiprocessors than the sheet's: a slice, with rates of its own.
    const Device slice = gpu_facts({"NVIDIA A30", 8, 0, 14, 1440000, 1215000, 3072, 24 * 1048576.0, 6e9});
    EXPECT_NEAR(slice.peak_flop_per_s_tf32, 82.5e12 / 4, 0.2e12);
    EXPECT_TRUE(std::isnan(slice.tdp_w));
}

TEST(GpuFacts, AnUnknownGeForceMultipliesAtHalfTheRate) {
    // 2 x 64 lanes, and 1024 FLOP of the tensor cores, of which half with sums in 32 bits; no bf16 on Turing.
    const Device card = gpu_facts({"NVIDIA GeForce RTX 2077", 7, 5, 50, 1000000, 0, 0, 0.0, 0.0});
    EXPECT_DOUBLE_EQ(card.peak_flop_per_s_fp32, 50 * 128 * 1e9);
    EXPECT_DOUBLE_EQ(card.peak_flop_per_s_fp16, 50 * 512 * 1e9);
    EXPECT_TRUE(std::isnan(card.peak_flop_per_s_bf16));
    EXPECT_TRUE(std::isnan(card.peak_flop_per_s_fp8));
}

TEST(GpuFacts, WhatTheRuntimeDoesNotTellIsUnknown) {
    const Device device = gpu_facts({"NVIDIA X", 99, 0, 10, 0, 0, 0, 0.0, 0.0});
    EXPECT_TRUE(std::isnan(device.max_clock_mhz));
    EXPECT_TRUE(std::isnan(device.peak_flop_per_s_fp32));
    EXPECT_TRUE(std::isnan(device.bandwidth_bytes_per_s));
    EXPECT_TRUE(std::isnan(device.last_level_cache_bytes));
}

}  // namespace
}  // namespace joulecast::torch_worker
