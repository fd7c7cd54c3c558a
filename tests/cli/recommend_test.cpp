#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"

namespace joulecast::testing {
namespace {

using ::testing::HasSubstr;

nlohmann::json answered(const std::string& arguments) {
    const auto ran = run_joulecast("recommend " + arguments + " --format json");
    EXPECT_EQ(ran.err.find("Traceback"), std::string::npos);
    return nlohmann::json::parse(ran.out);
}

TEST(Recommend, AnswersInOneSentenceWithTheCommandThatAppliesIt) {
    const auto ran = run_joulecast("recommend resnet18 --device a30 --set batch=8");
    EXPECT_EQ(ran.status, 0) << ran.err;
    const std::string sentence = ran.out.substr(0, ran.out.find('\n'));
    for (const char* part : {"Run resnet18 on a30 at ", "batch=8", "than at its default clock of 1440 MHz", "Runner-up",
                             "Chance to be within 1 % of the best of"})
        EXPECT_THAT(sentence, HasSubstr(part));
    EXPECT_THAT(ran.out, HasSubstr("Set it: sudo nvidia-smi -i 0 -lgc "));
    EXPECT_THAT(ran.out, HasSubstr("Pareto front"));
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
    const double limit = 1.1 * fastest["answer"]["time_s"]["value"].get<double>();
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
}

}  // namespace
}  // namespace joulecast::testing
