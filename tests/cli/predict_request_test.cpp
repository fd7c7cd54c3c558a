#include "cli/predict_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

using ::testing::HasSubstr;

std::string refused(const std::string& line) {
    try {
        parse_predict_request(line);
    } catch (const FormatError& error) {
        return error.what();
    }
    return "";
}

TEST(PredictRequest, TakesEveryKey) {
    const auto r = parse_predict_request(
        R"({"id":"a","model":"resnet50","device":"h100","symbols":{"batch":8},"mode":"training","precision":"bf16",)"
        R"("engine":"onnxruntime","host":"cpp","host_cpu":"epyc-7763","optimizer":"adam","optimizer_form":"fused","accumulate":4,"checkpointing":true,)"
        R"("clock_mhz":900,"memory_clock_mhz":1215.5,"power_limit_w":150,"operations":false})");
    EXPECT_EQ(r.id, "\"a\"");
    EXPECT_EQ(r.question.models.front(), "resnet50");
    EXPECT_EQ(r.device, "h100");
    EXPECT_EQ(r.question.sizes.front(), (SymbolValues{{"batch", 8}}));
    EXPECT_EQ(r.question.modes.front(), Mode::training);
    EXPECT_EQ(r.question.precisions.front(), "bf16");
    EXPECT_EQ(r.question.engines, std::vector<std::string>{"onnxruntime"});
    EXPECT_EQ(r.question.hosts.front(), Host::cpp);
    EXPECT_EQ(r.question.host_cpu, "epyc-7763");
    EXPECT_EQ(r.question.training.optimizer, Optimizer::adam);
    EXPECT_EQ(r.question.training.form, UpdateForm::fused);
    EXPECT_EQ(r.question.training.accumulation, 4);
    EXPECT_TRUE(r.question.training.checkpointing);
    EXPECT_EQ(r.asked.sm_clock_mhz, 900);
    EXPECT_EQ(r.asked.memory_clock_mhz, 1215.5);
    EXPECT_EQ(r.asked.power_limit_w, 150);
    EXPECT_FALSE(r.question.lists_operations);
}

TEST(PredictRequest, LeavesTheCommandLinesDefaults) {
    const auto r = parse_predict_request(R"({"model":"resnet50"})");
    EXPECT_EQ(r.id, "null");
    EXPECT_EQ(r.question.modes.front(), Mode::inference);
    EXPECT_EQ(r.question.precisions.front(), "default");
    EXPECT_EQ(r.question.hosts.front(), Host::python);
    EXPECT_EQ(r.question.training.optimizer, Optimizer::none);
    EXPECT_EQ(r.question.training.accumulation, 1);
    EXPECT_TRUE(std::isnan(r.asked.sm_clock_mhz));
    EXPECT_TRUE(r.question.lists_operations);
}

TEST(PredictRequest, ReadsItsGraph) {
    const auto r = parse_predict_request(R"j({"id":7,"graph":{"schema":"joulecast.graph/1","has_edges":false,)j"
                                         R"j("nodes":[{"operation":"aten::relu(self=f32[8])"}]}})j");
    EXPECT_EQ(r.id, "7");
    EXPECT_TRUE(r.question.models.empty());
    ASSERT_EQ(r.question.graphs.size(), 1U);
    EXPECT_EQ(r.question.graphs.front()->nodes.size(), 1U);
    EXPECT_THAT(refused(R"({"graph":{"schema":"joulecast.graph/1"}})"), HasSubstr("\"has_edges\" is missing"));
}

TEST(PredictRequest, NamesTheKeyThatIsWrong) {
    EXPECT_THAT(refused(R"({"model":"a","colour":1})"),
                HasSubstr("unknown key \"colour\"; a request has accumulate, checkpointing"));
    EXPECT_THAT(refused(R"({"model":1})"), HasSubstr("\"model\": expected a text"));
    EXPECT_THAT(refused(R"({"model":"a","mode":"sleep"})"), HasSubstr("\"mode\": expected inference or training"));
    EXPECT_THAT(refused(R"({"model":"a","host":"me"})"), HasSubstr("\"host\""));
    EXPECT_THAT(refused(R"({"model":"a","engine":"My Engine"})"), HasSubstr("\"engine\""));
    EXPECT_THAT(refused(R"({"model":"a","symbols":{"batch":1.5}})"), HasSubstr("\"batch\" is not a 64-bit integer"));
    EXPECT_THAT(refused(R"({"model":"a","symbols":{"batch":18446744073709551615}})"),
                HasSubstr("is not a 64-bit integer"));
    EXPECT_THAT(refused(R"({"model":"a","operations":1})"), HasSubstr("expected true or false"));
    EXPECT_THAT(refused(R"({"model":"a","optimizer":"lion"})"), HasSubstr("\"optimizer\": expected none, sgd"));
    EXPECT_THAT(refused(R"({"model":"a","optimizer_form":"fused"})"),
                HasSubstr("\"optimizer_form\" needs \"optimizer\""));
    EXPECT_THAT(refused(R"({"model":"a","accumulate":0})"), HasSubstr("\"accumulate\": expected a number of passes"));
    EXPECT_THAT(refused(R"({"model":"a","accumulate":18446744073709551615})"), HasSubstr("1 to 1024"));
    EXPECT_THAT(refused(R"({"model":"a","clock_mhz":-1})"), HasSubstr("\"clock_mhz\": expected a number above 0"));
    EXPECT_THAT(refused(R"({"model":"a","power_limit_w":"x"})"), HasSubstr("\"power_limit_w\""));
    EXPECT_THAT(refused(R"({"model":"a","id":{}})"), HasSubstr("\"id\""));
    EXPECT_THAT(refused(R"({"model":"a","model":"b"})"), HasSubstr("the key \"model\" is twice"));
}

TEST(PredictRequest, WantsAModelOrAGraphAndNotBoth) {
    EXPECT_THAT(refused(R"({"id":1})"), HasSubstr("one of them"));
    EXPECT_THAT(refused(R"({"model":"a","graph":{}})"), HasSubstr("one of them"));
}

TEST(PredictRequest, RefusesWhatIsNoObjectTooDeepOrTooLong) {
    EXPECT_THAT(refused("[1]"), HasSubstr("one JSON object"));
    EXPECT_THAT(refused("{\"model\":"), HasSubstr("one JSON object"));
    EXPECT_THAT(refused(R"({"graph":)" + std::string(100'000, '[')), HasSubstr("nests deeper than 18"));
    EXPECT_THAT(refused(R"({"model":")" + std::string(5000, 'a') + "\"}"), HasSubstr("longer than 4096"));
    EXPECT_THAT(refused(std::string(longest_request + 1, ' ')), HasSubstr("at most 16 MB"));
}

TEST(PredictRequest, FindsTheIdOfALineThatIsWrongOtherwise) {
    EXPECT_EQ(request_id(R"({"id":"x","colour":1})"), "\"x\"");
    EXPECT_EQ(request_id(R"({"id":-3})"), "-3");
    EXPECT_EQ(request_id(R"({"id":[1]})"), "null");
    EXPECT_EQ(request_id("not JSON"), "null");
}

}  // namespace
}  // namespace joulecast::cli
