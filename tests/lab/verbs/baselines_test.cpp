#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"

namespace joulecast::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(BaselinesVerb, ListsEveryMethodWithItsPaperAndItsGaps) {
    const Ran ran = run_laboratory("baselines --format json");
    ASSERT_EQ(ran.status, 0) << ran.err;
    std::map<std::string, nlohmann::json> methods;
    for (const auto& method : nlohmann::json::parse(ran.out)) methods[method.at("name")] = method;
    EXPECT_EQ(methods.size(), 15U);
    EXPECT_EQ(methods.at("velasco").at("paper"), "Velasco-Montero et al. 2020");
    EXPECT_EQ(methods.at("velasco").at("forecasts"), "time, energy of operations");
    EXPECT_EQ(methods.at("thesis_forest").at("forecasts"), "time, power, energy of operations");
    EXPECT_EQ(methods.at("roofline").at("forecasts"), "time of operations");
    EXPECT_EQ(methods.at("lattuada").at("forecasts"), "time of networks");
    for (const auto& [name, method] : methods) EXPECT_NE(method.at("gaps"), "") << name;
    EXPECT_THAT(run_laboratory("baselines --format csv").out, StartsWith("name,paper,forecasts,gaps\nroofline,"));
    const std::string page = run_laboratory("baselines").out;
    EXPECT_THAT(page, HasSubstr("Nadeem and Fahringer 2009"));
    EXPECT_THAT(page, HasSubstr("\n  roofline, paleo: nothing for a device whose data sheet"));
}

// What the list says must be what docs/baselines.md describes.
TEST(BaselinesVerb, HasTheMethodsOfThePage) {
    const std::string page = read_file(JOULECAST_SOURCE_DIR "/docs/baselines.md");
    const auto methods = nlohmann::json::parse(run_laboratory("baselines --format json").out);
    for (const auto& method : methods) EXPECT_THAT(page, HasSubstr("`" + method.at("name").get<std::string>() + "`"));
}

}  // namespace
}  // namespace joulecast::testing
