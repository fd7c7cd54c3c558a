#include "joulecast/worker/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "joulecast/error.h"

namespace joulecast::protocol {
namespace {

using ::testing::HasSubstr;

std::string fault_of_request(const std::string& line) {
    try {
        parse_request(line);
    } catch (const FormatError& error) {
        return error.what();
    }
    return "accepted";
}

std::string fault_of_response(const std::string& line) {
    try {
        parse_response(line);
    } catch (const FormatError& error) {
        return error.what();
    }
    return "accepted";
}

/// `line` with `from` replaced, which must be there.
std::string with(std::string line, const std::string& from, const std::string& to) {
    const auto place = line.find(from);
    if (place == std::string::npos) throw Error("the line has no " + from);
    return line.replace(place, from.size(), to);
}

Request some_measure() {
    Measure measure;
    measure.operation = parse_operation("aten::relu(self=f32[8,16]~)");
    measure.point.device = "cpu";
    measure.point.threads = 2;
    measure.settings.seed = 42;
    measure.settings.measure_hot = false;
    return {"7", measure};
}

Response some_measurement() {
    Measurement measurement;
    measurement.operation = parse_operation("aten::relu(self=f32[8,16])");
    measurement.asked.device = "cpu";
    measurement.real.device = "cpu-x-2c";
    measurement.real.sm_clock_mhz = 2600.0;
    measurement.time = {1.5e-6, 1.4e-6, 1e-9, 1.3e-6, 1.7e-6, 50, 40.5, 3, 700, true};
    measurement.peak_memory_bytes = 512.0;
    measurement.block_s = {0.1, 1.5e-6};
    measurement.rotation = 96;
    return {"7", measurement};
}

TEST(Protocol, AMeasureRequestComesBackAsItWas) {
    const std::string line = to_line(some_measure());
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const Request request = parse_request(line);
    EXPECT_EQ(request.id, "7");
    const auto& measure = std::get<Measure>(request.body);
    EXPECT_EQ(signature(measure.operation), "aten::relu(self=f32[8,16]~)");
    EXPECT_EQ(measure.point.threads, 2);
    EXPECT_EQ(measure.settings.seed, 42U);
    EXPECT_FALSE(measure.settings.measure_hot);
    EXPECT_EQ(to_line(request), line);
}

TEST(Protocol, HelloAndQuitAreOneWord) {
    EXPECT_TRUE(std::holds_alternative<Hello>(parse_request(to_line(Request{"1", Hello{}})).body));
    EXPECT_TRUE(std::holds_alternative<Quit>(parse_request(to_line(Request{"1", Quit{}})).body));
}

TEST(Protocol, PreparingAndWhatItFoundComeBackAsTheyWere) {
    Prepare prepare;
    prepare.point.device = "cuda:0";
    prepare.point.sm_clock_mhz = 900;
    prepare.settings.seed = 42;
    const std::string asked = to_line(Request{"1", prepare});
    EXPECT_EQ(std::get<Prepare>(parse_request(asked).body).point.sm_clock_mhz, 900);
    EXPECT_EQ(to_line(parse_request(asked)), asked);
    Prepared prepared;
    prepared.real.device = "a30";
    prepared.soak_s = 21;
    prepared.temperature_c = 55.5;
    prepared.settled = false;
    prepared.meter_period_s = 0.1;
    prepared.suspect = true;
    prepared.message = "still rising";
    const std::string found = to_line(Response{"1", prepared});
    const auto back = std::get<Prepared>(parse_response(found).body);
    EXPECT_EQ(back.temperature_c, 55.5);
    EXPECT_FALSE(back.settled);
    EXPECT_TRUE(std::isnan(back.idle_power_w));
    EXPECT_EQ(to_line(parse_response(found)), found);
}

TEST(Protocol, HelloMayAskForOneOfSeveralDevices) {
    const std::string line = to_line(Request{"1", Hello{"cuda:1"}});
    EXPECT_EQ(std::get<Hello>(parse_request(line).body).device, "cuda:1");
    EXPECT_EQ(to_line(Request{"1", Hello{}}).find("device"), std::string::npos);
    Capabilities worker;
    worker.device.id = "a30";
    worker.hosts = {Host::python, Host::graph};
    const std::string answer = to_line(Response{"1", worker});
    EXPECT_EQ(std::get<Capabilities>(parse_response(answer).body).hosts, worker.hosts);
    EXPECT_THAT(fault_of_response(with(answer, R"("graph")", R"("gaph")")), HasSubstr("\"gaph\", which is no host"));
    const std::string old = with(answer, R"("hosts":["python","graph"],)", "");
    EXPECT_EQ(std::get<Capabilities>(parse_response(old).body).hosts, std::vector{Host::cpp});
}

TEST(Protocol, EngineIsTheFrameworksNameWhereHelloDoesNotSayIt) {
    Capabilities worker;
    worker.device.id = "a30";
    worker.provenance.framework = "onnxruntime 1.31";
    const std::string answer = to_line(Response{"1", worker});
    EXPECT_EQ(std::get<Capabilities>(parse_response(answer).body).engine, "onnxruntime");
    const std::string said = R"("engine":"onnxruntime",)";
    const auto engine = [&](const std::string& instead) {
        return std::get<Capabilities>(parse_response(with(answer, said, instead)).body).engine;
    };
    EXPECT_EQ(engine(R"("engine":"torch-compile",)"), "torch-compile");
    EXPECT_EQ(engine(""), "onnxruntime");  // a worker from before there were engines
    for (const std::string wrong : {R"("engine":"",)", R"("engine":"ORT",)", R"("engine":"o r t",)"})
        EXPECT_THAT(fault_of_response(with(answer, said, wrong)), HasSubstr("engine")) << wrong;
}

TEST(Protocol, PointsCarryTheirEngineAndAreOfTorchWhereTheyDoNotSayIt) {
    Request request = some_measure();
    std::get<Measure>(request.body).point.engine = "tvm";
    const std::string line = to_line(request);
    EXPECT_EQ(std::get<Measure>(parse_request(line).body).point.engine, "tvm");
    const std::string old = with(line, R"("engine":"tvm",)", "");
    EXPECT_EQ(std::get<Measure>(parse_request(old).body).point.engine, "torch");
}

TEST(Protocol, HelloTellsWhichClocksCanBeSet) {
    Capabilities worker;
    worker.device.id = "a30";
    worker.locks_clocks = true;
    worker.sm_clocks_mhz = {210, 1440};
    worker.power_limit_high_w = 165;
    const std::string line = to_line(Response{"1", worker});
    const auto back = std::get<Capabilities>(parse_response(line).body);
    EXPECT_EQ(back.sm_clocks_mhz, worker.sm_clocks_mhz);
    EXPECT_TRUE(back.locks_clocks);
    EXPECT_TRUE(std::isnan(back.power_limit_low_w));
    EXPECT_EQ(to_line(parse_response(line)), line);
    // A worker from before these fields locks nothing.
    const std::string old = with(line, R"("locks_clocks":true,)", "");
    EXPECT_FALSE(std::get<Capabilities>(parse_response(old).body).locks_clocks);
}

TEST(Protocol, AGraphTravelsWithItsEdges) {
    MeasureGraph measure;
    measure.graph.name = "net";
    measure.graph.inputs = {{"x", GraphInput::Kind::user_input, {Dtype::f32, {8}}, {}}};
    Node relu;
    relu.operation = parse_operation("aten::relu(self=f32[8])");
    relu.inputs = {{-1, 0}};
    relu.outputs = {{Dtype::f32, {8}}};
    measure.graph.nodes = {relu};
    measure.graph.outputs = {{0, 0}};
    measure.point.device = "cpu";
    const std::string line = to_line(Request{"1", measure});
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto back = std::get<MeasureGraph>(parse_request(line).body).graph;
    ASSERT_EQ(back.nodes.size(), 1U);
    EXPECT_EQ(back.nodes[0].inputs, relu.inputs);
    EXPECT_EQ(back.name, "net");
}

TEST(Protocol, SettingsMayBeLeftOut) {
    const Request request = parse_request(
        R"x({"protocol":1,"id":"1","request":"measure","operation":"aten::relu(self=f32[8])","point":{"device":"cpu"}})x");
    EXPECT_DOUBLE_EQ(std::get<Measure>(request.body).settings.time_budget_s, 0.25);
}

TEST(Protocol, AMeasurementComesBackAsItWas) {
    const std::string line = to_line(some_measurement());
    const Response response = parse_response(line);
    const auto& measurement = std::get<Measurement>(response.body);
    EXPECT_DOUBLE_EQ(measurement.time.mean_s, 1.5e-6);
    EXPECT_EQ(measurement.time.dropped_blocks, 3);
    EXPECT_EQ(measurement.rotation, 96);
    EXPECT_EQ(measurement.block_s, (std::vector<double>{0.1, 1.5e-6}));
    EXPECT_FALSE(measurement.hot);
    EXPECT_EQ(to_line(response), line);
}

TEST(Protocol, WhatIsNotKnownIsNull) {
    const std::string line = to_line(some_measurement());
    EXPECT_THAT(line, HasSubstr(R"("energy":null)"));
    EXPECT_EQ(line.find("nan"), std::string::npos);
    EXPECT_FALSE(std::get<Measurement>(parse_response(line).body).energy);
}

TEST(Protocol, AMessageOfAnyBytesStaysOneLine) {
    const std::string line = to_line(Response{"1", Failure{"driver said\n\xff\xfe"}});
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_THAT(std::get<Failure>(parse_response(line).body).message, HasSubstr("driver said\n"));
}

TEST(ProtocolGarbage, EveryFaultNamesItsField) {
    const std::string line = to_line(some_measure());
    EXPECT_THAT(fault_of_request(with(line, R"("protocol":1)", R"("protocol":2)")), HasSubstr("speaks 1"));
    EXPECT_THAT(fault_of_request(with(line, R"("protocol":1)", R"("protocl":1)")), HasSubstr("protocol is missing"));
    EXPECT_THAT(fault_of_request(with(line, R"("id":"7")", R"("id":7)")), HasSubstr("field id is no text"));
    EXPECT_THAT(fault_of_request(with(line, R"("seed":42)", R"("seed":-1)")), HasSubstr("field settings.seed"));
    EXPECT_THAT(fault_of_request(with(line, R"("seed":42)", R"("seed":1.5)")),
                HasSubstr("settings.seed is no integer"));
    EXPECT_THAT(fault_of_request(with(line, R"("warm_up_s":0.05)", R"("warm_up_s":null)")),
                HasSubstr("settings.warm_up_s is no number"));
    EXPECT_THAT(fault_of_request(with(line, R"("measure_hot":false)", R"("measure_hot":0)")),
                HasSubstr("settings.measure_hot"));
    EXPECT_THAT(fault_of_request(with(line, R"("math":"ieee")", R"("math":"fast")")), HasSubstr("point.math \"fast\""));
    EXPECT_THAT(fault_of_request(with(line, "aten::relu(self", "aten::relu((self")), HasSubstr("field operation"));
    EXPECT_THAT(fault_of_request(with(line, R"("request":"measure")", R"("request":"dance")")), HasSubstr("\"dance\""));
}

TEST(ProtocolGarbage, FaultsOfResponsesToo) {
    const std::string line = to_line(some_measurement());
    EXPECT_THAT(fault_of_response(with(line, R"("outcome":"ok")", R"("outcome":"fine")")),
                HasSubstr("measurement.outcome \"fine\""));
    EXPECT_THAT(fault_of_response(with(line, R"("mean_s":1.5e-06)", R"("mean_s":-1.0)")), HasSubstr("time.mean_s"));
    EXPECT_THAT(fault_of_response(with(line, R"("mean_s":1.5e-06)", R"("mean_s":null)")), HasSubstr("time.mean_s"));
    EXPECT_THAT(fault_of_response(with(line, R"([0.1,)", R"(["0.1",)")), HasSubstr("measurement.block_s"));
    EXPECT_THAT(fault_of_response(with(line, R"("rotation":96)", R"("rotation":0)")),
                HasSubstr("measurement.rotation"));
    EXPECT_THAT(fault_of_response(with(line, R"("blocks":50)", R"("blocks":1e999)")), HasSubstr("not JSON"));
}

TEST(ProtocolGarbage, WhatIsNoObjectIsRefused) {
    for (const std::string line : {"", "nonsense", "[]", "7", "null", "{", "\"text\""}) {
        EXPECT_THROW(parse_request(line), FormatError) << line;
        EXPECT_THROW(parse_response(line), FormatError) << line;
    }
}

TEST(ProtocolGarbage, DepthAndLengthAreBounded) {
    EXPECT_THAT(fault_of_request(std::string(100'000, '[')), HasSubstr("nests deeper"));
    EXPECT_THAT(fault_of_request(std::string(max_line_bytes + 1, ' ')), HasSubstr("at most"));
    std::string blocks = "0";
    for (int i = 0; i < 1'000'000; ++i) blocks += ",0";
    EXPECT_THAT(fault_of_response(with(to_line(some_measurement()), "[0.1,1.5e-06]", "[" + blocks + "]")),
                HasSubstr("more than 1000000 items"));
}

TEST(Protocol, RunsOfGivenNumbersOfCallsGoThereAndBack) {
    TimeRuns wanted;
    wanted.operation = parse_operation("aten::relu(self=f32[8])");
    wanted.point.device = "cpu";
    wanted.settings.threads = 3;
    wanted.calls = {1, most_calls};
    const std::string asked = to_line(Request{"1", wanted});
    const auto back = std::get<TimeRuns>(parse_request(asked).body);
    EXPECT_EQ(signature(back.operation), "aten::relu(self=f32[8])");
    EXPECT_EQ(back.calls, wanted.calls);
    EXPECT_EQ(back.settings.threads, 3);
    for (const char* calls : {"[]", "[0]", "[-1]", "[1000000001]", "[18446744073709551615]", "[1.5]", "[\"1\"]"}) {
        EXPECT_THAT(fault_of_request(with(asked, "[1,1000000000]", calls)), HasSubstr("calls")) << calls;
    }
    const std::string found = to_line(Response{"1", TimedRuns{{{7, 0.5}}}});
    const auto timed = std::get<TimedRuns>(parse_response(found).body);
    ASSERT_EQ(timed.runs.size(), 1U);
    EXPECT_EQ(timed.runs[0].calls, 7);
    EXPECT_EQ(timed.runs[0].runtime_s, 0.5);
    EXPECT_THAT(fault_of_response(with(found, "0.5", "-0.5")), HasSubstr("runtime_s"));
    EXPECT_THAT(fault_of_response(with(found, "0.5", "null")), HasSubstr("runtime_s"));
    EXPECT_THAT(fault_of_response(with(found, ":7", ":0")), HasSubstr("calls"));
}

TEST(Protocol, UnknownFieldsAreLeftAlone) {
    EXPECT_NO_THROW(parse_request(R"({"protocol":1,"id":"1","request":"hello","colour":"blue"})"));
}

TEST(Protocol, SettingsAreOneObject) {
    EXPECT_THAT(settings_to_json({}), HasSubstr(R"("time_budget_s":0.25)"));
}

}  // namespace
}  // namespace joulecast::protocol
