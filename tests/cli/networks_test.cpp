#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"

namespace joulecast::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Networks, ListsTheZooWithWhatItsNetworksAre) {
    const auto ran = run_joulecast("networks --format json");
    EXPECT_EQ(ran.status, 0) << ran.err;
    const auto answer = nlohmann::json::parse(ran.out);
    EXPECT_EQ(answer["schema"], "joulecast.networks/1");
    bool has_resnet = false;
    for (const auto& network : answer["networks"]) {
        if (network["name"] != "resnet50") continue;
        has_resnet = true;
        EXPECT_EQ(network["parameters"], 25557032) << "as torchvision's documentation says";
        EXPECT_EQ(network["input"], "3x224x224");
        EXPECT_THAT(network["sizes"].get<std::string>(), HasSubstr("batch 1-4096"));
    }
    EXPECT_TRUE(has_resnet);
}

TEST(Networks, AreThoseOfAWordOrNearIt) {
    const auto some = run_joulecast("networks resnet18").out;
    EXPECT_THAT(some, HasSubstr("resnet18"));
    EXPECT_THAT(some, Not(HasSubstr("vgg16")));
    EXPECT_THAT(run_joulecast("networks resnet81").out, HasSubstr("resnet18"));
    const auto none = run_joulecast("networks zebra");
    EXPECT_EQ(none.status, 2);
    EXPECT_THAT(none.err, HasSubstr("'zebra'"));
}

}  // namespace
}  // namespace joulecast::testing
