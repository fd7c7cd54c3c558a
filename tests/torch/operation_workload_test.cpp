#include "workers/torch/operation_workload.h"

#include <gtest/gtest.h>

#include <set>

#include <sys/resource.h>

#include "tests/torch/called.h"
#include "workers/torch/system_memory.h"

namespace joulecast::torch_worker {
namespace {

Operation operation(const std::string& text) {
    return parse_operation(text);
}

TEST(OperationSets, AddressesAreReallyDistinct) {
    TensorMaker maker(1);
    const OperationSets sets(operation("aten::linear(input=f32[8,64], weight=f32[64,64], bias=f32[64])"), 100, maker);
    std::set<const void*> addresses;
    for (const auto& set : sets.sets()) {
        for (const auto& tensor : set) addresses.insert(tensor.storage().data());
    }
    EXPECT_EQ(addresses.size(), 300U);
}

TEST(InferenceWorkload, GoesThroughAllSetsUnlessHot) {
    TensorMaker maker(1);
    // fill_ marks which sets were called.
    const OperationSets sets(operation("aten::fill_.Scalar(self=f32[4], value=7.0)"), 5, maker);
    InferenceWorkload workload(sets);
    const auto filled = [&] {
        std::vector<bool> result;
        for (const auto& set : sets.sets()) result.push_back(set[0][0].item<float>() == 7.0F);
        return result;
    };
    workload.run(3, false);
    EXPECT_EQ(filled(), (std::vector<bool>{true, true, true, false, false}));
    workload.run(2, false);
    EXPECT_EQ(filled(), (std::vector<bool>{true, true, true, true, true}));
    for (std::size_t set = 0; set < 5; ++set) sets.restore(set);
    workload.run(4, true);
    EXPECT_EQ(filled(), (std::vector<bool>{true, false, false, false, false}));
}

// As nn.Linear runs: a weight without a gradient would have its transposed inputs multiplied matrix by matrix, which
// took an H200 2 to 5 times as long.
TEST(InferenceWorkload, WeightsAreParameters) {
    TensorMaker maker(1);
    const OperationSets sets(operation("aten::linear(input=f32[6,4,8]{8,48,1}, weight=f32[16,8], bias=f32[16])"), 2,
                             maker);
    InferenceWorkload workload(sets);
    const auto names = called([&] { workload.run(1, false); });
    EXPECT_TRUE(names.contains("aten::mm") || names.contains("aten::addmm"));
    EXPECT_FALSE(names.contains("aten::bmm"));
    EXPECT_FALSE(sets.sets()[0][0].requires_grad());
}

TEST(InferenceWorkload, IntegersAreNoParameters) {
    TensorMaker maker(1);
    const OperationSets sets(operation("aten::bincount(self=i64[8], weights=f32[8])"), 1, maker);
    EXPECT_FALSE(sets.sets()[0][1].requires_grad());
    const OperationSets looked_up(operation("aten::embedding(weight=i64[8,4], indices=i64[3])"), 1, maker);
    EXPECT_FALSE(looked_up.sets()[0][0].requires_grad());
}

TEST(InferenceWorkload, WrittenTensorsGetTheirContentsBackBeforeTheyDieOut) {
    TensorMaker maker(1);
    // x -> x / 2: without a restore, 150 calls end in denormals.
    const OperationSets sets(operation("aten::mul_.Scalar(self=f32[64], other=0.5)"), 2, maker);
    InferenceWorkload workload(sets);
    const at::Tensor first = sets.sets()[0][0].clone();
    ASSERT_LE(workload.longest_run(false), 16);
    for (int block = 0; block < 20; ++block) {
        workload.prepare(workload.longest_run(false), false);
        workload.run(workload.longest_run(false), false);
    }
    EXPECT_TRUE(at::allclose(sets.sets()[0][0], first / 256.0));  // 8 calls since the last restore
}

TEST(TrainingWorkload, HasABackwardPassWhereAGradientFlows) {
    TensorMaker maker(1);
    const OperationSets matmul(operation("aten::matmul(self=f32[4,4]~, other=f32[4,4])"), 4, maker);
    EXPECT_TRUE(TrainingWorkload(matmul, true, maker).has_backward());
    const OperationSets argmax(operation("aten::argmax(self=f32[4,4]~)"), 4, maker);
    TrainingWorkload workload(argmax, true, maker);
    EXPECT_FALSE(workload.has_backward());
    workload.run(8, false);
}

TEST(TrainingWorkload, TakesNoFreshMemoryOnceItIsMade) {
    keep_freed_memory();
    const auto page_faults = [] {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        return usage.ru_minflt;
    };
    TensorMaker maker(1);
    const OperationSets sets(operation("aten::relu(self=f32[1,64,40,40]~)"), 128, maker);  // 0.4 MB a set
    TrainingWorkload workload(sets, true, maker);
    const long before = page_faults();
    workload.run(256, false);
    // What is kept fills up to 52 MB, 12,800 pages, within the first of these calls if it was not filled before.
    EXPECT_LT(page_faults() - before, 6000);  // 2,500 as it is, 18,000 unfilled
}

TEST(TrainingWorkload, LeavesNoGradientsBehind) {
    TensorMaker maker(1);
    const OperationSets sets(operation("aten::linear(input=f32[4,8]~, weight=f32[8,8]~)"), 20, maker);
    TrainingWorkload workload(sets, true, maker);
    workload.run(50, false);
    workload.run(7, true);
    for (const auto& set : sets.sets()) {
        for (const auto& tensor : set) EXPECT_FALSE(tensor.grad().defined());
    }
}

TEST(TrainingWorkload, WritesInPlaceOnCopiesOfLeaves) {
    TensorMaker maker(1);
    const OperationSets sets(operation("aten::relu_(self=f32[64]~)"), 4, maker);
    const at::Tensor before = sets.sets()[0][0].detach().clone();
    TrainingWorkload workload(sets, true, maker);
    ASSERT_TRUE(workload.has_backward());
    workload.prepare(4, false);
    workload.run(4, false);
    EXPECT_TRUE(at::equal(sets.sets()[0][0].detach(), before));
}

TEST(TrainingWorkload, TheWrittenTensorNeedNotBeTheMarkedOne) {
    TensorMaker maker(1);
    const OperationSets sets(operation("aten::add_.Tensor(self=f32[64], other=f32[64]~)"), 4, maker);
    TrainingWorkload workload(sets, true, maker);
    ASSERT_TRUE(workload.has_backward());
    for (int block = 0; block < 3; ++block) {
        workload.prepare(4, false);
        workload.run(4, false);
    }
    EXPECT_FALSE(sets.sets()[0][0].requires_grad());
}

}  // namespace
}  // namespace joulecast::torch_worker
