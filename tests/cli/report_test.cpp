#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "joulecast/dataset/dataset.h"
#include "joulecast/report/table.h"
#include "tests/cli/report_models.h"
#include "tests/cli/run_command.h"

namespace joulecast::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Of the synthetic CPU.
const std::string predictor =
    std::string(" --predictor ") + JOULECAST_SOURCE_DIR + "/tests/model/data/version_1.jcp --device cpu-synthetic ";

bool has_plotly() {
    return std::filesystem::exists(std::string(JOULECAST_BINARY_DIR) + "/share/joulecast/plotly.min.js");
}

class Report : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        folder_ = new TemporaryFolder;
        slow_ = write_three_networks(file("three.db"));
    }
    static void TearDownTestSuite() {
        delete folder_;
        folder_ = nullptr;
    }
    void SetUp() override {
        if (!has_plotly()) GTEST_SKIP() << "plotly.min.js is not beside the program: tools/setup.sh fetches it";
    }
    static std::string file(const std::string& name) { return folder_->file(name); }
    static const std::string& slow() { return slow_; }

  private:
    static inline TemporaryFolder* folder_ = nullptr;
    static inline std::string slow_;
};

TEST_F(Report, HostileNamesInAModelStayText) {
    write_file(file("hostile.graph.json"), hostile_model);
    const auto ran = run_joulecast("report " + file("hostile.graph.json") + predictor + "-o " + file("hostile.html"));
    ASSERT_EQ(ran.status, 0) << ran.err;
    std::string page = read_file(file("hostile.html"));
    EXPECT_THAT(page, HasSubstr("onerror=alert(1)&gt;"));
    page.erase(page.find("<script>"), page.find("</script>") - page.find("<script>"));  // Plotly's own text
    EXPECT_EQ(page.find("<img"), std::string::npos);
    EXPECT_EQ(page.find("<script>alert"), std::string::npos);
}

TEST_F(Report, OfANetworkHasItsChapters) {
    const auto ran = run_joulecast("report resnet18 --mode inference,training" + predictor + "-o " + file("r.html"));
    ASSERT_EQ(ran.status, 0) << ran.err;
    const std::string page = read_file(file("r.html"));
    // What was asked, and the command that makes the page again.
    EXPECT_NE(page.find("<dt>modes</dt><dd>inference; training</dd>"), std::string::npos);
    EXPECT_NE(page.find("<code>joulecast report resnet18 --mode inference,training"), std::string::npos);
    for (const char* chapter : {"<h2>Cost</h2>", "<h2>Where time and energy go</h2>", "<h2>Side by side</h2>",
                                "<h2>Roofline</h2>", "<h2>What this rests on</h2>"})
        EXPECT_NE(page.find(chapter), std::string::npos) << chapter;
}

TEST_F(Report, SaysWhatItLeavesOut) {
    const TemporaryFolder folder;
    const auto ran =
        run_joulecast("report resnet18 --device v100 h100 --precision fp32,bf16 -o " + folder.file("r.html"));
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("left out: Tesla V100-PCIE-16GB has no bf16"));
}

TEST_F(Report, DrawsNetworksOverTheClocksAskedFor) {
    const std::string ask = "report resnet18 --set batch=8 -o " + file("clocks.html") + " --device a100-40g-pcie ";
    ASSERT_EQ(run_joulecast(ask + "--clocks 600:1410:90").status, 0);
    const std::string page = read_file(file("clocks.html"));
    for (const char* part : {"<h2>Over the clock</h2>", "Energy against the default clock", "least at "})
        EXPECT_NE(page.find(part), std::string::npos) << part;
    // The clock of least energy is the one that predict finds among the same.
    const auto table = nlohmann::json::parse(
        run_joulecast("predict resnet18 --set batch=8 --device a100-40g-pcie --clocks 600:1410:90 --format json").out);
    const auto& points = table["predictions"];
    ASSERT_EQ(points.size(), 10U);
    const auto best = std::min_element(points.begin(), points.end(), [](const auto& a, const auto& b) {
        return a["energy_j"]["value"] < b["energy_j"]["value"];
    });
    EXPECT_NE(page.find("least at " + std::to_string((*best)["asked_clock_mhz"].get<int>()) + " MHz"),
              std::string::npos);
    // The ratio to the default clock has its own interval, which predict tells, too.
    const double saved = 1 - (*best)["relative_to_default"]["energy"]["value"].get<double>();
    EXPECT_NE(page.find(show(saved, Show::percent) + " less (90 %: "), std::string::npos);
    EXPECT_EQ(run_joulecast(ask + "--clocks current").status, 0);
    EXPECT_EQ(read_file(file("clocks.html")).find("Over the clock"), std::string::npos);
}

TEST_F(Report, RefusesClocksThatNoDeviceHas) {
    const auto beyond =
        run_joulecast("report resnet18 --device a100-40g-pcie --clocks 90000 -o " + file("beyond.html"));
    EXPECT_EQ(beyond.status, 2);
    EXPECT_THAT(beyond.err, HasSubstr("MHz"));
    const auto of_cpu = run_joulecast("report resnet18" + predictor + "--clocks 900 -o " + file("beyond.html"));
    EXPECT_EQ(of_cpu.status, 2);
    EXPECT_THAT(of_cpu.err, HasSubstr("clock"));
    EXPECT_EQ(run_joulecast("report --db " + file("three.db") + " --clocks all -o " + file("beyond.html")).status, 2);
    EXPECT_FALSE(std::filesystem::exists(file("beyond.html")));
}

TEST_F(Report, BesideAMeasurementSaysThatItIsNoTest) {
    const auto ran = run_joulecast("report resnet18 --set batch=2 --host cpp" + predictor + "--db " + file("three.db") +
                                   " -o " + file("m.html"));
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(read_file(file("m.html")).find("This is not a test"), std::string::npos);
}

TEST_F(Report, OfADatabaseHoldsOutWhatItCompares) {
    const auto ran =
        run_joulecast("report --db " + file("three.db") + " --folds 2 --learner extra_trees -o " + file("d.html"));
    ASSERT_EQ(ran.status, 0) << ran.err;
    const std::string page = read_file(file("d.html"));
    for (const char* part :
         {"in 2 folds", "Networks", "Table I: time of the smaller networks", "Figures 3 and 4", "Figures 3.1 to 3.3"})
        EXPECT_NE(page.find(part), std::string::npos) << part;
    EXPECT_EQ(page.find("thesis_forest"), std::string::npos);
    EXPECT_THAT(ran.err, HasSubstr("validated 2 of 2 parts of cpu-synthetic, ieee"));
}

TEST_F(Report, FitsTheThesisLearnersWhereAsked) {
    const auto ran = run_joulecast("report --db " + file("three.db") + " --split operation --folds 2 --published -o " +
                                   file("published.html"));
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(read_file(file("published.html")).find("thesis_forest"), std::string::npos);
}

/// What `joulecast predict` writes, read again.
TEST_F(Report, OfForecastFilesHasEachWithItsCommand) {
    const TemporaryFolder folder;
    const std::string ask = "predict resnet18 --set batch=8 --format json --device ";
    ASSERT_EQ(run_joulecast(ask + "a100 -o " + folder.file("a.json")).status, 0);
    ASSERT_EQ(run_joulecast(ask + "h100 --clocks 900,1410,1980 -o " + folder.file("b.json")).status, 0);
    write_file(folder.file("readme.txt"), "no forecasts");
    for (const std::string& named : {folder.file("a.json") + " " + folder.file("b.json"),
                                     std::filesystem::path(folder.file("a.json")).parent_path().string()}) {
        const auto ran = run_joulecast("report " + named + " -o " + file("runs.html"));
        ASSERT_EQ(ran.status, 0) << ran.err;
        const std::string page = read_file(file("runs.html"));
        for (const char* part :
             {"<code>joulecast predict resnet18 --device a100-40g-pcie --set batch=8 --mode inference",
              "<code>joulecast predict resnet18 --device h100-sxm --set batch=8", "<h2>Side by side</h2>",
              "Energy against the default clock", "Time by operation", "(a.json)"})
            EXPECT_NE(page.find(part), std::string::npos) << part;
        const bool is_folder = named.find(".json") == std::string::npos;
        EXPECT_EQ(ran.err.find("readme.txt") != std::string::npos, is_folder) << ran.err;
    }
    // The number is the file's.
    const auto written = nlohmann::json::parse(read_file(folder.file("a.json")));
    const double time_s = written["predictions"][0]["time_s"]["value"];
    EXPECT_NE(read_file(file("runs.html")).find(">" + show(time_s, Show::seconds) + "</td>"), std::string::npos);
}

TEST_F(Report, RefusesFilesThatAreNoForecasts) {
    const TemporaryFolder folder;
    const std::string page = " -o " + file("refused.html");
    write_file(folder.file("x.json"), R"({"schema": "joulecast.extract/1"})");
    const auto other = run_joulecast("report " + folder.file("x.json") + page);
    EXPECT_EQ(other.status, 1);
    EXPECT_THAT(other.err, AllOf(HasSubstr("x.json"), HasSubstr("joulecast predict")));
    write_file(folder.file("y.json"),
               R"({"schema": "joulecast.prediction/1", "predictions": [{"model": "net", "time_s": {"value": "x"}}]})");
    EXPECT_THAT(run_joulecast("report " + folder.file("y.json") + page).err, HasSubstr("y.json"));
    EXPECT_EQ(run_joulecast("report " + folder.file("missing.json") + page).status, 2);
    EXPECT_THAT(run_joulecast("report resnet18 " + folder.file("y.json") + page).err, HasSubstr("not both"));
    EXPECT_THAT(run_joulecast("report " + folder.file("y.json") + " --device a100" + page).err,
                HasSubstr("no --device"));
    EXPECT_FALSE(std::filesystem::exists(file("refused.html")));
}

TEST_F(Report, TheEndOfTheFileDecidesTheFormatOrIsRefused) {
    const auto refused = run_joulecast("report resnet18" + predictor + "-o " + file("r.csv"));
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("report.pdf"));
    const std::string ask = "report --outliers --db " + file("three.db") + " --folds 2 -o ";
    ASSERT_EQ(run_joulecast(ask + file("slow.csv")).status, 0);
    EXPECT_THAT(read_file(file("slow.csv")), ::testing::StartsWith("lost_s,op,"));
    ASSERT_EQ(run_joulecast(ask + file("slow.json")).status, 0);
    EXPECT_EQ(nlohmann::json::parse(read_file(file("slow.json")))["schema"], "joulecast.outliers/1");
}

TEST_F(Report, WithoutABrowserAPdfIsRefusedBeforeAnythingIsComputed) {
    const auto ran = run_shell("PATH=/nowhere $JOULECAST report resnet18" + predictor + "-o " + file("r.pdf"));
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, AllOf(HasSubstr("no Chromium"), HasSubstr("apt-get install chromium")));
    EXPECT_FALSE(std::filesystem::exists(file("r.pdf")));
}

TEST_F(Report, OutliersFindTheSlowOneInEveryFormat) {
    const std::string ask = "report --outliers --db " + file("three.db") + " --folds 2 --learner extra_trees ";
    const auto json = run_joulecast(ask + "--format json");
    ASSERT_EQ(json.status, 0) << json.err;
    const auto answer = nlohmann::json::parse(json.out);
    EXPECT_EQ(answer["schema"], "joulecast.outliers/1");
    ASSERT_FALSE(answer["outliers"].empty());
    const auto& first = answer["outliers"][0];
    EXPECT_EQ(first["signature"], slow());
    for (const char* key : {"lost_s", "calls", "measured_s", "predicted_s", "predicted_high_s", "factor", "reasons"})
        EXPECT_TRUE(first.contains(key)) << key;
    EXPECT_THAT(run_joulecast(ask).out, HasSubstr("likely reason"));
    ASSERT_EQ(run_joulecast(ask + "-o " + file("slow.html")).status, 0);
    EXPECT_NE(read_file(file("slow.html")).find("<h2>Slower than expected</h2>"), std::string::npos);
    // vgg11 does not call the first convolution of resnet18.
    const auto other = nlohmann::json::parse(run_joulecast(ask + "vgg11 --set batch=2 --format json").out);
    for (const auto& line : other["outliers"]) EXPECT_NE(line["signature"], slow());
}

TEST_F(Report, RefusesOptionsOfOtherReports) {
    const std::string page = " -o " + file("refused.html");
    const std::string of_database = "report --db " + file("three.db");
    for (const std::string& asked :
         {"report resnet18" + predictor + "--folds 3", "report resnet18" + predictor + "--split network",
          of_database + " --precision bf16", of_database + " --set batch=2", of_database + " --optimizer adam",
          of_database + " --outliers --split network", of_database + " --outliers --host cpp"}) {
        const auto ran = run_joulecast(asked + page);
        EXPECT_EQ(ran.status, 2) << asked;
        EXPECT_THAT(ran.err, HasSubstr("a report of ")) << asked;
    }
    EXPECT_FALSE(std::filesystem::exists(file("refused.html")));
}

TEST_F(Report, WithoutAnythingToReportSaysWhatToName) {
    const auto nothing = run_joulecast("report -o " + file("n.html"));
    EXPECT_EQ(nothing.status, 2);
    EXPECT_THAT(nothing.err, AllOf(HasSubstr("MODEL"), HasSubstr("--db")));
    EXPECT_FALSE(std::filesystem::exists(file("n.html")));
    {
        Dataset empty(file("empty.db"));
    }
    const auto of_empty = run_joulecast("report --db " + file("empty.db") + " -o " + file("n.html"));
    EXPECT_EQ(of_empty.status, 1);
    EXPECT_THAT(of_empty.err, HasSubstr("holds no measurements"));
    EXPECT_EQ(run_joulecast("report resnet18 -o " + file("n.html")).status, 2);
    EXPECT_THAT(run_joulecast("report resnet18" + predictor).err, HasSubstr("-o report.html"));
    EXPECT_THAT(run_joulecast("report --outliers").err, HasSubstr("--db"));
}

}  // namespace
}  // namespace joulecast::testing
