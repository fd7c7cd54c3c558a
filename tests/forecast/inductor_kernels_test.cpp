#include "joulecast/forecast/inductor_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "joulecast/graph/graph_json.h"

namespace joulecast {
namespace {

using Kind = InductorCall::Kind;

struct Call {
    std::string operation;
    std::vector<std::string> inputs;  ///< "0.0": the first result of the first call; "input.1"
    std::string output;
};

/// Its inputs are an image of 1 kB, a weight for convolutions, a parameter of each channel, and weights for
/// convolutions of two channels and one in a group; the last call is returned.
Graph network(const std::vector<Call>& calls) {
    std::string text = R"({"schema":"joulecast.graph/1","name":"network","has_edges":true,"inputs":[
{"name":"x","kind":"user_input","type":"f32[1,4,8,8]"},{"name":"w","kind":"parameter","type":"f32[4,4,1,1]"},
{"name":"c","kind":"parameter","type":"f32[4]"},{"name":"pairs","kind":"parameter","type":"f32[4,2,3,3]"},
{"name":"depthwise","kind":"parameter","type":"f32[4,1,3,3]"}],"nodes":[)";
    std::string between;
    for (const Call& call : calls) {
        text += between + R"({"operation":")" + call.operation + R"(","inputs":[)";
        std::string comma;
        for (const std::string& input : call.inputs) {
            text += comma + '"' + input + '"';
            comma = ",";
        }
        text += R"(],"outputs":[")" + call.output + R"("]})";
        between = ",";
    }
    return graph_from_json(text + R"(],"outputs":[")" + std::to_string(calls.size() - 1) + R"(.0"]})");
}

constexpr double image = 4 * 8 * 8 * 4;  // bytes of f32[1,4,8,8]

Call convolution(const std::string& of) {
    return {"aten::conv2d(input=f32[1,4,8,8], weight=f32[4,4,1,1])", {of, "input.1"}, "f32[1,4,8,8]"};
}
Call norm(const std::string& of) {
    return {
        "aten::batch_norm(input=f32[1,4,8,8], weight=f32[4], bias=f32[4], running_mean=f32[4], running_var=f32[4], "
        "training=false, momentum=0.1, eps=0.001, cudnn_enabled=true)",
        {of, "input.2", "input.2", "input.2", "input.2"},
        "f32[1,4,8,8]"};
}
Call relu(const std::string& of) {
    return {"aten::relu(self=f32[1,4,8,8])", {of}, "f32[1,4,8,8]"};
}
Call sum(const std::string& a, const std::string& b) {
    return {"aten::add.Tensor(self=f32[1,4,8,8], other=f32[1,4,8,8])", {a, b}, "f32[1,4,8,8]"};
}
Call mean(const std::string& of) {
    return {"aten::mean.dim(self=f32[1,4,8,8], dim=[2,3], keepdim=true)", {of}, "f32[1,4,1,1]"};
}

std::vector<std::int32_t> kernels(const Graph& graph) {
    std::vector<std::int32_t> found;
    for (const InductorCall& call : inductor_calls(graph)) found.push_back(call.kernel);
    return found;
}

TEST(InductorKernels, WhatFollowsAConvolutionIsOneKernelThatReadsAndWritesOnce) {
    const Graph graph = network({convolution("input.0"), norm("0.0"), relu("1.0"), convolution("2.0")});
    const auto calls = inductor_calls(graph);
    EXPECT_EQ(calls[0].kind, Kind::library);
    EXPECT_EQ(calls[1].kind, Kind::code);
    EXPECT_THAT(kernels(graph), ::testing::ElementsAre(-1, 1, 1, -1));
    EXPECT_EQ(calls[1].bytes, 2 * image + 4 * 4) << "one parameter of 4 channels, which counts once";
    EXPECT_EQ(calls[2].bytes, 0) << "stands in the first call of its kernel";
}

TEST(InductorKernels, ABranchIsComputedWhereItIsRead) {
    // The norm of the shortcut is read by the sum alone, behind two more convolutions.
    const Graph graph = network({convolution("input.0"), norm("0.0"), convolution("input.0"), convolution("2.0"),
                                 sum("3.0", "1.0"), relu("4.0")});
    EXPECT_THAT(kernels(graph), ::testing::ElementsAre(-1, 1, -1, -1, 1, 1));
    EXPECT_EQ(inductor_calls(graph)[1].bytes, 3 * image + 4 * 4) << "both convolutions' results, and the relu's";
}

/// A gate: the image is read by the mean, and again behind the convolution of that. Its nodes follow `image`.
std::vector<Call> gated(std::vector<Call> made) {
    const std::string of = std::to_string(made.size() - 1) + ".0";
    const auto ref = [&made] { return std::to_string(made.size() - 1) + ".0"; };
    made.push_back(mean(of));
    made.push_back({"aten::conv2d(input=f32[1,4,1,1], weight=f32[4,4,1,1])", {ref(), "input.1"}, "f32[1,4,1,1]"});
    made.push_back({"aten::sigmoid(self=f32[1,4,1,1])", {ref()}, "f32[1,4,1,1]"});
    made.push_back({"aten::mul.Tensor(self=f32[1,4,8,8], other=f32[1,4,1,1])", {of, ref()}, "f32[1,4,8,8]"});
    return made;
}

TEST(InductorKernels, ACallThatWaitsForALibraryIsInAnotherKernelThanWhatTheLibraryReads) {
    std::vector<Call> made;
    for (int i = 0; i < 5; ++i) made.push_back(convolution("input.0"));
    made.push_back(sum("0.0", "1.0"));
    for (int i = 2; i < 5; ++i) made.push_back(sum(std::to_string(i + 3) + ".0", std::to_string(i) + ".0"));
    const Graph graph = network(gated(made));
    EXPECT_THAT(kernels(graph), ::testing::ElementsAre(-1, -1, -1, -1, -1, 5, 5, 5, 5, 9, -1, 11, 11));
    const auto calls = inductor_calls(graph);
    EXPECT_EQ(calls[5].bytes, 6 * image) << "five images read, which are too many to read again, and their sum written";
    EXPECT_EQ(calls[9].bytes, image + 4 * 4) << "that read for the means, since the product reads it too";
    EXPECT_EQ(calls[11].bytes, 2 * image + 4 * 4) << "the sum and the gate read; the product written";
}

// ConvNeXt V2's GELU, which its norm and the product with that read: 1.31 of its time was told when it was written.
TEST(InductorKernels, WhatIsMadeOfFewTensorsIsComputedAgainWhereItIsRead) {
    const Graph graph = network(gated({convolution("input.0"), relu("0.0")}));
    EXPECT_THAT(kernels(graph), ::testing::ElementsAre(-1, 1, 1, -1, 4, 4));
    const auto calls = inductor_calls(graph);
    EXPECT_EQ(calls[1].bytes, image + 4 * 4) << "the convolution's image read, the means written";
    EXPECT_EQ(calls[4].bytes, 2 * image + 4 * 4)
        << "the convolution's image again and the gate read; the product written";
}

TEST(InductorKernels, AViewIsNoKernelAndHandsItsTensorOn) {
    const Graph graph = network({convolution("input.0"),
                                 relu("0.0"),
                                 {"aten::view(self=f32[1,4,8,8], size=[4,64])", {"1.0"}, "f32[4,64]"},
                                 {"aten::softmax.int(self=f32[4,64], dim=-1)", {"2.0"}, "f32[4,64]"}});
    EXPECT_THAT(kernels(graph), ::testing::ElementsAre(-1, 1, -1, 1));
    EXPECT_EQ(inductor_calls(graph)[2].kind, Kind::nothing);
    EXPECT_EQ(inductor_calls(graph)[1].bytes, 2 * image);
}

TEST(InductorKernels, PoolingReadsATensorThatWasWritten) {
    const Graph graph = network({convolution("input.0"),
                                 relu("0.0"),
                                 {"aten::max_pool2d(self=f32[1,4,8,8], kernel_size=[3,3], stride=[1,1], padding=[1,1])",
                                  {"1.0"},
                                  "f32[1,4,8,8]"},
                                 relu("2.0")});
    EXPECT_THAT(kernels(graph), ::testing::ElementsAre(-1, 1, 2, 2));
}

TEST(InductorKernels, AMeanThatAloneReadsAnImageComputesIt) {
    const Graph graph = network({convolution("input.0"), relu("0.0"), mean("1.0")});
    EXPECT_THAT(kernels(graph), ::testing::ElementsAre(-1, 1, 1));
    EXPECT_EQ(inductor_calls(graph)[1].bytes, image + 4 * 4);
}

TEST(InductorKernels, ManyTensorsThatAreJoinedAreWritten) {
    const auto joined = [](int tensors) {
        std::vector<Call> calls;
        Call cat{"aten::cat(tensors=[", {}, "f32[" + std::to_string(tensors) + ",4,8,8]"};
        for (int i = 0; i < tensors; ++i) {
            calls.push_back(convolution("input.0"));
            cat.operation += std::string(i > 0 ? "," : "") + "f32[1,4,8,8]";
            cat.inputs.push_back(std::to_string(i) + ".0");
        }
        cat.operation += "])";
        calls.push_back(cat);
        calls.push_back({"aten::relu(self=" + cat.output + ")", {std::to_string(tensors) + ".0"}, cat.output});
        return inductor_calls(network(calls));
    };
    EXPECT_EQ(joined(8)[9].kernel, 8) << "the relu looks through it";
    EXPECT_EQ(joined(8)[8].bytes, 16 * image);
    EXPECT_EQ(joined(9)[10].kernel, 10);
    EXPECT_EQ(joined(9)[10].bytes, 18 * image);
}

TEST(InductorKernels, NormsOfGroupsReadTheirImageTwice) {
    const Graph graph = network({convolution("input.0"),
                                 {"aten::group_norm(input=f32[1,4,8,8], num_groups=1, weight=f32[4], bias=f32[4])",
                                  {"0.0", "input.2", "input.2"},
                                  "f32[1,4,8,8]"}});
    EXPECT_EQ(inductor_calls(graph)[1].bytes, 3 * image + 4 * 4);
}

TEST(InductorKernels, WhatTheCallerReadsIsWritten) {
    EXPECT_EQ(inductor_calls(network({relu("input.0")}))[0].bytes, 2 * image);
    EXPECT_EQ(inductor_calls(network({relu("input.0"), relu("0.0")}))[0].bytes, 2 * image);
}

TEST(InductorKernels, CallsThatReadTheSameTensorShareAKernel) {
    const Graph graph = network(
        {convolution("input.0"), relu("0.0"), norm("0.0"), convolution("1.0"), convolution("2.0"), sum("3.0", "4.0")});
    EXPECT_THAT(kernels(graph), ::testing::ElementsAre(-1, 1, 1, -1, -1, 5));
    EXPECT_EQ(inductor_calls(graph)[1].bytes, 3 * image + 4 * 4) << "read once, written twice";
}

TEST(InductorKernels, AnEmbeddingReadsTheRowsThatItTakes) {
    const Graph graph = graph_from_json(
        R"call({"schema":"joulecast.graph/1","name":"words","has_edges":true,"inputs":[
{"name":"x","kind":"user_input","type":"i64[1,2]"},{"name":"w","kind":"parameter","type":"f32[1000,64]"}],"nodes":[
{"operation":"aten::embedding(weight=f32[1000,64], indices=i64[1,2])","inputs":["input.1","input.0"],"outputs":["f32[1,2,64]"]}
],"outputs":["0.0"]})call");
    const double row = 64 * 4, index = 8;
    EXPECT_LE(inductor_calls(graph)[0].bytes, 2 * (2 * row + 2 * index)) << "the table has 256 kB";
    EXPECT_GE(inductor_calls(graph)[0].bytes, 2 * 2 * row);
}

TEST(ChannelsLast, AreTakenUnlessGroupsOfSeveralChannelsHaveMostOfTheWork) {
    const Call grouped{"aten::conv2d(input=f32[1,4,8,8], weight=f32[4,2,3,3], padding=[1,1], groups=2)",
                       {"input.0", "input.3"},
                       "f32[1,4,8,8]"};
    const Call depthwise{"aten::conv2d(input=f32[1,4,8,8], weight=f32[4,1,3,3], padding=[1,1], groups=4)",
                         {"input.0", "input.4"},
                         "f32[1,4,8,8]"};
    EXPECT_TRUE(takes_channels_last(network({convolution("input.0")})));
    EXPECT_TRUE(takes_channels_last(network({depthwise})));
    EXPECT_FALSE(takes_channels_last(network({grouped})));
    EXPECT_FALSE(takes_channels_last(network({relu("input.0")}))) << "has no convolution";
    // Of small convolutions 1x1 has 1024 multiply-adds to 4608 of the grouped one: 0.783 * 0.18 + 1.358 * 0.82 > 1.
    EXPECT_FALSE(takes_channels_last(network({convolution("input.0"), grouped})));
}

TEST(ChannelsLast, AreNotTakenForAFewConvolutionsAmongManyCalls) {
    std::vector<Call> calls{convolution("input.0")};
    for (int i = 0; i < 298; ++i) calls.push_back(relu(std::to_string(i) + ".0"));
    EXPECT_TRUE(takes_channels_last(network(calls)));
    calls.push_back(relu("298.0"));
    EXPECT_FALSE(takes_channels_last(network(calls)));
}

}  // namespace
}  // namespace joulecast
