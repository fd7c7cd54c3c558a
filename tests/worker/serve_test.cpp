#include "joulecast/worker/serve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include <unistd.h>

#include "joulecast/error.h"

namespace joulecast::protocol {
namespace {

Service service() {
    const auto hello = [] {
        Capabilities capabilities;
        capabilities.device.id = "cpu-x-1c";
        return capabilities;
    };
    const auto measure = [](const Measure& request) {
        if (request.operation.target == "aten::fail") throw Error("the machine is on fire");
        Measurement measurement;
        measurement.operation = request.operation;
        measurement.outcome = Outcome::unsupported;
        return measurement;
    };
    return {hello, measure, [](const MeasureGraph&) { return NetworkMeasurement{}; }};
}

std::string measure_line(const std::string& target) {
    return R"({"protocol":1,"id":"9","request":"measure","operation":")" + target +
           R"x((self=f32[8])","point":{"device":"cpu"}})x";
}

Response reply(const std::string& line) {
    return parse_response(answer(service(), line).value());
}

TEST(Serve, AnswersWithTheIdOfTheRequest) {
    const Response response = reply(measure_line("aten::relu"));
    EXPECT_EQ(response.id, "9");
    EXPECT_TRUE(std::holds_alternative<Measurement>(response.body));
}

TEST(Serve, ALineItCannotReadIsAFailureWithItsId) {
    const Response response = reply(R"({"protocol":1,"id":"5","request":"dance"})");
    EXPECT_EQ(response.id, "5");
    EXPECT_TRUE(std::holds_alternative<Failure>(response.body));
    EXPECT_EQ(reply("nonsense").id, "");
    EXPECT_EQ(reply(R"({"id":5})").id, "");
}

TEST(Serve, AWorkerThatPreparesNothingSaysSo) {
    const std::string line = R"({"protocol":1,"id":"4","request":"prepare","point":{"device":"cpu"}})";
    const Response without = reply(line);
    EXPECT_EQ(without.id, "4");
    EXPECT_EQ(std::get<Failure>(without.body).message, "this worker has nothing to prepare");
    Service able = service();
    able.prepare = [](const Prepare& request) {
        Prepared prepared;
        prepared.real = request.point;
        prepared.soak_s = 3;
        return prepared;
    };
    EXPECT_EQ(std::get<Prepared>(parse_response(answer(able, line).value()).body).soak_s, 3);
}

TEST(Serve, AWorkerThatTimesNoRunsSaysSo) {
    const std::string line =
        R"line({"protocol":1,"id":"4","request":"time_runs","operation":"aten::relu(self=f32[8])",)line"
        R"line("point":{"device":"cpu"},"calls":[5]})line";
    EXPECT_EQ(std::get<Failure>(reply(line).body).message, "this worker times no runs of a given number of calls");
    Service able = service();
    able.time_runs = [](const TimeRuns& request) { return TimedRuns{{{request.calls.at(0), 0.25}}}; };
    const auto timed = std::get<TimedRuns>(parse_response(answer(able, line).value()).body);
    EXPECT_EQ(timed.runs.at(0).calls, 5);
    EXPECT_EQ(timed.runs.at(0).runtime_s, 0.25);
}

TEST(Serve, TellsOfTheDeviceThatWasAskedFor) {
    const std::string line = R"({"protocol":1,"id":"4","request":"hello","device":"cuda:1"})";
    EXPECT_EQ(std::get<Capabilities>(reply(line).body).device.id, "cpu-x-1c");  // there is one only
    Service several = service();
    several.hello_of = [](const std::string& device) {
        Capabilities capabilities;
        capabilities.device.id = device == "cuda:1" ? "a30" : "?";
        return capabilities;
    };
    const auto told = std::get<Capabilities>(parse_response(answer(several, line).value()).body);
    EXPECT_EQ(told.device.id, "a30");
    EXPECT_EQ(told.boot_id, this_boot_id());
    const std::string any = R"({"protocol":1,"id":"4","request":"hello"})";
    EXPECT_EQ(std::get<Capabilities>(parse_response(answer(several, any).value()).body).device.id, "cpu-x-1c");
}

TEST(Serve, AnErrorOfTheServiceIsAFailure) {
    const Response response = reply(measure_line("aten::fail"));
    EXPECT_EQ(std::get<Failure>(response.body).message, "the machine is on fire");
}

TEST(Serve, QuitHasNoAnswer) {
    EXPECT_FALSE(answer(service(), R"({"protocol":1,"id":"1","request":"quit"})"));
}

/// What serve() writes and returns for an input of those bytes.
std::pair<int, std::string> served(const std::string& input) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (::pipe(in.data()) != 0 || ::pipe(out.data()) != 0) throw Error("no pipe left");
    if (::write(in[1], input.data(), input.size()) != static_cast<ssize_t>(input.size())) throw Error("pipe too small");
    ::close(in[1]);
    const int status = serve(service(), in[0], out[1]);
    ::close(in[0]);
    ::close(out[1]);
    std::string text(60'000, '\0');
    const ssize_t count = ::read(out[0], text.data(), text.size());
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    ::close(out[0]);
    return {status, text};
}

TEST(Serve, SeveralLinesInOneReadAreSeveralRequests) {
    const auto [status, text] = served(measure_line("aten::a") + "\n\n" + measure_line("aten::b") + "\n");
    EXPECT_EQ(status, 0);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
    EXPECT_LT(text.find("aten::a"), text.find("aten::b"));
}

TEST(Serve, NothingAfterQuitIsAnswered) {
    const auto [status, text] =
        served("{\"protocol\":1,\"id\":\"1\",\"request\":\"quit\"}\n" + measure_line("aten::a") + "\n");
    EXPECT_EQ(status, 0);
    EXPECT_EQ(text, "");
}

TEST(Serve, TheEndOfInputEndsIt) {
    const auto [status, text] = served(measure_line("aten::a"));  // no newline: not a line
    EXPECT_EQ(status, 0);
    EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace joulecast::protocol
