#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "joulecast/report/table.h"
#include "tests/cli/run_command.h"

namespace joulecast::testing {
namespace {

using ::testing::HasSubstr;

/// A predictor of the synthetic CPU, trained on resnet18 and alexnet at batch 2.
const std::string predictor = std::string(" --predictor ") + JOULECAST_SOURCE_DIR + "/tests/model/data/version_1.jcp ";

TEST(Predict, PrintsOneLinePerModelModeAndPrecision) {
    const auto ran =
        run_joulecast("predict resnet18 alexnet --device cpu-synthetic --mode inference,training" + predictor);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("Synthetic CPU, 2 threads; predictor version_1.jcp"));
    EXPECT_THAT(ran.out, HasSubstr("no power measured on this device"));
    std::size_t lines = 0;
    for (std::size_t at = 0; (at = ran.out.find(" ms  ", at)) != std::string::npos; ++at) ++lines;
    EXPECT_GE(lines, 4U);
    for (const char* row : {"\nresnet18  batch=1  inference  ", "\nresnet18  batch=2  training   ",
                            "\nalexnet   batch=1  inference  ", "\nalexnet   batch=2  training   "})
        EXPECT_THAT(ran.out, HasSubstr(row));
    EXPECT_THAT(ran.out, HasSubstr("precision fp32, host python")) << "what all rows have in common stands above";
}

TEST(Predict, TakesDevicesAndNetworksInEitherOrderAndWithCommas) {
    const auto models = [](const std::string& arguments) {
        const auto ran = run_joulecast("predict " + arguments + " --format json");
        EXPECT_EQ(ran.status, 0) << ran.err;
        std::string text;
        const auto answer = nlohmann::json::parse(ran.out);
        for (const auto& p : answer["predictions"])
            text += p["model"].get<std::string>() + "@" + p["device"].get<std::string>() + " ";
        return text;
    };
    EXPECT_EQ(models("--device t4 resnet18"), "resnet18@t4 ");
    EXPECT_EQ(models("resnet18 --device t4,l4"), "resnet18@t4 resnet18@l4 ");
    EXPECT_EQ(models("--device t4 l4 resnet18 vgg11"), models("resnet18 vgg11 --device t4 l4"));
    const auto missing = run_joulecast("predict --device resnet18");
    EXPECT_EQ(missing.status, 2);
}

TEST(Predict, FitsTheTerminalAndNamesWhatDiffers) {
    const auto ran = run_shell("COLUMNS=80 \"$JOULECAST\" predict resnet50 --device h100 h200 b200 mi300x");
    EXPECT_EQ(ran.status, 0) << ran.err;
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80U) << line;
    for (const char* part : {"batch=1", "\nh100-sxm ", "\nh200 ", "\nmi300x ", "limited by", "  host\n",
                             "limited by host: Python takes longer"})
        EXPECT_THAT(ran.out, HasSubstr(part));
    std::istringstream notes(ran.err);
    for (std::string note; std::getline(notes, note);) EXPECT_LE(note.size(), 110U) << note;
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 4) << "one for each device: none has models of its own";
}

TEST(Predict, TellsComputeFromMemoryWhereTheDeviceDecides) {
    const auto limit = [](const std::string& arguments) {
        const auto out = run_joulecast("predict " + arguments).out;
        return out.find("  compute\n") != std::string::npos  ? "compute"
               : out.find("  memory\n") != std::string::npos ? "memory"
                                                             : "neither";
    };
    EXPECT_STREQ(limit("resnet50 --device cpu-amd-epyc-2c --batch 8"), "compute");
    EXPECT_STREQ(limit("--operation 'aten::relu(self=f32[1])' --device t4"), "neither");
    EXPECT_STREQ(limit("llama-3.2-1b-decode --device t4 --precision fp16 --host graph"), "memory")
        << "a step reads every weight for one token";
}

TEST(Predict, ComposesARequestToALanguageModel) {
    const std::string at = " --device a100 --precision bf16 --format json";
    const auto ran = run_joulecast("predict gpt2 --prompt 512 --tokens 65 --batch 1,8" + at);
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto requests = nlohmann::json::parse(ran.out)["requests"];
    ASSERT_EQ(requests.size(), 2U);
    const auto& eight = requests[1];
    const auto prediction = [&](const std::string& arguments) {
        return nlohmann::json::parse(run_joulecast("predict " + arguments + at).out)["predictions"][0];
    };
    const auto prefill = prediction("gpt2 --batch 8 --set sequence=512");
    const double read = prefill["time_s"]["value"];
    EXPECT_NEAR(eight["prefill"]["time_s"]["value"].get<double>(), read, 1e-12);
    EXPECT_NEAR(eight["prefill"]["tokens_per_s"].get<double>(), 8 * 512 / read, 1e-6);
    EXPECT_NEAR(prefill["tokens_per_s"].get<double>(), 8 * 512 / read, 1e-6);
    // The first token comes out of reading; 64 steps follow, with caches of 513 to 576 places.
    double written = 0;
    for (const auto& [past, weight] : {std::pair(513, 1.0), std::pair(544, 4.0), std::pair(576, 1.0)}) {
        const auto step = prediction("gpt2-decode --batch 8 --set past=" + std::to_string(past));
        written += 64 * weight / 6 * step["time_s"]["value"].get<double>();
    }
    EXPECT_NEAR(eight["decode"]["time_s"]["value"].get<double>(), written, 1e-9);
    EXPECT_NEAR(eight["time_s"]["value"].get<double>(), read + written, 1e-9);
    EXPECT_NEAR(eight["decode"]["tokens_per_s"].get<double>(), 8 * 64 / written, 1e-6);
    EXPECT_THAT(run_joulecast("predict gpt2 --prompt 512 --tokens 65 --batch 1,8 --device a100").out,
                HasSubstr(": a prompt of 512 tokens,"));
    EXPECT_EQ(run_joulecast("predict gpt2 --prompt 512 --device a100").status, 2);
    const auto vision = run_joulecast("predict resnet18 --prompt 512 --tokens 2 --device a100");
    EXPECT_EQ(vision.status, 2);
}

TEST(Predict, ABagHasATimeAndNoMemoryPlanAndSaysSo) {
    const TemporaryFolder folder;
    const std::string bag = folder.file("bag.graph.json");
    ASSERT_EQ(run_joulecast("extract resnet18 --bag --graph " + bag).status, 0);
    const std::string at = " --device cpu-synthetic --format json" + predictor;
    const auto whole =
        nlohmann::json::parse(run_joulecast("predict resnet18 --set batch=2" + at).out)["predictions"][0];
    const auto parts = nlohmann::json::parse(run_joulecast("predict " + bag + at).out)["predictions"][0];
    EXPECT_DOUBLE_EQ(whole["time_s"]["value"].get<double>(), parts["time_s"]["value"].get<double>());
    EXPECT_EQ(whole["composition"], "timeline");
    EXPECT_EQ(parts["composition"], "aggregate");
    EXPECT_EQ(whole["memory_missing_reason"], "");
    EXPECT_TRUE(parts["peak_memory_bytes"]["value"].is_null());
    EXPECT_THAT(parts["memory_missing_reason"].get<std::string>(), HasSubstr("a list of operations without edges"));
    EXPECT_THAT(run_joulecast("predict " + bag + " --device cpu-synthetic" + predictor).out,
                HasSubstr("memory –: a list of operations without edges"));
}

TEST(Predict, CheckpointingTakesLessMemoryAndMoreTime) {
    const std::string at = "predict resnet18 --device cpu-synthetic --mode training --format json" + predictor;
    const auto plain = nlohmann::json::parse(run_joulecast(at).out)["predictions"][0];
    const auto again = nlohmann::json::parse(run_joulecast(at + " --checkpointing").out)["predictions"][0];
    EXPECT_EQ(plain["memory"]["checkpointed_blocks"], 0);
    EXPECT_EQ(again["memory"]["checkpointed_blocks"], 8);  // two in each of resnet18's four stages
    EXPECT_LT(again["memory"]["saved_bytes"].get<double>(), plain["memory"]["saved_bytes"].get<double>());
    EXPECT_GT(again["time_s"]["value"].get<double>(), plain["time_s"]["value"].get<double>());
    const auto refused = run_joulecast("predict resnet18 --device cpu-synthetic --checkpointing" + predictor);
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("--mode training"));
}

TEST(Predict, AnOptimizerIsAPartOfTheStepAndOfItsMemory) {
    const std::string at = "predict resnet18 --device cpu-synthetic --mode training --format json" + predictor;
    const auto plain = nlohmann::json::parse(run_joulecast(at).out)["predictions"][0];
    const auto adam =
        nlohmann::json::parse(run_joulecast(at + " --optimizer adamw --accumulate 4").out)["predictions"][0];
    EXPECT_EQ(plain["optimizer"], "none");
    EXPECT_TRUE(plain["update_time_s"]["value"].is_null());
    EXPECT_EQ(adam["accumulate"], 4);
    EXPECT_GT(adam["update_time_s"]["value"].get<double>(), 0);
    EXPECT_NEAR(adam["step_time_s"].get<double>() * 4, adam["time_s"]["value"].get<double>(), 1e-9);
    // Two moments of each of resnet18's trained parameters, which its gradients are as many bytes as.
    EXPECT_EQ(adam["memory"]["optimizer_bytes"], 2 * adam["memory"]["gradient_bytes"].get<double>());
    std::set<std::string> parts;
    for (const auto& operation : adam["operations"]) parts.insert(operation["part"]);
    EXPECT_EQ(parts, (std::set<std::string>{"forward", "gradient sum", "accumulation", "update"}));
    EXPECT_THAT(
        run_joulecast("predict resnet18 --device cpu-synthetic --mode training --optimizer sgd" + predictor).out,
        HasSubstr("training, sgd"));
    EXPECT_EQ(run_joulecast("predict resnet18 --device cpu-synthetic --optimizer sgd" + predictor).status, 2);
    EXPECT_EQ(run_joulecast(at + " --optimizer-form fused").status, 2) << "of no optimizer";
}

TEST(Predict, SaysWhereCheckpointingHasNothingToWrap) {
    const auto ran = run_joulecast("predict vgg11 --device cpu-synthetic --mode training --checkpointing" + predictor);
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.err, HasSubstr("vgg11 has no blocks for --checkpointing"));
}

TEST(Predict, SaysByHowMuchABatchOverflowsTheMemory) {
    const std::string at = "predict resnet50 --device cpu-synthetic --set batch=4096 --format json" + predictor;
    const auto ran = run_joulecast(at);
    EXPECT_EQ(ran.status, 0);
    const auto memory = nlohmann::json::parse(ran.out)["predictions"][0]["memory"];
    EXPECT_EQ(memory["available_bytes"], 8e9);
    EXPECT_GT(memory["needed_bytes"], 8e9);
    EXPECT_EQ(memory["fits"], false);
    EXPECT_THAT(ran.err, HasSubstr("resnet50, batch=4096, inference, fp32: does not fit: needs"));
    EXPECT_EQ(run_joulecast(at + " --strict").status, 1);
}

TEST(Predict, HasTheKeysOfTheContract) {
    const auto ran = run_joulecast("predict resnet18 --device cpu-synthetic --set batch=4 --format json" + predictor);
    const auto answer = nlohmann::json::parse(ran.out);
    EXPECT_EQ(answer["schema"], "joulecast.prediction/1");
    const auto& p = answer["predictions"][0];
    for (const char* key : {"model",
                            "device",
                            "clock_mhz",
                            "memory_clock_mhz",
                            "mode",
                            "precision",
                            "engine",
                            "host",
                            "symbols",
                            "time_s",
                            "device_time_s",
                            "host_time_s",
                            "energy_j",
                            "idle_energy_j",
                            "dynamic_energy_j",
                            "power_w",
                            "peak_memory_bytes",
                            "limited_by",
                            "predictor",
                            "evidence_share",
                            "unknown_nodes",
                            "unknown_operations",
                            "lower_bound",
                            "operations"}) {
        EXPECT_TRUE(p.contains(key)) << key;
    }
    EXPECT_EQ(p["symbols"]["batch"], 4);
    EXPECT_LT(p["time_s"]["low"], p["time_s"]["value"]);
    EXPECT_LT(p["time_s"]["value"], p["time_s"]["high"]);
    EXPECT_TRUE(p["energy_j"]["value"].is_null());
    EXPECT_GT(p["peak_memory_bytes"]["value"], 0);
    for (const char* key : {"measured", "interpolated", "extrapolated", "analytic"}) {
        EXPECT_TRUE(p["evidence_share"].contains(key)) << key;
    }
    for (const char* key : {"op", "signature", "count", "time_s", "energy_j", "evidence"}) {
        EXPECT_TRUE(p["operations"][0].contains(key)) << key;
    }
}

TEST(Predict, TakesPythonForTheHostAndSaysWhatThatRestsOn) {
    const std::string command = "predict resnet18 --device cpu-synthetic" + predictor;
    const auto answer = nlohmann::json::parse(run_joulecast(command + "--format json").out);
    const auto& python = answer["predictions"][0];
    EXPECT_EQ(python["host"], "python");
    EXPECT_EQ(python["host_evidence"], "analytic");
    EXPECT_EQ(python["limited_by"], "device");
    EXPECT_EQ(python["host_time_s"]["value"], 0.0) << "a CPU computes where it issues";
    const auto both = nlohmann::json::parse(run_joulecast(command + "--host cpp,python --format json").out);
    const auto& cpp = both["predictions"][0];
    EXPECT_EQ(cpp["host"], "cpp");
    EXPECT_EQ(cpp["host_evidence"], "measured");
    EXPECT_EQ(both["predictions"][1], python);
    // 8 us for each of the 69 calls of resnet18, which the file of version 1 knows nothing of.
    EXPECT_NEAR(python["time_s"]["value"].get<double>() - cpp["time_s"]["value"].get<double>(), 69 * 8e-6, 1e-9);
    const auto table = run_shell("COLUMNS=200 \"$JOULECAST\" " + command + "--host python,cpp");
    EXPECT_THAT(table.out, HasSubstr("per call, within a factor of 2.3 (inference)"));
    EXPECT_THAT(table.out, HasSubstr("Python overhead was not measured on "));
    EXPECT_THAT(run_joulecast(command + "--host cpp").out, ::testing::Not(HasSubstr("overhead")));
}

// Whoever compares an old card with a new one compares their hosts, too, unless one is named.
TEST(Predict, SaysThatItAssumesTheCpuWhereThatDecides) {
    const std::string command = "COLUMNS=300 \"$JOULECAST\" predict resnet18 --set batch=1 --device a100-40g-pcie";
    EXPECT_THAT(run_shell(command).out, HasSubstr("The CPU is a guess: name yours with --host-cpu"));
    const auto named = run_shell(command + " --host-cpu xeon-platinum-8480");
    EXPECT_THAT(named.out, HasSubstr("limited by host"));
    EXPECT_THAT(named.out, ::testing::Not(HasSubstr("is a guess")));
}

TEST(Predict, IsNoLessSureOfANamedCpu) {
    const auto width = [](const std::string& more) {
        const auto ran = run_joulecast("predict resnet18 --set batch=1 --device a10 --format json" + more);
        const auto time = nlohmann::json::parse(ran.out)["predictions"][0]["time_s"];
        return time["high"].get<double>() / time["low"].get<double>();
    };
    EXPECT_NEAR(width(" --host-cpu xeon-platinum-8480"), width(""), 0.02 * width(""));
}

TEST(Predict, SaysThatCardsMayDifferByGuessedCpusAlone) {
    const auto alike = run_shell("COLUMNS=300 \"$JOULECAST\" predict resnet18 --set batch=1 --device a10 a100");
    EXPECT_THAT(alike.out, HasSubstr("The CPU is a guess")) << "both cards are as old";
    for (const char* const verb : {"predict", "compare", "recommend"}) {
        const std::string command =
            "COLUMNS=300 \"$JOULECAST\" " + std::string(verb) + " resnet18 --set batch=1 --device a10 l4";
        EXPECT_THAT(run_shell(command).out, HasSubstr("so a10, l4 may differ by their CPUs alone")) << verb;
        const auto named = run_shell(command + " --host-cpu xeon-platinum-8480");
        EXPECT_THAT(named.out, HasSubstr("limited by host")) << verb;
        EXPECT_THAT(named.out, ::testing::Not(HasSubstr("guess"))) << verb;
    }
}

TEST(Predict, RefusesHostsThatTheDeviceCannotHave) {
    const std::string command = "predict resnet18 --device cpu-synthetic" + predictor;
    const auto graph = run_joulecast(command + "--host graph");
    EXPECT_EQ(graph.status, 2);
    EXPECT_THAT(graph.err, HasSubstr("host graph needs a CUDA GPU"));
    for (const std::string unknown : {"compiled", "fortran"}) {
        const auto refused = run_joulecast(command + "--host " + unknown);
        EXPECT_EQ(refused.status, 2) << unknown;
        EXPECT_THAT(refused.err, HasSubstr("python,cpp,graph")) << unknown;
    }
}

TEST(Predict, SaysWhatACudaGraphRestsOn) {
    const std::string asked =
        "predict gpt2-decode --device rtx4090 --predictor " JOULECAST_SOURCE_DIR "/predictors/nvidia.jcp --host ";
    const auto ran = run_shell("COLUMNS=200 \"$JOULECAST\" " + asked + "graph");
    EXPECT_THAT(ran.out,
                HasSubstr("no CUDA graph was measured on rtx4090; assuming one launch and kernels without gaps "
                          "(inference)"));
    EXPECT_THAT(ran.out, ::testing::Not(HasSubstr("per call")));
    const auto time = [&](const std::string& host) {
        const auto answer = nlohmann::json::parse(run_joulecast(asked + host + " --format json").out);
        return answer["predictions"][0]["device_time_s"]["value"].get<double>();
    };
    EXPECT_NEAR(time("graph") / time("cpp"), 1, 1e-9);  // the same kernels
}

TEST(Predict, ShowsWhereTheTimeGoes) {
    const auto ran = run_joulecast("predict resnet18 --device cpu-synthetic --per-operation" + predictor);
    EXPECT_THAT(ran.out, HasSubstr("Where the time of resnet18 goes"));
    EXPECT_THAT(ran.out, HasSubstr("█"));
}

TEST(Predict, StandsInForThisCpuAndSaysSo) {
    const auto ran = run_joulecast("predict alexnet --device cpu" + predictor);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("forecasts for Synthetic CPU"));
}

TEST(Predict, NamesTheDevicesThatAreCovered) {
    const auto ran = run_joulecast("predict alexnet --device h200" + predictor);
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("no predictor covers device h200"));
    EXPECT_THAT(ran.err, HasSubstr("Covered: cpu-synthetic. Train"));
    // Of a CPU no data sheet is enough. A device that several predictors or engines have is named once.
    EXPECT_THAT(
        run_joulecast("predict alexnet --device epyc-9654").err,
        HasSubstr("Covered: cpu-amd-epyc-2c, h100-sxm, h200, and every GPU of joulecast devices by its data sheet."));
}

TEST(Predict, RefusesWhatIsNoPredictor) {
    const TemporaryFolder folder;
    write_file(folder.file("p.jcp"), "not one");
    const auto ran = run_joulecast("predict alexnet --device cpu --predictor " + folder.file("p.jcp"));
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("is not a predictor"));
}

TEST(Predict, RefusesModesAndPrecisionsItDoesNotHave) {
    EXPECT_EQ(run_joulecast("predict alexnet --device cpu --precision fp7" + predictor).status, 2);
    const auto fp8 = run_joulecast("predict alexnet --device cpu --precision fp8" + predictor);
    EXPECT_EQ(fp8.status, 2);
    EXPECT_THAT(fp8.err, HasSubstr("need a GPU"));
    const auto tf32 = run_joulecast("predict alexnet --device cpu --precision tf32" + predictor);
    EXPECT_EQ(tf32.status, 2);
    EXPECT_THAT(tf32.err, HasSubstr("a CPU computes fp32 in full"));
    EXPECT_EQ(run_joulecast("predict alexnet --device cpu --mode sleep" + predictor).status, 2);
    EXPECT_EQ(run_joulecast("predict alexnet --device cpu --set batch=x" + predictor).status, 2);
    EXPECT_EQ(run_joulecast("predict alexnet" + predictor).status, 2);
}

TEST(Predict, KeepsTheOrderAskedForThoughNetworksAreForecastSideBySide) {
    const std::string device = " --device cpu-synthetic --format json" + predictor;
    const auto all = nlohmann::json::parse(
        run_joulecast("predict resnet18 alexnet --set batch=1,2 --mode training,inference --host cpp,python" + device)
            .out)["predictions"];
    ASSERT_EQ(all.size(), 16U);
    std::size_t at = 0;
    for (const std::string model : {"resnet18", "alexnet"}) {
        for (const std::string batch : {"1", "2"}) {
            for (const std::string mode : {"training", "inference"}) {
                std::string alone = "predict " + model;
                alone += " --set batch=" + batch + " --mode " + mode + " --host cpp,python";
                const auto expected = nlohmann::json::parse(run_joulecast(alone + device).out)["predictions"];
                EXPECT_EQ(all[at++], expected[0]) << alone;
                EXPECT_EQ(all[at++], expected[1]) << alone;
            }
        }
    }
}

TEST(Predict, NamesTheFirstNetworkThatIsMissingOfSeveral) {
    const auto ran = run_joulecast("predict resnet18 none_such alexnet none_either --device cpu-synthetic" + predictor);
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("\"none_such\""));
}

TEST(Predict, ForecastsTheCastsOfAutocast) {
    const auto ran =
        run_joulecast("predict alexnet --device cpu --precision amp-bf16 --per-operation --format csv" + predictor);
    EXPECT_NE(ran.status, 2) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("aten::_to_copy"));
    EXPECT_THAT(ran.out, HasSubstr("amp-bf16"));
}

TEST(Predict, WritesCsvPerNetworkAndPerOperation) {
    const auto networks = run_joulecast("predict alexnet --device cpu-synthetic --format csv" + predictor);
    EXPECT_THAT(networks.out, AllOf(HasSubstr("model,device,"), HasSubstr(",time_s,time_low_s,time_high_s,")));
    const auto operations =
        run_joulecast("predict alexnet --device cpu-synthetic --format csv --per-operation" + predictor);
    EXPECT_THAT(operations.out, HasSubstr("model,mode,precision,op,signature,count,time_s"));
}

TEST(Predict, TellsWhatAClockTakesOverTheDevicesOwn) {
    const std::string asked = "predict resnet18 --device a100 --set batch=8";
    const auto ran = run_joulecast(asked + " --clocks 900,1410 --format json");
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto answer = nlohmann::json::parse(ran.out)["predictions"];
    const auto& lower = answer[0]["relative_to_default"];
    EXPECT_NEAR(lower["clock_mhz"], 1410, 1);
    EXPECT_GT(lower["time"]["value"], 1);
    EXPECT_LT(lower["power"]["value"], 1);
    for (const char* key : {"time", "energy", "power"}) {
        EXPECT_LT(lower[key]["low"], lower[key]["value"]) << key;
        EXPECT_LT(lower[key]["value"], lower[key]["high"]) << key;
        EXPECT_NEAR(answer[1]["relative_to_default"][key]["low"], 1, 1e-6) << key;
    }
    const double time = lower["time"]["value"];
    EXPECT_NEAR(time, answer[0]["time_s"]["value"].get<double>() / answer[1]["time_s"]["value"].get<double>(), 1e-9);

    const auto text = run_joulecast(asked + " --clocks 900");
    EXPECT_THAT(text.out, HasSubstr("time: default = 1"));
    EXPECT_THAT(text.out, HasSubstr("its clock if nobody sets one, 1410 MHz"));
    EXPECT_THAT(run_joulecast(asked + " --clocks 900 --format csv").out,
                HasSubstr(",relative_time,relative_time_low,"));
    const auto plain = nlohmann::json::parse(run_joulecast(asked + " --format json").out)["predictions"][0];
    EXPECT_TRUE(plain.at("relative_to_default").is_null());
}

const std::string relu = "'aten::relu(self=f32[2,64,56,56])'";

TEST(PredictOperation, ACallHasTheTimeThatItHasInANetwork) {
    const std::string at = " --device cpu-synthetic --format json" + predictor;
    const auto network = nlohmann::json::parse(run_joulecast("predict resnet18 --set batch=2" + at).out);
    const auto& calls = network["predictions"][0]["operations"];
    const auto ran = run_joulecast("predict --operation '" + calls[0]["signature"].get<std::string>() +
                                   "' --operation '" + calls[1]["signature"].get<std::string>() + "'" + at);
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto answer = nlohmann::json::parse(ran.out);
    EXPECT_EQ(answer["schema"], "joulecast.prediction/1");
    ASSERT_EQ(answer["predictions"].size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        for (const char* key : {"op", "signature", "time_s", "energy_j", "power_w", "evidence", "power_evidence"})
            EXPECT_EQ(answer["predictions"][i][key], calls[i][key]) << key;
        EXPECT_EQ(answer["predictions"][i]["mode"], "inference");
    }
}

TEST(PredictOperation, TheModeIsThatOfTheGradientMarks) {
    const std::string at = " --device cpu-synthetic --format csv" + predictor;
    const auto ran = run_joulecast("predict --operation 'aten::relu(self=f32[2,64,56,56]~)'" + at);
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr(",training,fp32,"));
    const auto refused = run_joulecast("predict --mode training --operation " + relu + at);
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("no tensor of aten::relu(self=f32[2,64,56,56]) requires a gradient"));
}

TEST(PredictOperation, AtAClockAndInATableWithItsEvidence) {
    const auto ran = run_joulecast("predict --device a100@900 --operation " + relu);
    ASSERT_EQ(ran.status, 0) << ran.err;
    for (const char* part : {"900 MHz", "physical power model", "aten::relu(self=f32[2,64,56,56])"})
        EXPECT_THAT(ran.out, HasSubstr(part));
}

// A rule knows the kernel of a depth-wise convolution, but in float64 no law does, as of any other.
TEST(PredictOperation, AnswersInATypeThatNoLawKnows) {
    for (const char* marked : {"", "~"}) {
        const auto ran =
            run_joulecast("predict --device a100 --format json --operation 'aten::conv2d(input=f64[8,64,56,56]" +
                          std::string(marked) + ", weight=f64[64,1,3,3], padding=[1,1], groups=64)'");
        ASSERT_EQ(ran.status, 0) << ran.err;
        const auto answer = nlohmann::json::parse(ran.out)["predictions"][0];
        EXPECT_GT(answer["time_s"]["value"], 0);
        EXPECT_EQ(answer["evidence"], "analytic");
    }
}

TEST(PredictOperation, SaysWhatASignatureLacks) {
    const auto refusal = [](const std::string& operation) {
        const auto ran = run_joulecast("predict --device cpu-synthetic --operation '" + operation + "'" + predictor);
        EXPECT_NE(ran.status, 0) << operation;
        EXPECT_EQ(ran.out, "");
        return ran.err;
    };
    EXPECT_THAT(refusal("aten::conv2d(input=f32[2,3,8,8])"), HasSubstr("it lacks weight, which aten::conv2d needs"));
    EXPECT_THAT(refusal("aten::relu(x=f32[2])"), HasSubstr("no parameter x. aten::relu takes self"));
    EXPECT_THAT(refusal("aten::relu(self=f32[2"), HasSubstr("at character 21"));
    EXPECT_THAT(refusal("conv2d(input=f32[2,3,8,8])"), HasSubstr("Did you mean: aten::conv2d"));
    EXPECT_THAT(refusal("aten::conv2d(input=f32[2,3,8,8], weight=f32[4,9,3,3])"), HasSubstr("do not fit"));
}

TEST(PredictOperation, TypesOfTheSignatureAreItsPrecision) {
    const std::string at = " --device a100 --format csv";
    const auto half = run_joulecast("predict --operation 'aten::relu(self=bf16[2,64,56,56])'" + at);
    ASSERT_EQ(half.status, 0) << half.err;
    EXPECT_THAT(half.out, HasSubstr(",inference,bf16,"));
    const auto refused = run_joulecast("predict --precision bf16 --operation " + relu + at);
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("tells the types of its tensors"));
}

}  // namespace
}  // namespace joulecast::testing
