#include "lab/published/import_mlperf_power.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/dataset/imports.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using namespace joulecast::testing;

// All numbers in these tables are made up.
const std::string header =
    "round,system,host_cpu,framework,benchmark,scenario,valid,mean_latency_ms,wall_power_mean_w,power_samples,window_s,"
    "energy_per_sample_j\n";
std::string line(const std::string& framework, const std::string& benchmark,
                 const std::string& numbers = "20,5,600,600,0.1") {
    return "v9.0,board,RockChip RK3588S: four and four," + framework + "," + benchmark + ",SingleStream,VALID," +
           numbers + "\n";
}
const std::string quantized = "mobilenet-v2-0.5-128-quantized";

class ImportMlperfPower : public ImportFolder {
  protected:
    Import take(const std::string& text) { return import_text(&import_mlperf_power, text); }
    std::string refused(const std::string& text) { return rejected(&import_mlperf_power, text); }
};

TEST_F(ImportMlperfPower, KeepsEnginesAndPrecisionsApart) {
    const Import counts = take(header + line("TFLite v9 (ruy)", quantized) + line("ArmNN v9 (Neon)", quantized) +
                               line("ArmNN v9 (OpenCL)", "mobilenet-v3-small_224_0.75_float"));
    EXPECT_EQ(counts.added, 3);
    std::set<std::string> engines;
    for (const NetworkRow& row : stored().networks()) {
        engines.insert(row.measurement.real.engine);
        EXPECT_EQ(row.measurement.precision, row.measurement.model == "mobilenet-v2-0.5-128" ? "int8" : "fp32");
        EXPECT_DOUBLE_EQ(row.measurement.time.mean_s, 0.02);
        ASSERT_TRUE(row.measurement.energy);
        EXPECT_DOUBLE_EQ(row.measurement.energy->energy_j, 0.1);
        EXPECT_DOUBLE_EQ(row.measurement.energy->power_w, 5.0);
        EXPECT_THAT(row.provenance.source, HasSubstr("v9.0, derived, not verified by MLCommons"));
    }
    EXPECT_EQ(engines, (std::set<std::string>{"tflite", "armnn-neon", "armnn-opencl"}));
}

TEST_F(ImportMlperfPower, DropsWhatItCannotUseAndSaysWhy) {
    const std::string other = "v9.0,board,AMD EPYC,TFLite v9," + quantized + ",SingleStream,VALID,20,5,600,600,0.1\n";
    std::string invalid = line("TFLite v9", quantized);
    invalid.replace(invalid.find(",VALID"), 6, ",INVALID");
    const Import counts = take(header + line("TFLite v9", quantized) + line("TFLite v9", quantized) + other + invalid +
                               line("TVM", quantized) + line("TFLite v9", "bert"));
    EXPECT_EQ(counts.rows, 6);
    EXPECT_EQ(counts.used, 1);
    for (const char* why : {"the same line again", "of another processor", "not valid by MLPerf's own check",
                            "an engine that is not known", "a network that is not known"})
        EXPECT_EQ(counts.dropped.at(why), 1) << why;
}

TEST_F(ImportMlperfPower, RefusesLinesThatCannotBe) {
    EXPECT_THAT(refused("round,system\n"), HasSubstr("t.csv:1: the header lacks the column"));
    EXPECT_THAT(refused(header + line("TFLite v9", quantized, "-1,5,600,600,0.1")),
                HasSubstr("t.csv:2: mean_latency_ms"));
    EXPECT_THAT(refused(header + line("TFLite v9", quantized, "20,5,600,600,nan")),
                HasSubstr("t.csv:2: energy_per_sample_j"));
}

TEST_F(ImportMlperfPower, AccountsForEveryRowOfThePublishedTable) {
    const auto path = published_table("mlperf_inference_power/wall_power.csv");
    if (path.empty()) GTEST_SKIP() << "JOULECAST_DATA is not set: no published tables";
    const std::string text = sampled_lines(path, 1);
    const Import counts = take(text);
    EXPECT_EQ(counts.rows, counts.used + dropped(counts));
    // Each line stands there three times; 95 networks and precisions, three engines, two rounds.
    EXPECT_EQ(counts.added, 95 * 3 * 2);
    EXPECT_TRUE(counts.unknown_columns.empty());
}

}  // namespace
}  // namespace joulecast
