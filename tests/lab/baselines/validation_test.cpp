// The published methods beside ours in a validation.
#include <gtest/gtest.h>

#include <map>

#include "joulecast/evaluate/cross_validate.h"
#include "lab/baselines/baselines.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

using testing::synthetic_graph;

ValidationSettings quick() {
    ValidationSettings settings;
    settings.folds = 3;
    settings.training.trees = 8;
    settings.training.folds = 3;
    settings.learners = {Learner::extra_trees};
    return settings;
}

TEST(ValidateOperations, IsMoreAccurateThanThePublishedBaselines) {
    const auto rows = testing::synthetic_training({synthetic_graph("resnet50", 2), synthetic_graph("mobilenet_v2", 2)});
    auto settings = quick();
    for (const char* name : {"roofline", "thesis_forest"}) settings.baselines.push_back(find_baseline(name));
    std::map<std::string, double> median;
    for (const Accuracy& a :
         accuracies(validate_operations(testing::synthetic_cpu(), testing::synthetic_point(), rows, settings))) {
        if (a.family == "all" && a.metric == "time_s") median[a.model] = a.median_ape;
    }
    // The noise alone has a median of 0.67 * 3 %.
    EXPECT_LT(median["extra_trees"], 0.04);
    EXPECT_GT(median["roofline"], 0.2);  // the truth is 1.5 to 2 times the roofline
    EXPECT_GT(median["thesis_forest"], median["extra_trees"]);
}

TEST(ValidateOperations, CountsTheRowsOfTheMethodsOfTheLaboratory) {
    const auto rows =
        testing::synthetic_training({synthetic_graph("resnet18", 2), synthetic_graph("resnet18", 2, Mode::training)});
    auto settings = quick();
    for (const char* name : {"roofline", "paleo"}) settings.baselines.push_back(find_baseline(name));
    std::map<std::pair<std::string, std::string>, std::size_t> count;
    for (const OutOfFoldRow& row :
         validate_operations(testing::synthetic_cpu(), testing::synthetic_point(), rows, settings))
        ++count[{row.model, row.metric}];
    for (const char* model : {"extra_trees", "roofline", "paleo"}) {
        const std::size_t found = count[std::pair<std::string, std::string>(model, "time_s")];
        EXPECT_EQ(found, rows.size()) << model;
    }
}

}  // namespace
}  // namespace joulecast
