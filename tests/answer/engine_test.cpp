#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "joulecast/answer/session.h"
#include "joulecast/error.h"
#include "joulecast/graph/graph_json.h"
#include "tests/answer/two_engines.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;

SessionSettings two_engines() {
    SessionSettings settings;
    settings.predictor.at_hand = std::make_shared<const Predictor>(testing::two_engines());
    return settings;
}

Question asked(const std::vector<std::string>& engines) {
    Question question;
    question.graphs = {std::make_shared<const Graph>(graph_from_json(
        R"j({"schema":"joulecast.graph/1","name":"layer","has_edges":false,"nodes":[)j"
        R"j({"operation":"aten::linear(input=f32[64,512], weight=f32[512,512], bias=f32[512])","count":9}]})j"))};
    question.devices = {device_at_clock("cpu-synthetic")};
    if (!engines.empty()) question.engines = engines;
    return question;
}

const NetworkForecast& network(const Answer& answer, std::size_t i) {
    return answer.forecasts.at(i).network;
}

// Without a word the first engine of the file was taken: a user who measured torch first and ONNX Runtime afterwards
// got the one's forecasts for the other's.
TEST(Engines, TorchIsMeantUnlessAnotherIsNamed) {
    Session session(two_engines());
    const Answer usual = session.answer(asked({}));
    ASSERT_EQ(usual.forecasts.size(), 1U);
    EXPECT_EQ(network(usual, 0).point.engine, "torch");
    const Answer named = session.answer(asked({"torch"}));
    EXPECT_EQ(network(named, 0).time.value, network(usual, 0).time.value);
}

TEST(Engines, EachAnswersFromItsOwnMeasurements) {
    Session session(two_engines());
    const Answer both = session.answer(asked({"torch", "onnxruntime"}));
    ASSERT_EQ(both.forecasts.size(), 2U);
    EXPECT_EQ(network(both, 0).point.engine, "torch");
    EXPECT_EQ(network(both, 1).point.engine, "onnxruntime");
    Question from_cpp = asked({"torch", "onnxruntime"});
    from_cpp.hosts = {Host::cpp};
    const Answer issued = session.answer(from_cpp);
    EXPECT_NEAR(network(issued, 1).time.value / network(issued, 0).time.value, 2, 1e-6);
    // Python is torch's host alone.
    EXPECT_GT(network(both, 0).time.value, network(issued, 0).time.value);
    EXPECT_EQ(network(both, 1).time.value, network(issued, 1).time.value);
    EXPECT_EQ(network(both, 0).point.host, Host::python);
    EXPECT_EQ(network(both, 1).point.host, Host::cpp) << "as it was measured";
}

TEST(Engines, HostsAreTorchs) {
    Question question = asked({"torch", "onnxruntime"});
    question.hosts = {Host::python, Host::cpp};
    EXPECT_EQ(Session(two_engines()).answer(question).forecasts.size(), 3U);
}

TEST(Engines, OneThatWasNotMeasuredIsRefusedAlone) {
    Session session(two_engines());
    try {
        session.answer(asked({"tvm"}));
        FAIL();
    } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), HasSubstr("knows cpu-synthetic with torch, onnxruntime alone"));
        EXPECT_THAT(error.what(), HasSubstr("not with tvm"));
    }
    const Answer answer = session.answer(asked({"tvm", "torch"}));
    EXPECT_EQ(answer.forecasts.size(), 1U);
    EXPECT_THAT(answer.notes, ::testing::Contains(HasSubstr("left out: ")));
}

TEST(Engines, SingleCallsHaveThemToo) {
    Question question = asked({"torch", "onnxruntime"});
    question.graphs.clear();
    question.operations = {parse_operation("aten::relu(self=f32[64,512])")};
    question.hosts = {Host::cpp};
    const Answer answer = Session(two_engines()).answer(question);
    ASSERT_EQ(answer.forecasts.size(), 2U);
    EXPECT_NEAR(network(answer, 1).time.value / network(answer, 0).time.value, 2, 1e-6);
}

}  // namespace
}  // namespace joulecast
