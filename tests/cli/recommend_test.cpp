#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "joulecast/report/table.h"
#include "tests/cli/run_command.h"

namespace joulecast::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

nlohmann::json answered(const std::string& arguments) {
    const auto ran = run_joulecast("recommend " + arguments + " --format json");
    EXPECT_EQ(ran.err.find("Traceback"), std::string::npos);
    return nlohmann::json::parse(ran.out);
}

/// Without the breaks of lines for a terminal.
std::string in_one_line(const std::string& text) {
    std::string line;
    for (const char c : text) {
        const bool is_blank = c == ' ' || c == '\n';
        if (!is_blank || (!line.empty() && line.back() != ' ')) line += is_blank ? ' ' : c;
    }
    return line;
}

TEST(Recommend, AnswersInOneSentenceWithTheCommandThatAppliesIt) {
    const auto ran = run_joulecast("recommend resnet18 --device a30 --set batch=8");
    EXPECT_EQ(ran.status, 0) << ran.err;
    const std::string sentence = in_one_line(ran.out);
    for (const char* part :
         {"Asked: least energy a sample, at most 10 % more time than at default settings", "Run resnet18 on a30 at ",
          "batch=8", "than at its default clock of 1440 MHz", "Runner-up", "Chance to be within 1 % of the best of"})
        EXPECT_THAT(sentence, HasSubstr(part));
    EXPECT_THAT(sentence, Not(HasSubstr("to be the best")));
    EXPECT_THAT(ran.out, HasSubstr("Set it: sudo nvidia-smi -i 0 -lgc "));
    EXPECT_THAT(ran.out, HasSubstr("Pareto front"));
    // Where no limit decides, neighbours of the best clock take hardly more.
    const auto free = run_joulecast("recommend resnet18 --device a30 --set batch=8 --max-slowdown 100%");
    EXPECT_THAT(in_one_line(free.out), HasSubstr("MHz are as good (within 1 %)"));
}

TEST(Recommend, HasTheKeysOfTheContract) {
    const auto answer = answered("resnet18 --device a30 t4 --set batch=1,8 --minimise edp");
    EXPECT_EQ(answer["schema"], "joulecast.recommendation/1");
    for (const char* key : {"model", "sentence", "question", "feasible", "limits", "answer", "runner_up", "default",
                            "saving", "chance_best", "chance_within_1_percent", "command", "undo_command", "binding",
                            "best", "pareto_front", "candidates", "left_out", "unknown_operations"})
        EXPECT_TRUE(answer.contains(key)) << key;
    const auto& best = answer["answer"];
    for (const auto& one : answer["candidates"]) {
        EXPECT_EQ(one["engine"], "torch");
        if (one["feasible"].get<bool>()) {
            EXPECT_GE(one["value"].get<double>(), best["value"].get<double>());
        }
    }
    const double time = best["time_s"]["value"].get<double>() / best["samples_per_run"].get<double>();
    const double energy = best["energy_j"]["value"].get<double>() / best["samples_per_run"].get<double>();
    EXPECT_DOUBLE_EQ(best["value"].get<double>(), time * energy);
    EXPECT_EQ(answer["default"]["device"], best["device"]);
    EXPECT_TRUE(answer["default"]["is_default"].get<bool>());
    double before = 0;
    for (const auto& one : answer["pareto_front"]) {
        EXPECT_GT(one["per_sample"]["time"].get<double>(), before);
        before = one["per_sample"]["time"].get<double>();
    }
}

TEST(Recommend, HoldsALimitAndCountsTheJob) {
    const auto fastest = answered("resnet18 --device a30 --set batch=8 --minimise time");
    const double limit = 1.05 * fastest["answer"]["time_s"]["value"].get<double>();
    const auto answer = answered(
        "resnet18 --device a30 --set batch=8 --samples 1001 --electricity-price 0.25 --carbon 400 "
        "--device-price 2 --max-time " +
        std::to_string(limit));
    const auto& best = answer["answer"];
    const double time = best["time_s"]["value"].get<double>(), energy = best["energy_j"]["value"].get<double>();
    EXPECT_LE(time, limit + 1e-6) << "the limit has six digits";
    const auto& job = best["job"];
    EXPECT_EQ(job["runs"], 126) << "of 8";
    EXPECT_NEAR(job["hours"].get<double>(), 126 * time / 3600, 1e-12);
    EXPECT_NEAR(job["kwh"].get<double>(), 126 * energy / 3.6e6, 1e-12);
    EXPECT_NEAR(job["price"].get<double>(), 2 * 126 * time / 3600 + 0.25 * 126 * energy / 3.6e6, 1e-12);
    EXPECT_NEAR(job["carbon_g"].get<double>(), 400 * 126 * energy / 3.6e6, 1e-9);
    EXPECT_EQ(answer["limits"][0]["limit"], "time");
}

TEST(Recommend, KeepsWithinTenPercentMoreTimeUnlessToldOtherwise) {
    const std::string network = "resnet50 --device a30 --set batch=64";
    const auto ratio = [](const nlohmann::json& answer, const char* of) {
        return answer["answer"][of]["value"].get<double>();
    };
    const auto usual = answered(network);
    EXPECT_LE(ratio(usual, "time_over_default"), 1.10);
    const auto any = answered(network + " --max-slowdown none");
    EXPECT_GT(ratio(any, "time_over_default"), 1.10) << "else this network tells nothing";
    EXPECT_LT(ratio(any, "energy_over_default"), ratio(usual, "energy_over_default"));
    const auto five = answered(network + " --max-slowdown 5%");
    EXPECT_LE(ratio(five, "time_over_default"), 1.05);
    EXPECT_EQ(five["limits"][0]["limit"], "slowdown");
    EXPECT_GE(ratio(five, "energy_over_default"), ratio(usual, "energy_over_default"));
    const auto fast = answered(network + " --minimise time --clocks 900,1200 --max-energy -5%");
    EXPECT_LE(ratio(fast, "energy_over_default"), 0.95);
    const auto refused = run_joulecast("recommend " + network + " --max-slowdown fast");
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("--max-slowdown takes a share"));
}

TEST(Recommend, GivesUpTheUsualSlowdownWhereALimitNeedsMore) {
    const std::string network = "resnet50 --device a30 --set batch=64";
    const auto usual = answered(network);
    const double power = usual["default"]["power_w"]["value"].get<double>();
    const auto ran =
        run_joulecast("recommend " + network + " --format json --max-power " + std::to_string(0.65 * power));
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("chosen without that bound"));
    EXPECT_GT(nlohmann::json::parse(ran.out)["answer"]["time_over_default"]["value"].get<double>(), 1.10);
}

TEST(Recommend, RefusesForACardWhatItsSheetSaysItCannotDo) {
    for (const std::string card : {"v100", "t4", "p100", "gtx1080"}) {
        const auto ran = run_joulecast("recommend llama-3.2-1b --device " + card + " --precision bf16,fp8");
        EXPECT_EQ(ran.status, 2) << card;
        EXPECT_EQ(ran.out, "");
        for (const char* precision : {"has no bf16", "has no fp8"}) EXPECT_THAT(ran.err, HasSubstr(precision)) << card;
    }
    const auto ran = run_joulecast("recommend resnet18 --device v100 a100 --precision bf16,fp16,fp8 --format json");
    EXPECT_EQ(ran.status, 0) << ran.err;
    const auto answer = nlohmann::json::parse(ran.out);
    for (const auto& one : answer["candidates"]) {
        EXPECT_NE(one["precision"], "fp8");
        if (one["device"] == "v100-16g-pcie") {
            EXPECT_EQ(one["precision"], "fp16");
        }
    }
    EXPECT_THAT(ran.err, HasSubstr("Tesla V100-PCIE-16GB has no bf16"));
}

TEST(Recommend, OffersNoPowerLimitBeyondTheBoards) {
    const auto ran =
        run_joulecast("recommend resnet50 --device a100 --set batch=64 --power-limits 100,200,300 --format json");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("a100-40g-pcie takes power limits of 150 W to 250 W"));
    EXPECT_EQ(nlohmann::json::parse(ran.out)["candidates"].size(), 2U) << "its own limit and 200 W";
    const auto h100 = run_joulecast("predict resnet50 --device h100 --power-limits 701");
    EXPECT_EQ(h100.status, 2);
    EXPECT_THAT(h100.err, HasSubstr("200 W to 700 W, not of 701 W"));
}

TEST(Recommend, SetsOneClockForAMixOfNetworksOrOneForEach) {
    const std::string networks = "resnet18 vgg16 --device a30 --set batch=16 --clocks 900:1440:60";
    const auto each = answered(networks);
    ASSERT_EQ(each["networks"].size(), 2U);
    EXPECT_EQ(each["networks"][0]["model"], "resnet18");
    EXPECT_EQ(each["networks"][1]["model"], "vgg16");
    const auto mix = answered(networks + " --weights 3,1");
    EXPECT_EQ(mix["model"], "resnet18 + vgg16");
    ASSERT_EQ(mix["networks"].size(), 2U);
    const auto at = [](const nlohmann::json& answer, double mhz) {
        for (const auto& one : answer["candidates"])
            if (one["clock_mhz"] == mhz) return one["energy_j"]["value"].get<double>();
        return 0.0;
    };
    const double first = at(each["networks"][0], 900) / 16, second = at(each["networks"][1], 900) / 16;
    EXPECT_NEAR(at(mix, 900), 0.75 * first + 0.25 * second, 1e-9);
    EXPECT_EQ(run_joulecast("recommend " + networks + " --weights 3").status, 2);
    EXPECT_EQ(run_joulecast("recommend resnet18 --device a30 --weights 3").status, 2);
    EXPECT_EQ(run_joulecast("recommend " + networks + " --weights 3,1 --clock-for each").status, 2);
}

TEST(Recommend, TakesNumbersAsPeopleWriteThem) {
    const auto answer = answered("resnet18 --device a30 --set batch=8 --samples 1,281,167 --epochs 2 --max-memory 4GB");
    EXPECT_EQ(answer["question"]["samples"], 2562334);
    EXPECT_EQ(answer["limits"][0]["asked"], 4e9);
}

TEST(Recommend, FitsTheTerminalWithAShortParetoFront) {
    const auto ran = run_shell("COLUMNS=80 \"$JOULECAST\" recommend resnet50 --device a30 t4 --precision fp16,fp32");
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80U) << line;
    const auto front = [](const std::string& text) {
        const std::size_t begin = text.find("Pareto front");
        return std::ranges::count(text.substr(begin, text.find("\nlimited by host", begin) - begin), '\n');
    };
    EXPECT_LT(front(ran.out), 12);
    EXPECT_GT(front(run_joulecast("recommend resnet50 --device a30 t4 --precision fp16,fp32 -v").out), 20);
}

TEST(Recommend, SaysWhichLimitBindsAndByHowMuch) {
    const auto ran = run_joulecast("recommend resnet18 --device a30 --set batch=8 --max-time 1e-6 --format json");
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("--max-time"));
    EXPECT_THAT(ran.err, HasSubstr("too much"));
    const auto answer = nlohmann::json::parse(ran.out);
    EXPECT_FALSE(answer["feasible"].get<bool>());
    EXPECT_TRUE(answer["answer"].is_null());
    EXPECT_EQ(answer["binding"]["limits"][0]["limit"], "time");
    EXPECT_GT(answer["binding"]["limits"][0]["excess"].get<double>(), 1);
}

TEST(Recommend, TakesNoBatchThatOverflowsTheMemory) {
    const auto some = run_joulecast("recommend vgg16 --device t4 --set batch=8,4096");
    EXPECT_EQ(some.status, 0) << some.err;
    EXPECT_THAT(some.out, HasSubstr("need too much memory (t4 with batch=4096"));
    const auto none = run_joulecast("recommend vgg16 --device t4 --set batch=4096");
    EXPECT_EQ(none.status, 1);
    EXPECT_THAT(none.err, HasSubstr("the memory of its device"));
}

TEST(Recommend, RefusesWhatMakesNoSense) {
    const auto refused = [](const std::string& rest, const std::string& message) {
        const auto ran = run_joulecast("recommend resnet18 " + rest);
        EXPECT_EQ(ran.status, 2) << rest << ran.err;
        EXPECT_THAT(ran.err, HasSubstr(message)) << rest;
    };
    refused("--device a31", "a30");
    refused("--device a30@900", "chooses the clock");
    refused("--device a30 --clocks 9000", "9000");
    refused("--device a30 --clocks fast", "fast");
    refused("--device a30 --minimise money", "money");
    refused("--device a30 --minimise price", "--electricity-price");
    refused("--device a30 --minimise carbon", "--carbon");
    refused("--device a30 --max-hours 2", "--samples");
    refused("--device a30 --max-time -1", "--max-time");
    refused("--device a30 --device-price a30=x", "--device-price");
}

TEST(Recommend, SetsPowerLimitsInPlaceOfClocks) {
    const auto answer = answered("resnet50 --device a30 --set batch=32 --power-limits 110,140");
    EXPECT_EQ(answer["candidates"].size(), 3U) << "the default and two limits";
    for (const auto& one : answer["candidates"]) EXPECT_EQ(one["clock_mhz"], 1440);
    if (!answer["answer"]["is_default"].get<bool>()) {
        EXPECT_THAT(answer["command"].get<std::string>(), HasSubstr("nvidia-smi -i 0 -pl "));
    }
}

TEST(Recommend, SearchesTheDecodingStepOfALanguageModel) {
    const auto answer = answered("gpt2 --device a30 --set batch=4 --set sequence=64");
    EXPECT_EQ(answer["phase"], "prefill");
    const auto& prefill = answer["answer"];
    EXPECT_NEAR(prefill["tokens_per_s"].get<double>(), 4 * 64 / prefill["time_s"]["value"].get<double>(), 1e-6);
    EXPECT_EQ(answer["decode"]["phase"], "decode");
    const auto& step = answer["decode"]["answer"];
    EXPECT_EQ(step["symbols"]["past"], 64);
    EXPECT_NEAR(step["tokens_per_s"].get<double>(), 4 / step["time_s"]["value"].get<double>(), 1e-6);
    EXPECT_LT(step["tokens_per_s"].get<double>(), prefill["tokens_per_s"].get<double>());
    const auto reader = run_joulecast("recommend bert-base --device a30");
    EXPECT_THAT(reader.out, HasSubstr("tokens/s"));
    EXPECT_THAT(reader.out, HasSubstr("no graph of its decoding step is known"));
}

TEST(Recommend, WritesEverySettingAsCsv) {
    const auto ran = run_joulecast("recommend resnet18 --device a30 --clocks 900,1200 --format csv");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(std::ranges::count(ran.out, '\n'), 4) << "a header, the default, and two clocks";
    EXPECT_THAT(ran.out, HasSubstr("device,clock_mhz,real_clock_mhz"));
    EXPECT_THAT(ran.out, HasSubstr(",engine,host,threads\n"));
}

TEST(Recommend, SaysHowManyThreadsOfACpuComputeAndHowToRunTheEngine) {
    const std::string command =
        "recommend resnet18 --device cpu-amd-epyc-2c --engine torch,onnxruntime,openvino --minimise time";
    const auto ran = run_joulecast(command);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr(", 1 thread:"));
    EXPECT_THAT(ran.out,
                AnyOf(HasSubstr("Run it: onnxruntime.InferenceSession"), HasSubstr("Run it: openvino.compile_model")));
    EXPECT_THAT(ran.out, HasSubstr("Set it: the device as it comes"));
    const nlohmann::json answer = nlohmann::json::parse(run_joulecast(command + " --format json").out);
    EXPECT_EQ(answer["answer"]["threads"], 1);
    EXPECT_THAT(answer["run_with"].get<std::string>(), HasSubstr(answer["answer"]["engine"].get<std::string>()));
    const nlohmann::json gpu =
        nlohmann::json::parse(run_joulecast("recommend resnet18 --device a30 --clocks 900 --format json").out);
    EXPECT_EQ(gpu["answer"]["threads"], nullptr);
    EXPECT_EQ(gpu["run_with"], nullptr);
}

}  // namespace
}  // namespace joulecast::testing
