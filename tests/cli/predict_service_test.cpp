#include "cli/predict_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/cli/run_command.h"

namespace joulecast::cli {
namespace {

using ::testing::HasSubstr;

RequestSource synthetic() {
    return {"cpu-synthetic", JOULECAST_SOURCE_DIR "/tests/model/data/version_1.jcp", "", false};
}

std::string request(int layers) {
    return R"j({"graph":{"schema":"joulecast.graph/1","has_edges":false,"nodes":[{"operation":)j"
           R"j("aten::relu(self=f32[64])","count":)j" +
           std::to_string(layers) + "}]}}";
}

TEST(PredictService, AnswersSeveralThreadsWhatItAnswersOne) {
    constexpr int requests = 40;
    PredictService alone(synthetic());
    std::vector<std::string> expected;
    for (int i = 0; i < requests; ++i) expected.push_back(alone.answer(request(1 + i % 8)));
    EXPECT_THAT(expected[0], HasSubstr("\"time_s\""));

    PredictService shared(synthetic());
    std::vector<std::vector<std::string>> said(4);
    std::vector<std::thread> threads;
    for (auto& mine : said) {
        threads.emplace_back([&] {
            for (int i = 0; i < requests; ++i) mine.push_back(shared.answer(request(1 + i % 8)));
        });
    }
    for (std::thread& one : threads) one.join();
    for (const auto& one : said) EXPECT_EQ(one, expected);
}

TEST(PredictService, KeepsFilesForecastsApartByAllThatTheyDependOn) {
    const testing::TemporaryFolder folder;
    const std::string file = folder.file("net.graph.json");
    testing::write_file(file, R"j({"schema":"joulecast.graph/1","has_edges":false,"symbols":{"batch":2},)j"
                              R"j("nodes":[{"operation":"aten::relu(self=f32[batch,64])"}]})j");
    PredictService service(synthetic());
    const auto ask = [&](const std::string& more) {
        return service.answer("{\"model\":\"" + file + "\"" + more + "}");
    };
    const std::string plain = ask("");
    EXPECT_THAT(plain, HasSubstr("f32[2,64]"));
    EXPECT_EQ(ask(""), plain);
    EXPECT_NE(ask(R"(,"host":"cpp")"), plain);
    EXPECT_NE(ask(R"(,"mode":"training")"), plain);
    EXPECT_NE(ask(R"(,"precision":"bf16")"), plain);
    EXPECT_THAT(ask(R"(,"symbols":{"batch":3})"), HasSubstr("f32[3,64]"));
    EXPECT_NE(ask(R"(,"mode":"training","accumulate":2)"), ask(R"(,"mode":"training")"));
    EXPECT_EQ(ask(""), plain);
}

TEST(PredictService, TellsWrongRequestsFromThoseThatFail) {
    PredictService service(synthetic());
    EXPECT_THAT(service.answer(R"({"id":4,"colour":1})"), HasSubstr("\"status\":2"));
    EXPECT_THAT(service.answer(R"({"id":4,"colour":1})"), HasSubstr("{\"id\":4,\"error\":"));
    EXPECT_THAT(service.answer(R"({"graph":{}})"), HasSubstr("\"status\":2"));
    const testing::TemporaryFolder folder;
    testing::write_file(folder.file("broken.graph.json"), "{");
    EXPECT_THAT(service.answer(R"({"model":")" + folder.file("broken.graph.json") + "\"}"), HasSubstr("\"status\":1"));
}

TEST(PredictService, SaysWhatADatabaseDidNotHave) {
    const testing::TemporaryFolder folder;
    RequestSource source = synthetic();
    source.database = folder.file("empty.db");
    {
        const Dataset made(source.database, Dataset::Access::read_write);
    }
    PredictService service(source);
    EXPECT_THAT(service.answer(request(1)), HasSubstr("\"notes\":[\""));
}

}  // namespace
}  // namespace joulecast::cli
