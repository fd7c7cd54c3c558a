#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "joulecast/answer/shipped.h"
#include "joulecast/model/jcp.h"
#include "tests/answer/two_engines.h"
#include "tests/cli/suite_folder.h"

namespace joulecast::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class EnginesOnTheCommandLine : public SuiteFolder<EnginesOnTheCommandLine> {
  public:
    static void set_up_files() {
        Predictor both = two_engines();
        write_jcp(both, file("both.jcp"));
        FusionModel fusion;
        fusion.framework = "onnxruntime 1.32.0";
        fusion.networks = 7;
        fusion.rules = {{"join|convolution...conv2d:2|batch_norm|one|first|0|1|4", true}};
        fusion.factors = {{"convolution+batch_norm", 0, 7}};
        for (DeviceModel& device : both.devices)
            if (device.point.engine == "onnxruntime") device.fusions = {fusion};
        write_jcp(both, file("fusing.jcp"));
        for (DeviceModel& device : both.devices) device.fusions.clear();
        both.devices.pop_back();
        write_jcp(both, file("onnxruntime.jcp"));
    }

    /// The zoo, with a predictor of torch alone and behind it one of two engines.
    static std::string home() {
        namespace fs = std::filesystem;
        const fs::path folder = file("home");
        fs::create_directories(folder / "predictors");
        if (!fs::exists(folder / "zoo")) fs::create_symlink(shipped_folder("zoo"), folder / "zoo");
        Predictor both = two_engines();
        write_jcp(both, folder / "predictors" / "engines.jcp");
        both.devices.erase(both.devices.begin());
        write_jcp(both, folder / "predictors" / "alone.jcp");
        return folder.string();
    }

  protected:
    static std::string on(const std::string& predictor) {
        return " resnet18 --device cpu-synthetic --set batch=4 --predictor " + file(predictor);
    }
};

// The second engine's operations were dropped, since the first one's had the same call at the same setting.
TEST_F(EnginesOnTheCommandLine, ATableOfCallsHasThoseOfEachEngine) {
    const auto ran = run_joulecast("export --lut --format json --engine torch,onnxruntime" + on("both.jcp"));
    ASSERT_EQ(ran.status, 0) << ran.err;
    const json table = json::parse(ran.out);
    std::map<std::string, int> calls, compositions;
    for (const json& entry : table["operations"]) ++calls[entry["engine"]];
    for (const json& entry : table["compositions"]) ++compositions[entry["engine"]];
    EXPECT_EQ(calls.size(), 2U);
    EXPECT_EQ(calls["torch"], calls["onnxruntime"]);
    EXPECT_EQ(compositions, (std::map<std::string, int>{{"torch", 1}, {"onnxruntime", 1}}));
}

// A trace had Python's share in it, which ONNX Runtime's calls do not have.
TEST_F(EnginesOnTheCommandLine, ATraceEndsWhereTheForecastDoes) {
    const json predicted =
        json::parse(run_joulecast("predict --format json" + on("onnxruntime.jcp")).out)["predictions"][0];
    EXPECT_EQ(predicted["engine"], "onnxruntime");
    const json trace = json::parse(run_joulecast("trace" + on("onnxruntime.jcp")).out);
    double end_us = 0;
    for (const json& event : trace["traceEvents"])
        if (event.contains("dur")) end_us = std::max(end_us, event["ts"].get<double>() + event["dur"].get<double>());
    EXPECT_NEAR(end_us * 1e-6, predicted["time_s"]["value"].get<double>(), 1e-8);
}

TEST_F(EnginesOnTheCommandLine, WhatAnEngineFusesIsForecastShownAndTraced) {
    const auto json_of = [](const std::string& command) { return json::parse(run_joulecast(command).out); };
    const std::string asked = " --engine onnxruntime" + on("fusing.jcp");
    const json fused = json_of("predict --per-operation --format json" + asked)["predictions"][0];
    EXPECT_EQ(fused["fusion"],
              json::parse(R"({"framework":"onnxruntime 1.32.0","networks":7,"alone":48,"fused":20,"not_run":0})"));
    double sum = 0;
    for (const json& operation : fused["operations"])
        sum += operation["count"].get<double>() * operation["time_s"]["value"].get<double>();
    EXPECT_NEAR(sum, fused["time_s"]["value"].get<double>(), 1e-9);
    // torch's forecast is what it was.
    const std::string of_torch = "predict --format json --engine torch";
    json torch = json_of(of_torch + on("fusing.jcp"))["predictions"][0],
         before = json_of(of_torch + on("both.jcp"))["predictions"][0];
    torch.erase("predictor"), before.erase("predictor");
    EXPECT_EQ(torch, before);
    const json trace = json_of("trace" + asked);
    double end_us = 0;
    int in_convolution = 0;
    for (const json& event : trace["traceEvents"]) {
        if (!event.contains("dur")) continue;
        end_us = std::max(end_us, event["ts"].get<double>() + event["dur"].get<double>());
        in_convolution += event["name"] == "batch_norm in convolution" ? 1 : 0;
    }
    EXPECT_EQ(in_convolution, 20);
    EXPECT_NEAR(end_us * 1e-6, fused["time_s"]["value"].get<double>(), 1e-8);
    EXPECT_THAT(run_joulecast("predict" + asked).out,
                HasSubstr("by the rules of onnxruntime 1.32.0, learnt from 7 networks"));
}

TEST_F(EnginesOnTheCommandLine, ThePredictorThatKnowsThemIsTakenOfThoseShipped) {
    const std::string asked = "JOULECAST_HOME=" + home() + " $JOULECAST predict resnet18 --device cpu-synthetic";
    const auto ran = [&](const std::string& engines) { return run_shell(asked + engines); };
    EXPECT_THAT(ran("").out, HasSubstr("predictor alone.jcp"));
    EXPECT_THAT(ran(" --engine torch").out, HasSubstr("predictor alone.jcp"));
    const auto both = ran(" --engine torch,onnxruntime");
    EXPECT_THAT(both.out, AllOf(HasSubstr("predictor engines.jcp"), Not(HasSubstr("alone.jcp"))));
    EXPECT_THAT(both.err, Not(HasSubstr("to compare")));
    const auto other = ran(" --engine onnxruntime");
    EXPECT_THAT(other.out, HasSubstr("predictor engines.jcp"));
    EXPECT_THAT(other.err, HasSubstr("to compare with torch ask for both: --engine torch,onnxruntime"));
    const std::string trace = std::regex_replace(asked, std::regex(" predict "), " trace ");
    EXPECT_EQ(run_shell(trace + " --engine onnxruntime").status, 0);
    EXPECT_THAT(ran(" --engine tvm").err, HasSubstr("alone.jcp knows cpu-synthetic with torch alone, not with tvm"));
    EXPECT_THAT(ran(" --engine tvm").err, HasSubstr("profile --worker joulecast-tvm"));
    EXPECT_THAT(ran(" --engine tensorrt").err,
                AllOf(HasSubstr("Workers are shipped for torch, torch-compile,"), HasSubstr("write one for tensorrt")));
}

// Rules of earlier versions are left out of a predictor that is read: those that are shipped must be of this one.
TEST_F(EnginesOnTheCommandLine, TheShippedPredictorFusesUnderEachEngine) {
    const auto ran = run_joulecast(
        "predict resnet18 --device cpu-amd-epyc-2c --engine torch,onnxruntime,openvino,torch-compile,tvm --format "
        "json");
    ASSERT_EQ(ran.status, 0) << ran.err;
    const json answer = json::parse(ran.out);
    std::map<std::string, std::int64_t> fused;
    for (const json& told : answer["predictions"])
        fused[told["engine"]] =
            told.contains("fusion") && told["fusion"].is_object() ? told["fusion"]["fused"].get<std::int64_t>() : 0;
    EXPECT_THAT(fused, UnorderedElementsAre(Pair("torch", 0), Pair("onnxruntime", Gt(30)), Pair("openvino", Gt(30)),
                                            Pair("torch-compile", Gt(10)), Pair("tvm", Gt(10))));
}

TEST_F(EnginesOnTheCommandLine, TablesTellWhoseCallsTheyAre) {
    const auto ran = run_joulecast("predict --per-operation --engine torch,onnxruntime" + on("both.jcp"));
    EXPECT_THAT(ran.out, HasSubstr("host python)"));
    EXPECT_THAT(ran.out, HasSubstr("host cpp of onnxruntime)"));
}

}  // namespace
}  // namespace joulecast::testing
