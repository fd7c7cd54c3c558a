#include "cli/ask.h"

#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/hearing.h"
#include "cli/verb.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/error.h"
#include "tests/cli/run_command.h"

namespace joulecast::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class Ask : public ::testing::Test {
  protected:
    // This test lies elsewhere than the program; what is shipped is beside that.
    void SetUp() override { ship_from(JOULECAST_BINARY_DIR "/share/joulecast"); }
    void TearDown() override { ship_from({}); }
};

TEST_F(Ask, AnswersWhatTheProgramPrints) {
    const VerbOutput answer = ask("predict", {"--format=json", "--device=a100", "--set=batch=1,8", "--", "resnet18"});
    const auto ran = testing::run_joulecast("predict --format json --device a100 --set batch=1,8 resnet18");
    EXPECT_EQ(answer.status, ran.status);
    EXPECT_EQ(answer.text, ran.out);
    std::string said;
    for (const std::string& line : answer.said) said += "joulecast: " + line + "\n";
    EXPECT_EQ(said, ran.err);
    EXPECT_THAT(answer.said, Contains(StartsWith("a100 is ")));
}

TEST_F(Ask, PrintsNothing) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    ask("extract", {"alexnet"});
    ask("predict", {"alexnet", "--device", "a100"});
    EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(Ask, ThreadsGetTheirOwnAnswers) {
    const std::vector<std::string> models{"alexnet", "resnet18", "vgg11", "squeezenet1_1"};
    std::vector<std::string> names(models.size());
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < models.size(); ++i) {
            threads.emplace_back([&, i] {
                const VerbOutput answer = ask("extract", {"--format=json", models[i]});
                names[i] = nlohmann::json::parse(answer.text).at("models").at(0).at("model");
            });
        }
    }
    EXPECT_EQ(names, models);
}

TEST_F(Ask, WrongWordsAreUsageErrors) {
    EXPECT_THROW(ask("predict", {"alexnet", "--devize=a100"}), UsageError);
    EXPECT_THROW(ask("predict", {"alexnet"}), UsageError);
    EXPECT_THROW(ask("profile", {"alexnet"}), UsageError);
    EXPECT_THROW(ask("predict", {"alexnet", "--help"}), UsageError);
}

TEST_F(Ask, AModelThatIsMissingIsAnErrorAndTheNextQuestionIsHeardAlone) {
    EXPECT_THROW(ask("extract", {"--format=json", "nowhere.pt2"}), Error);
    EXPECT_THAT(ask("extract", {"--format=json", "alexnet"}).text, StartsWith("{"));
    EXPECT_EQ(Hearing::of_this_thread(), nullptr);
}

TEST(Hearing, KeepsWhatIsToldInItsThreadAlone) {
    const Hearing outer;
    {
        const Hearing inner;
        tell("here");
        std::jthread([] { EXPECT_EQ(Hearing::of_this_thread(), nullptr); }).join();
        EXPECT_THAT(inner.said, ElementsAre("here"));
    }
    tell("");
    EXPECT_THAT(outer.said, IsEmpty());
}

}  // namespace
}  // namespace joulecast::cli
