// The studies of the two papers' tables, as a user asks for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/metered_database.h"
#include "tests/cli/run_command.h"
#include "tests/cli/suite_folder.h"

namespace joulecast {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::Ran;
using testing::run_laboratory;

class MeteredNetworks : public testing::SuiteFolder<MeteredNetworks> {
  public:
    static void set_up_files() { testing::write_metered_database(file("m.db")); }

    static json answer(const std::string& command) {
        const Ran ran = run_laboratory(command + " --format json");
        EXPECT_EQ(ran.status, 0) << ran.err;
        return json::parse(ran.out);
    }
};

TEST_F(MeteredNetworks, LayersAreATableByMethodWithTheBestMarked) {
    const std::string study = "study layers --db " + file("m.db") + " --folds 2 --learner extra_trees --baselines " +
                              "thesis_forest,sponner_knn";
    const json found = answer(study);
    EXPECT_EQ(found.at("schema"), "joulecast.study/1");
    std::set<std::string> layers, methods;
    std::map<std::string, int> best;  // by layer and metric
    for (const json& line : found.at("results")) {
        layers.insert(line.at("layer").get<std::string>());
        methods.insert(line.at("method").get<std::string>());
        if (line.at("best_mape").get<bool>())
            ++best[line.at("layer").get<std::string>() + line.at("metric").get<std::string>()];
    }
    EXPECT_EQ(methods, (std::set<std::string>{"joulecast", "thesis_forest", "sponner_knn"}));
    EXPECT_TRUE(layers.contains("all"));
    EXPECT_TRUE(layers.contains("conv2d/depthwise"));
    for (const auto& [line, count] : best) EXPECT_EQ(count, 1) << line;
    const Ran table = run_laboratory(study);
    EXPECT_THAT(table.out, HasSubstr(" *"));
    EXPECT_THAT(run_laboratory(study + " --format csv").out, HasSubstr("device,math,mode,layer,metric,method,rows,"));
    EXPECT_EQ(run_laboratory("study layers --db " + file("m.db") + " --baselines lattuada").status, 2);
    EXPECT_EQ(run_laboratory("study layers --db " + file("m.db") + " --baselines oracle").status, 2);
}

TEST_F(MeteredNetworks, AugmentationComparesFeaturesWithAndWithout) {
    const json found = answer("study augmentation --db " + file("m.db") + " --folds 2");
    std::set<std::pair<std::string, std::string>> ways;
    for (const json& line : found.at("results")) {
        ways.emplace(line.at("features").get<std::string>(), line.at("training").get<std::string>());
        EXPECT_GT(line.at("training_rows"), 0) << line;
    }
    EXPECT_EQ(ways.size(), 2U);  // every operation is of a measured network, so there are no variants
    EXPECT_THAT(found.at("notes").get<std::string>(), HasSubstr("there are no augmentation rows"));
}

TEST_F(MeteredNetworks, DatasetSizeGoesByFamily) {
    const std::string study = "study dataset-size --steps 2 --folds 2 --db " + file("m.db");
    std::set<std::string> families;
    const json by_family = answer(study + " --by family");
    for (const json& line : by_family.at("results")) families.insert(line.at("family").get<std::string>());
    EXPECT_TRUE(families.contains("convolution"));
    const json together = answer(study);
    for (const json& line : together.at("results")) EXPECT_EQ(line.at("family"), "all");
    EXPECT_EQ(run_laboratory("study learners --db " + file("m.db") + " --by family").status, 2);
}

}  // namespace
}  // namespace joulecast
