// Every network of the zoo through the program, as it infers and as it trains.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "joulecast/graph/readers/read_graph.h"
#include "tests/cli/run_command.h"

namespace joulecast {
namespace {

using testing::run_joulecast;

std::string all_names() {
    std::string text;
    for (const std::string& name : zoo_names(JOULECAST_SOURCE_DIR "/zoo")) text += " " + name;
    return text;
}

TEST(Zoo, IsExtractedWithNothingUnknown) {
    for (const char* mode : {"inference", "training"}) {
        const auto ran = run_joulecast("extract --format json --mode " + std::string(mode) + " --" + all_names());
        ASSERT_EQ(ran.status, 0) << ran.err;
        const auto answer = nlohmann::json::parse(ran.out);
        for (const auto& model : answer.at("models")) {
            EXPECT_EQ(model.at("nodes_without_record"), 0) << model.at("model");
            EXPECT_GT(model.at("flops"), 0) << model.at("model");
            EXPECT_EQ(model.at("backward_flops") > 0, model.at("mode") == "training") << model.at("model");
        }
    }
}

TEST(Zoo, IsForecastWithNothingUnknown) {
    // Training 8e9 parameters in float32 takes more memory than the CPU has, and --strict refuses what does not fit.
    std::string small, large;
    for (const std::string& name : zoo_names(JOULECAST_SOURCE_DIR "/zoo"))
        (name.find("-8b") == std::string::npos ? small : large) += " " + name;
    std::size_t forecast = 0;
    for (const auto& [device, names] : {std::pair("cpu-amd-epyc-2c", small), std::pair("h200", large)}) {
        const auto ran = run_joulecast("predict --format json --strict --device " + std::string(device) +
                                       " --mode inference,training --" + names);
        ASSERT_EQ(ran.status, 0) << ran.err;
        const auto answer = nlohmann::json::parse(ran.out);
        for (const auto& prediction : answer.at("predictions")) {
            EXPECT_EQ(prediction.at("unknown_nodes"), 0) << prediction.at("model");
            EXPECT_GT(prediction.at("time_s").at("value"), 0.0) << prediction.at("model");
            ++forecast;
        }
    }
    EXPECT_EQ(forecast, 2 * zoo_names(JOULECAST_SOURCE_DIR "/zoo").size());
}

}  // namespace
}  // namespace joulecast
