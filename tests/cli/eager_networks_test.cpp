// Networks as PyTorch runs them eagerly, held against what plain PyTorch took on an H200
// (datasets/h200-plain-torch.csv, which stood in sight when the rules were made: docs/decisions/0038).
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"

namespace joulecast::testing {
namespace {

nlohmann::json prediction(const std::string& arguments) {
    // By the rules: the predictor that is shipped for the card itself has some of these operations measured.
    const auto ran = run_joulecast("predict " + arguments + " --device h200 --host python --format json --predictor " +
                                   JOULECAST_SOURCE_DIR "/predictors/nvidia.jcp");
    EXPECT_EQ(ran.status, 0) << ran.err;
    return nlohmann::json::parse(ran.out)["predictions"][0];
}

double milliseconds(const nlohmann::json& prediction) {
    return 1e3 * prediction["time_s"]["value"].get<double>();
}

/// Of all calls of the target, in milliseconds.
double of_calls(const nlohmann::json& prediction, const std::string& target) {
    double sum = 0;
    for (const auto& call : prediction["operations"])
        if (call["op"] == target) sum += 1e3 * call["time_s"]["value"].get<double>() * call["count"].get<double>();
    return sum;
}

TEST(EagerNetworks, BatchNormsIn16BitsAreNoFasterForTheirFewerBytes) {
    EXPECT_NEAR(milliseconds(prediction("resnet50 --set batch=128 --precision bf16")), 13.25, 2.0);
}

TEST(EagerNetworks, AnOddVocabularyKeepsProductsFromTheCopyEngine) {
    const auto at = prediction("gpt2 --set batch=128 --precision bf16");
    EXPECT_NEAR(milliseconds(at), 24.95, 2.5);
    EXPECT_GT(of_calls(at, "aten::linear"), 10);  // the last layer, 50,257 wide
}

TEST(EagerNetworks, AttentionInFloat32GoesByItsOwnKernelsWhateverIsAllowed) {
    const std::string network = "vit_b_16 --set batch=32 --precision ";
    const std::string attention = "aten::scaled_dot_product_attention";
    EXPECT_NEAR(of_calls(prediction(network + "tf32"), attention), of_calls(prediction(network + "fp32"), attention),
                1e-6);
}

// torch.nn.MultiheadAttention infers with tokens as they come; the form that is traced copies them.
TEST(EagerNetworks, AVisionTransformerInfersWithoutTurningItsTokens) {
    const std::string as = " --set batch=128 --precision bf16";
    const double plain_ms = milliseconds(prediction("vit_b_16" + as));
    EXPECT_NEAR(plain_ms, 12.41, 1.5);
    EXPECT_GT(milliseconds(prediction("vit_b_16@traced" + as)), 1.2 * plain_ms);  // 16.9 ms by our worker
}

// transformers makes a mask where it is traced, whose last stride is 0.
TEST(EagerNetworks, AMaskThatWasTracedTakesTheFusedKernelAway) {
    const std::string as = " --set batch=128 --set sequence=128 --precision bf16";
    EXPECT_NEAR(milliseconds(prediction("bert-base" + as)), 7.03, 1.2);
    const auto traced = prediction("bert-base@traced" + as);
    EXPECT_NEAR(milliseconds(traced), 18.5, 2.8);
    EXPECT_GT(of_calls(traced, "aten::scaled_dot_product_attention"), 8);
}

TEST(EagerNetworks, AHostIssuesTheBackwardPassToo) {
    const auto inference = prediction("resnet50 --set batch=1");
    const auto training = prediction("resnet50 --set batch=32 --mode training --precision amp-bf16");
    EXPECT_EQ(training["limited_by"], "host");
    const double ratio =
        training["host_time_s"]["value"].get<double>() / inference["host_time_s"]["value"].get<double>();
    EXPECT_GT(ratio, 2.5);  // an H200's host took 3.9 times as long
    EXPECT_LT(ratio, 5);
    EXPECT_NEAR(milliseconds(training), 22.6, 4.5);
}

TEST(EagerNetworks, MemoryHasTheWorkspaceOfCublas) {
    const auto at = prediction("bert-base --set batch=128 --precision default");
    const double allocated = at["peak_memory_bytes"]["value"].get<double>() + at["resident_bytes"].get<double>() +
                             at["memory"]["library_bytes"].get<double>();
    EXPECT_NEAR(allocated, 1026319360, 0.01 * 1026319360);
    EXPECT_GE(at["memory"]["reserved_bytes"].get<double>(), allocated);
}

}  // namespace
}  // namespace joulecast::testing
