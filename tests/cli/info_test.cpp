#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using namespace joulecast::testing;

const std::string source = JOULECAST_SOURCE_DIR;

TEST(Info, DescribesADatabase) {
    const TemporaryFolder folder;
    const std::string db = folder.file("a.db");
    ASSERT_EQ(run_joulecast("import csv " + source + "/tests/dataset/data/version_1.csv --db " + db).status, 0);
    const auto info = nlohmann::json::parse(run_joulecast("info --format json " + db).out);
    EXPECT_EQ(info.at("schema"), "joulecast.info/1");
    EXPECT_EQ(info.at("kind"), "database");
    EXPECT_EQ(info.at("devices"), "cpu-test");
    EXPECT_EQ(info.at("operations"), 2);
    EXPECT_EQ(info.at("networks"), 1);
    EXPECT_EQ(info.at("parts").size(), 3u);  // operations ok, operations out of memory, networks ok
    EXPECT_THAT(run_joulecast("info " + db).out, HasSubstr("out_of_memory"));
}

TEST(Info, TellsFromWhichHostsWasMeasured) {
    const TemporaryFolder folder;
    const std::string db = folder.file("hosts.db");
    {
        Dataset dataset(db);
        const Graph graph = synthetic_graph("resnet18", 2);
        insert_synthetic(dataset, {graph});
        NetworkRow row = synthetic_network(graph);
        row.measurement.asked.host = row.measurement.real.host = Host::python;
        row.measurement.time.median_s *= 1.2;
        dataset.insert(row.measurement, row.provenance);
    }
    const auto parts = nlohmann::json::parse(run_joulecast("info --format json " + db).out).at("parts");
    ASSERT_EQ(parts.size(), 3u);  // operations from C++, a network from C++, one from Python
    EXPECT_EQ(parts[0].at("host"), "cpp");
    EXPECT_EQ(parts[2].at("host"), "python");
    const std::string predictor = folder.file("hosts.jcp");
    ASSERT_EQ(run_joulecast("train --learner decision_tree --db " + db + " -o " + predictor).status, 0);
    EXPECT_THAT(run_joulecast("info " + predictor).out, HasSubstr("cpp; python inference + "));
}

TEST(Info, DescribesANetwork) {
    const auto info = nlohmann::json::parse(run_joulecast("info --format json " + source + "/zoo/resnet18.pt2").out);
    EXPECT_EQ(info.at("kind"), "network");
    EXPECT_EQ(info.at("parameters"), 11689512);  // torchvision's documentation of ResNet18_Weights
    EXPECT_THAT(info.at("symbols").get<std::string>(), HasSubstr("batch"));
}

TEST(Info, RefusesOtherFiles) {
    const auto ran = run_joulecast("info " + source + "/README.md");
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("is not a database, a predictor (.jcp) or a network (.pt2)"));
    EXPECT_EQ(run_joulecast("info /none").status, 1);
}

}  // namespace
}  // namespace joulecast
