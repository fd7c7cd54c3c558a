// Networks whose images lie with their channels last, as a user asks for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"

namespace joulecast::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

nlohmann::json parsed(const std::string& arguments) {
    const auto ran = run_joulecast(arguments + " --format json");
    EXPECT_EQ(ran.status, 0) << ran.err;
    return nlohmann::json::parse(ran.out);
}

double seconds(const nlohmann::json& prediction) {
    return prediction["time_s"]["value"].get<double>();
}

const std::string both = " --memory-format contiguous,channels_last";
const std::string card = " --device rtx3090 --precision amp-fp16 --batch 256";

// What an RTX 3090 takes of ResNet-50 and MobileNet v2 in training, over contiguous images: 0.68 and 0.79 (timm).
TEST(MemoryFormat, ChannelsLastTrainConvolutionsFaster) {
    const auto told =
        parsed("predict resnet50 mobilenet_v2 --mode training --optimizer momentum" + card + both)["predictions"];
    ASSERT_EQ(told.size(), 4U);
    EXPECT_EQ(told[0]["memory_format"], "contiguous");
    EXPECT_EQ(told[1]["memory_format"], "channels_last");
    EXPECT_NEAR(seconds(told[1]) / seconds(told[0]), 0.68, 0.1);
    EXPECT_NEAR(seconds(told[3]) / seconds(told[2]), 0.79, 0.12);
    const std::string convolution = told[1]["operations"][0]["signature"];
    EXPECT_THAT(convolution, HasSubstr("{cl}"));
}

TEST(MemoryFormat, StandsInTheTableWhereAnyIsNotContiguous) {
    EXPECT_THAT(run_joulecast("predict resnet18" + card + both).out, HasSubstr("channels_last"));
    EXPECT_THAT(run_joulecast("predict resnet18" + card).out, Not(HasSubstr("images")));
}

TEST(MemoryFormat, IsAnswered) {
    const auto answer = nlohmann::json::parse(run_joulecast("predict --stdin --device rtx3090",
                                                            R"({"model":"resnet18","memory_format":"channels_last"})"
                                                            "\n")
                                                  .out);
    EXPECT_EQ(answer["memory_format"], "channels_last");
    const auto wrong =
        run_joulecast("predict --stdin --device rtx3090", R"({"model":"resnet18","memory_format":"nhwc"})"
                                                          "\n");
    EXPECT_THAT(wrong.out, HasSubstr("contiguous or channels_last"));
}

TEST(MemoryFormat, IsChosenWithTheClockAndSaidHowToWrite) {
    const auto chosen = parsed("recommend resnet50 --minimise time" + card + both);
    EXPECT_EQ(chosen["answer"]["memory_format"], "channels_last");
    EXPECT_THAT(chosen["run_with"].get<std::string>(), HasSubstr("memory_format=torch.channels_last"));
}

TEST(MemoryFormat, IsRefusedWhereNobodyMeasuredIt) {
    const auto on_cpu = run_joulecast("predict resnet18 --device cpu-amd-epyc-2c --memory-format channels_last");
    EXPECT_NE(on_cpu.status, 0);
    EXPECT_THAT(on_cpu.err, HasSubstr("joulecast extract --memory-format channels_last"));
    const auto compiled =
        run_joulecast("predict resnet18 --device rtx3090 --memory-format channels_last --engine torch-compile");
    EXPECT_NE(compiled.status, 0);
    EXPECT_THAT(compiled.err, HasSubstr("torch-compile lays images as it likes"));
}

// On an RTX 3090 such trainings took 0.7 to 3.3 times as long as contiguous ones.
TEST(MemoryFormat, OfGroupsInTrainingIsSaidToBeUnknown) {
    const std::string asked = card + " --memory-format channels_last";
    EXPECT_THAT(run_joulecast("predict resnext50_32x4d --mode training" + asked).err, HasSubstr("measure before"));
    EXPECT_THAT(run_joulecast("predict resnext50_32x4d" + asked).err, Not(HasSubstr("measure before")));
    EXPECT_THAT(run_joulecast("predict mobilenet_v2 --mode training" + asked).err, Not(HasSubstr("measure before")));
}

// Its first wide layer has 96 channels of 112 x 112: from 1,784 images on these are more than 2^31 - 1 elements.
TEST(MemoryFormat, TellsTheBatchBeyondWhichDepthwiseConvolutionsAreSlow) {
    const std::string asked = "predict mobilenet_v2 --precision amp-fp16 --device ";
    const std::string last = " --memory-format channels_last --batch ";
    EXPECT_THAT(run_joulecast(asked + "rtx3090" + last + "2048").err, HasSubstr("a batch of 1783 or less avoids it"));
    EXPECT_THAT(run_joulecast(asked + "rtx3090" + last + "1783").err, Not(HasSubstr("avoids it")));
    EXPECT_THAT(run_joulecast(asked + "rtx3090 --batch 2048").err, Not(HasSubstr("avoids it")));
    EXPECT_THAT(run_joulecast(asked + "mi210" + last + "2048").err, Not(HasSubstr("avoids it")));
}

TEST(MemoryFormat, IsTraced) {
    TemporaryFolder folder;
    const std::string file = folder.file("t.json");
    const auto ran = run_joulecast("trace resnet18 --device rtx3090 --memory-format channels_last -o " + file);
    EXPECT_EQ(ran.status, 0) << ran.err;
    const auto trace = nlohmann::json::parse(read_file(file));
    EXPECT_EQ(trace["otherData"]["memory_format"], "channels_last");
    EXPECT_THAT(read_file(file), HasSubstr("{cl}"));
}

TEST(MemoryFormat, IsExtractedWithTheCopiesOfItsDevice) {
    TemporaryFolder folder;
    const std::string file = folder.file("n.graph.json");
    const auto ran = run_joulecast("extract resnet18 --memory-format channels_last --graph " + file);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(read_file(file), HasSubstr("{cl}"));
    EXPECT_EQ(parsed("predict " + file + " --device rtx3090 --precision fp32")["predictions"][0]["time_s"],
              parsed("predict resnet18 --set batch=2 --device rtx3090 --precision fp32 --memory-format "
                     "channels_last")["predictions"][0]["time_s"]);
}

}  // namespace
}  // namespace joulecast::testing
