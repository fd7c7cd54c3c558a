#include "joulecast/dataset/kernels_text.h"

#include <gtest/gtest.h>

#include "dataset/samples.h"
#include "joulecast/dataset/columns.h"
#include "joulecast/error.h"

namespace joulecast {
namespace {

TEST(KernelsText, NamesStandOnceAndComeBack) {
    const std::vector<NetworkKernel> kernels{{"Conv", {0, 1, 2}}, {"Gemm", {5}}, {"Conv", {3}}, {"Mystery", {}}};
    const std::string text = kernels_text(kernels);
    EXPECT_EQ(text, R"({"names":["Conv","Gemm","Mystery"],"kernels":[[0,0,1,2],[1,5],[0,3],[2]]})");
    EXPECT_EQ(parse_kernels(text), kernels);
}

TEST(KernelsText, NothingIsNoKernels) {
    EXPECT_EQ(kernels_text({}), "");
    EXPECT_TRUE(parse_kernels("").empty());
}

TEST(KernelsText, WhatIsNoListIsRefused) {
    for (const std::string text :
         {"[]", "{}", "Conv", R"({"names":["Conv"]})", R"({"names":[1],"kernels":[]})",
          R"({"names":"Conv","kernels":[]})", R"({"names":["Conv"],"kernels":{}})",
          R"({"names":["Conv"],"kernels":[[]]})", R"({"names":["Conv"],"kernels":[[1]]})",
          R"({"names":["Conv"],"kernels":[[-1]]})", R"({"names":["Conv"],"kernels":[[0,-1]]})",
          R"({"names":["Conv"],"kernels":[[0,1.5]]})", R"({"names":["Conv"],"kernels":[[0,2147483648]]})",
          R"({"names":["Conv"],"kernels":[[0,2,1]]})", R"({"names":["Conv"],"kernels":[[0,1,1]]})",
          R"({"names":[""],"kernels":[[0]]})", R"({"names":["a\u001b[2J"],"kernels":[[0]]})",
          R"({"names":["Conv"],"kernels":[[0,[1]]]})", R"({"names":["Conv"],"kernels":[],"more":1})"})
        EXPECT_THROW(parse_kernels(text), FormatError) << text;
    EXPECT_THROW(parse_kernels(R"({"names":[")" + std::string(201, 'x') + R"("],"kernels":[[0]]})"), FormatError);
}

// What is stored must come back: a database whose text its reader refuses would open no more.
TEST(KernelsText, AMeasurementIsImpossibleWithKernelsThatCannotBe) {
    NetworkMeasurement network = testing::sample_network("net", 8);
    EXPECT_EQ(impossible(network), std::nullopt);
    for (const NetworkKernel& kernel :
         {NetworkKernel{"Conv", {2, 1}}, NetworkKernel{"Conv", {-1}}, NetworkKernel{"", {1}},
          NetworkKernel{std::string(201, 'x'), {1}}, NetworkKernel{std::string("a\0b", 3), {1}}}) {
        network.kernels = {kernel};
        EXPECT_NE(impossible(network), std::nullopt) << kernel.kernel;
    }
}

TEST(KernelsText, AListWithoutEndIsRefused) {
    std::string text = R"({"names":["Conv"],"kernels":[)";
    for (int i = 0; i < 100'001; ++i) text += i == 0 ? "[0]" : ",[0]";
    EXPECT_THROW(parse_kernels(text + "]}"), FormatError);
}

}  // namespace
}  // namespace joulecast
