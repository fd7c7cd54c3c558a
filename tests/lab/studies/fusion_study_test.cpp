#include "lab/studies/fusion_study.h"

#include <gtest/gtest.h>

#include "tests/train/fusing_engine.h"

namespace joulecast {
namespace {

using testing::fused_network;

std::vector<FusionScore> scores_of(const std::vector<TrainingNetwork>& networks) {
    static const DeviceModel device = [] {
        DeviceModel trained = testing::fusing_device({"resnet18", "mobilenet_v2", "resnet34"});
        trained.fusions.clear();
        return trained;
    }();
    return fusion_scores(device, networks, {});
}

TEST(FusionStudy, ANetworkIsToldByTheRulesOfOthersAlone) {
    const std::vector<TrainingNetwork> networks{fused_network("resnet18"), fused_network("resnet34"),
                                                fused_network("mobilenet_v2")};
    const auto scores = scores_of(networks);
    ASSERT_EQ(scores.size(), 3u);
    EXPECT_EQ(scores[0].model, "resnet18");
    EXPECT_EQ(scores[0].framework, "fuser 1.0");
    EXPECT_EQ(scores[0].right, scores[0].nodes);
    EXPECT_EQ(scores[0].groups, scores[0].groups_told);
    // Nobody else has a hardtanh or a dropout. That a relu is fused tells the first, by the rule of unary calls; the
    // second hands on what it reads.
    EXPECT_EQ(scores[2].right, scores[2].nodes);
    for (const FusionScore& score : scores) {
        EXPECT_GT(score.summed_s, score.told_s);
        EXPECT_NEAR(score.told_s / score.measured_s, 1, 0.15);
    }
}

TEST(FusionStudy, SizesOfOneNetworkAreLeftOutTogether) {
    std::vector<TrainingNetwork> networks{fused_network("mobilenet_v2"), fused_network("mobilenet_v2")};
    networks[1].measurement.symbols["batch"] = 3;
    for (const FusionScore& score : scores_of(networks)) {
        EXPECT_LT(score.right, score.nodes) << "nothing was learnt";
        EXPECT_GT(score.groups_told, score.groups) << "every call runs alone";
    }
}

TEST(FusionStudy, NetworksWithoutKernelsAreNoPartOfIt) {
    std::vector<TrainingNetwork> networks{fused_network("resnet18"), fused_network("resnet34")};
    networks[0].measurement.kernels.clear();
    EXPECT_EQ(scores_of(networks).size(), 1u);
}

}  // namespace
}  // namespace joulecast
