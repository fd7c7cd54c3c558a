#include "joulecast/worker/supervision/supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "joulecast/error.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;

Supervisor::Options fake(const std::string& behaviour, std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
    return {std::string(FAKE_WORKER) + " " + behaviour, timeout, timeout};
}

protocol::Measure request(const std::string& target) {
    protocol::Measure measure;
    measure.operation = {target, {}};
    measure.point.device = "cpu";
    return measure;
}

std::string why_it_does_not_start(const Supervisor::Options& options) {
    Supervisor supervisor(options);
    try {
        supervisor.capabilities();
    } catch (const Error& error) {
        return error.what();
    }
    return "it started";
}

TEST(Supervisor, PassesMeasurementsOn) {
    Supervisor supervisor(fake("serve"));
    EXPECT_EQ(supervisor.capabilities().provenance.worker, "fake 1");
    const Measurement measurement = supervisor.measure(request("aten::relu"));
    EXPECT_EQ(measurement.outcome, Outcome::ok);
    EXPECT_EQ(measurement.operation.target, "aten::relu");
    protocol::MeasureGraph network;
    network.graph.name = "net";
    EXPECT_EQ(supervisor.measure(network).model, "net");
    EXPECT_EQ(supervisor.restarts(), 0);
}

TEST(Supervisor, ADeadWorkerIsAnOutcomeAndTheNextOperationIsMeasured) {
    Supervisor supervisor(fake("serve"));
    const Measurement lost = supervisor.measure(request("fake::die"));
    EXPECT_EQ(lost.outcome, Outcome::crashed);
    EXPECT_EQ(lost.operation.target, "fake::die");
    EXPECT_THAT(lost.message, HasSubstr("signal 9"));
    EXPECT_THAT(lost.message, HasSubstr("this is the end"));
    EXPECT_EQ(supervisor.measure(request("aten::relu")).outcome, Outcome::ok);
    EXPECT_EQ(supervisor.restarts(), 1);
}

TEST(Supervisor, ARestartedWorkerIsAnotherSession) {
    Supervisor supervisor(fake("serve"));
    const std::string before = supervisor.capabilities().provenance.session;
    supervisor.measure(request("fake::exit"));
    EXPECT_NE(supervisor.capabilities().provenance.session, before);
}

TEST(Supervisor, AnExitStatusIsNamed) {
    Supervisor supervisor(fake("serve"));
    EXPECT_THAT(supervisor.measure(request("fake::exit")).message, HasSubstr("exit status 7"));
}

TEST(Supervisor, AHungWorkerIsKilledAndRestarted) {
    Supervisor::Options options = fake("serve");
    options.request_timeout = std::chrono::milliseconds(100);
    Supervisor supervisor(options);
    const Measurement lost = supervisor.measure(request("fake::hang"));
    EXPECT_EQ(lost.outcome, Outcome::crashed);
    EXPECT_THAT(lost.message, HasSubstr("did not answer within 100 ms"));
    supervisor.capabilities();
    EXPECT_EQ(supervisor.restarts(), 1);
}

TEST(Supervisor, GarbageIsACrashThatShowsTheLine) {
    Supervisor supervisor(fake("serve"));
    const Measurement lost = supervisor.measure(request("fake::garbage"));
    EXPECT_EQ(lost.outcome, Outcome::crashed);
    EXPECT_THAT(lost.message, HasSubstr("Segmentation fault (core dumped)"));
    EXPECT_EQ(supervisor.measure(request("aten::relu")).outcome, Outcome::ok);
}

TEST(Supervisor, HalfALineIsNoAnswer) {
    Supervisor supervisor(fake("serve"));
    EXPECT_EQ(supervisor.measure(request("fake::half_line")).outcome, Outcome::crashed);
}

TEST(Supervisor, TheAnswerToAnotherRequestIsNotTaken) {
    Supervisor supervisor(fake("serve"));
    EXPECT_EQ(supervisor.measure(request("fake::wrong_id")).outcome, Outcome::crashed);
}

TEST(Supervisor, ARefusedRequestIsACrashOfThatTrialAlone) {
    Supervisor supervisor(fake("serve"));
    const Measurement refused = supervisor.measure(request("fake::refuse"));
    EXPECT_EQ(refused.outcome, Outcome::crashed);
    EXPECT_THAT(refused.message, HasSubstr("the worker refused the request: "));
    EXPECT_EQ(supervisor.measure(request("aten::relu")).outcome, Outcome::ok);
}

TEST(Supervisor, ALostNetworkKeepsItsName) {
    Supervisor supervisor(fake("serve"));
    protocol::MeasureGraph network;
    network.graph.name = "dies";
    network.graph.symbols["batch"].value = 8;
    network.graph.mode = Mode::training;
    const NetworkMeasurement lost = supervisor.measure(network);
    EXPECT_EQ(lost.outcome, Outcome::crashed);
    EXPECT_EQ(lost.model, "dies");
    EXPECT_EQ(lost.symbols.at("batch"), 8);
    EXPECT_EQ(lost.mode, Mode::training);
}

TEST(SupervisorStart, NamesTheCommandAndItsLastWords) {
    const std::string why = why_it_does_not_start(fake("exit"));
    EXPECT_THAT(why, HasSubstr(FAKE_WORKER));
    EXPECT_THAT(why, HasSubstr("exit status 127"));
    EXPECT_THAT(why, HasSubstr("cannot open shared object file"));
}

TEST(SupervisorStart, AnotherVersionIsNamed) {
    const std::string why = why_it_does_not_start(fake("version"));
    EXPECT_THAT(why, HasSubstr("protocol is 2, this program speaks 1"));
}

TEST(SupervisorStart, ChatterBeforeHelloIsShown) {
    EXPECT_THAT(why_it_does_not_start(fake("chat")), HasSubstr("Welcome to board 7!"));
}

TEST(SupervisorStart, SilenceEnds) {
    EXPECT_THAT(why_it_does_not_start(fake("hang", std::chrono::milliseconds(50))), HasSubstr("did not answer within"));
    EXPECT_THAT(why_it_does_not_start(fake("deaf", std::chrono::milliseconds(50))), HasSubstr("did not answer within"));
}

}  // namespace
}  // namespace joulecast
