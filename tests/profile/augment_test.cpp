#include "joulecast/profile/augment.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"
#include "joulecast/profile/plan.h"
#include "profile/sweeps.h"

namespace joulecast {
namespace {

using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// A bag of these calls.
Variation of(const std::vector<std::string>& texts) {
    Variation variation = joulecast::testing::bag("a", {});
    for (const std::string& text : texts) {
        Node node;
        node.operation = parse_operation(text);
        variation.graph.nodes.push_back(node);
    }
    return variation;
}

std::vector<std::string> signatures(const std::vector<Sample>& samples) {
    std::vector<std::string> texts;
    for (const Sample& sample : samples) texts.push_back(signature(sample.operation));
    return texts;
}

std::vector<Variation> networks(Mode mode) {
    ProfileRequest request;
    request.models = {"resnet18", "mobilenet_v2", "bert-base@traced", "googlenet"};
    request.modes = {mode};
    request.set = {{"batch", {2}}};  // of variants.txt
    return variations(request, std::string(JOULECAST_SOURCE_DIR) + "/zoo", Device::Kind::cpu);
}

const Sizes& sizes(const Operation& operation, std::string_view argument) {
    return std::get<TensorType>(*find_argument(operation, argument)).sizes;
}

class AugmentedNetworks : public ::testing::TestWithParam<Mode> {};

TEST_P(AugmentedNetworks, GiveAsManyDifferentNewVariantsAsAsked) {
    const auto all = networks(GetParam());
    const auto made = augment(all, {.count = 500, .seed = 3, .memory_bytes = 16e9});
    ASSERT_EQ(made.size(), 500u);
    std::set<std::string> known;
    for (const Variation& variation : all)
        for (const Node& node : variation.graph.nodes) known.insert(signature(node.operation));
    for (const std::string& text : signatures(made)) EXPECT_TRUE(known.insert(text).second) << text << " is not new";
}

TEST_P(AugmentedNetworks, CanBeComputedInTheirModeAndWithinMemory) {
    const auto made = augment(networks(GetParam()), {.count = 500, .seed = 4, .memory_bytes = 400e6});
    ASSERT_FALSE(made.empty());
    std::map<Family, int> families;
    for (const auto& [operation, math] : made) {
        const auto outputs = find_record(operation.target)->outputs(operation);
        double bytes = 0;
        for (const TensorType* type : tensors(operation)) bytes += static_cast<double>(byte_count(*type));
        for (const TensorType& type : outputs) bytes += static_cast<double>(byte_count(type));
        EXPECT_LE(bytes, 100e6) << signature(operation);  // a quarter of the memory
        EXPECT_TRUE(is_measurable(operation)) << signature(operation);
        EXPECT_EQ(canonical(operation), operation) << signature(operation);
        EXPECT_EQ(math, Math::ieee);
        ++families[family(operation)];
    }
    for (const Family kind : {Family::convolution, Family::matmul, Family::pooling, Family::elementwise})
        EXPECT_GT(families[kind], 20) << name(kind);
    const auto trains = [](const Sample& sample) { return mode(sample.operation) == Mode::training; };
    if (GetParam() == Mode::training)
        EXPECT_GT(std::ranges::count_if(made, trains), 400);
    else
        EXPECT_EQ(std::ranges::count_if(made, trains), 0);
}

INSTANTIATE_TEST_SUITE_P(Modes, AugmentedNetworks, ::testing::Values(Mode::inference, Mode::training),
                         [](const auto& parameter) { return std::string(name(parameter.param)); });

/// tests/profile/data/variants.txt has the 200 variants of seed 3 with the outputs that torch's meta tensors give
/// (tools/check_records.py --calls tests/profile/data/variants.txt --write): the same on every machine, and calls that
/// torch takes. Where this fails after a change of the zoo or of how operations are varied, write the file anew.
TEST(Augment, GivesWhatTorchTakesAndTheSameEverywhere) {
    std::set<std::string> torch;
    std::ifstream file(JOULECAST_SOURCE_DIR "/tests/profile/data/variants.txt");
    for (std::string line; std::getline(file, line);) torch.insert(line.substr(0, line.find(" | flop")));
    ASSERT_EQ(torch.size(), 200u);
    // More memory than variants within 1e10 FLOPs could need, so that this machine's does not matter.
    const auto made = augment(networks(Mode::inference), {.count = 200, .seed = 3, .memory_bytes = 64e9});
    for (const auto& [operation, math] : made) {
        std::string line = signature(operation) + " ->";
        for (TensorType output : find_record(operation.target)->outputs(operation)) {
            Operation named{"", {{"", output}}};
            const std::string text = signature(named);  // "(=f32[1])"
            line += " " + text.substr(2, text.size() - 3);
        }
        EXPECT_TRUE(torch.erase(line) == 1) << line;
    }
    EXPECT_THAT(torch, IsEmpty());
}

TEST(Augment, DependsOnTheSeedAlone) {
    const std::vector<Variation> all{of({"aten::linear(input=f32[8,64], weight=f32[32,64])"})};
    const auto first = signatures(augment(all, {.count = 20, .seed = 1}));
    EXPECT_EQ(first, signatures(augment(all, {.count = 20, .seed = 1})));
    EXPECT_NE(first, signatures(augment(all, {.count = 20, .seed = 2})));
    // A longer list begins with the shorter one: what was measured of it counts.
    const auto longer = signatures(augment(all, {.count = 40, .seed = 1}));
    EXPECT_EQ(first, std::vector<std::string>(longer.begin(), longer.begin() + 20));
}

TEST(Augment, VariesConvolutionsByGroupsDilationFiltersKernelsAndBatch) {
    const auto made = augment({of({"aten::conv2d(input=f32[4,32,28,28], weight=f32[64,32,3,3], bias=f32[64], "
                                   "padding=[1,1])"})},
                              {.count = 200, .seed = 1, .memory_bytes = 16e9});
    std::set<std::int64_t> groups, dilations, filters, kernels, strides, batches;
    for (const auto& [operation, math] : made) {
        ASSERT_EQ(operation.target, "aten::conv2d");
        groups.insert(argument_or_default<std::int64_t>(operation, "groups"));
        dilations.insert(argument_or_default<Sizes>(operation, "dilation").at(0));
        strides.insert(argument_or_default<Sizes>(operation, "stride").at(0));
        filters.insert(sizes(operation, "weight")[0]);
        kernels.insert(sizes(operation, "weight")[2]);
        batches.insert(sizes(operation, "input")[0]);
        EXPECT_EQ(sizes(operation, "bias"), Sizes{sizes(operation, "weight")[0]});
    }
    EXPECT_EQ(groups, (std::set<std::int64_t>{1, 2, 4, 8, 16, 32}));  // divisors of 32; 32 is depthwise
    EXPECT_EQ(dilations, (std::set<std::int64_t>{1, 2, 3, 4, 6}));
    EXPECT_EQ(kernels, (std::set<std::int64_t>{1, 2, 3, 5, 7}));
    EXPECT_EQ(strides, (std::set<std::int64_t>{1, 2}));
    EXPECT_EQ(batches, (std::set<std::int64_t>{1, 2, 4, 8, 16, 32, 64, 128}));
    EXPECT_GT(filters.size(), 20u);
    EXPECT_TRUE(filters.contains(32));  // as many as channels: depthwise
}

TEST(Augment, KeepsTheImageWhenItDilates) {
    const auto made = augment({of({"aten::conv2d(input=f32[4,32,28,28], weight=f32[64,32,3,3], padding=[1,1])"})},
                              {.count = 200, .seed = 1, .memory_bytes = 16e9});
    for (const auto& [operation, math] : made) {
        if (argument_or_default<Sizes>(operation, "dilation").at(0) == 1) continue;
        const auto output = find_record(operation.target)->outputs(operation).at(0);
        EXPECT_EQ(output.sizes, (Sizes{4, 64, 28, 28})) << signature(operation);
    }
}

TEST(Augment, DrawsTheFeaturesOfDenseLayers) {
    for (const char* text : {"aten::linear(input=f32[8,64], weight=f32[32,64], bias=f32[32])",
                             "aten::addmm(self=f32[32], mat1=f32[8,64], mat2=f32[64,32])"}) {
        // The largest may have four times the FLOPs of the one varied: a second, large one makes room.
        const auto made =
            augment({of({text, "aten::mm(self=f32[2048,2048], mat2=f32[2048,2048])"})}, {.count = 100, .seed = 1});
        std::set<std::int64_t> inner;
        for (const auto& [operation, math] : made) inner.insert(tensors(operation)[1]->sizes.back());
        EXPECT_GT(inner.size(), 30u) << text;
        EXPECT_GE(*inner.begin(), 8);
        EXPECT_LE(*inner.rbegin(), 8192);
    }
}

TEST(Augment, BoundsTheWorkByFourTimesTheLargest) {
    const auto flop = [](const Operation& operation) { return static_cast<double>(forward_counts(operation).flop); };
    const auto largest = [&](const std::vector<std::string>& texts) {
        double most = 0;
        for (const Sample& sample : augment({of(texts)}, {.count = 300, .seed = 1, .memory_bytes = 64e9}))
            most = std::max(most, flop(sample.operation));
        return most;
    };
    const std::string small = "aten::linear(input=f32[2000,64], weight=f32[32,64])";
    // Random features reach 8192 x 8192: 2.7e11 FLOPs for these rows. A small network is allowed 1e10 all the same.
    EXPECT_LE(largest({small}), 1e10);
    EXPECT_GT(largest({small}), 1e9);
    // 2 x 2048 x 2048 x 2048 = 1.7e10, of which four times.
    const double four = 4 * 2.0 * 2048 * 2048 * 2048;
    const double found = largest({small, "aten::mm(self=f32[2048,2048], mat2=f32[2048,2048])"});
    EXPECT_LE(found, four);
    EXPECT_GT(found, 1e10);
}

TEST(Augment, ExchangesMaximumAndAverageOfPools) {
    std::set<std::string> targets;
    std::set<std::int64_t> windows;
    const auto made = augment({of({"aten::max_pool2d(self=f32[8,64,56,56], kernel_size=[3,3], stride=[2,2], "
                                   "padding=[1,1])"})},
                              {.count = 60, .seed = 1});
    for (const auto& [operation, math] : made) {
        targets.insert(operation.target);
        windows.insert(argument_or_default<Sizes>(operation, "kernel_size").at(0));
    }
    EXPECT_EQ(targets, (std::set<std::string>{"aten::avg_pool2d", "aten::max_pool2d"}));
    EXPECT_EQ(windows, (std::set<std::int64_t>{2, 3, 4, 5, 7, 9}));
}

TEST(Augment, VariesSequencesOfAttentionAndKeepsDecodersDecoding) {
    const auto made = augment({of({"aten::scaled_dot_product_attention(query=f32[2,8,64,32], key=f32[2,8,64,32], "
                                   "value=f32[2,8,64,32], attn_mask=f32[2,1,64,64])",
                                   "aten::scaled_dot_product_attention(query=f32[2,8,1,32], key=f32[2,8,64,32], "
                                   "value=f32[2,8,64,32])"})},
                              {.count = 40, .seed = 1, .memory_bytes = 16e9});
    ASSERT_FALSE(made.empty());
    bool decodes = false;
    for (const auto& [operation, math] : made) {
        const std::int64_t queries = sizes(operation, "query")[2], keys = sizes(operation, "key")[2];
        decodes = decodes || (queries == 1 && keys != 64);
        EXPECT_TRUE(queries == keys || queries == 1) << signature(operation);
        if (find_argument(operation, "attn_mask") == nullptr) continue;
        EXPECT_EQ(sizes(operation, "attn_mask"), (Sizes{sizes(operation, "query")[0], 1, queries, keys}));
    }
    EXPECT_TRUE(decodes);
}

TEST(Augment, KeepsTypesLayoutAndMarks) {
    const auto made = augment({of({"aten::relu(self=bf16[8,64,56,56]{cl}~)"})}, {.count = 20, .seed = 1});
    ASSERT_EQ(made.size(), 20u);
    for (const auto& [operation, math] : made) {
        const TensorType& type = *tensors(operation)[0];
        EXPECT_TRUE(type.requires_grad);
        EXPECT_EQ(type.dtype, Dtype::bf16);
        EXPECT_TRUE(is_channels_last(type) || is_contiguous(type)) << signature(operation);
    }
}

TEST(Augment, VariesWhatRunsInTf32InTf32) {
    Variation variation = of({"aten::linear(input=f32[8,64], weight=f32[32,64])"});
    variation.precision = "tf32";
    for (const Sample& sample : augment({variation}, {.count = 10})) EXPECT_EQ(sample.math, Math::tf32);
}

TEST(Augment, EndsWhereNothingNewIsFound) {
    // Only batches: eight of them, of which one is there already.
    const auto made = augment({of({"aten::softmax.int(self=f32[8,10], dim=1)"})}, {.count = 100});
    EXPECT_EQ(made.size(), 7u);
    EXPECT_THAT(signatures(made), Each(StartsWith("aten::softmax.int")));
    EXPECT_THAT(augment({}, {.count = 100}), IsEmpty());
    EXPECT_THAT(augment({of({"aten::relu(self=f32[8])"})}, {.count = 0}), IsEmpty());
}

}  // namespace
}  // namespace joulecast
