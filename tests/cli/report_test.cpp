#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/run_command.h"
#include "tests/predict/synthetic.h"

namespace joulecast::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Of the synthetic CPU.
const std::string predictor =
    std::string(" --predictor ") + JOULECAST_SOURCE_DIR + "/tests/predict/data/version_1.jcp --device cpu-synthetic ";

bool has_plotly() {
    return std::filesystem::exists(std::string(JOULECAST_BINARY_DIR) + "/share/joulecast/plotly.min.js");
}

/// Three networks, their operations and times; a convolution of resnet18 four times slower than it should be.
class Report : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        folder_ = new TemporaryFolder;
        Dataset dataset(file("three.db"));
        dataset.insert(synthetic_cpu());
        std::vector<Graph> graphs;
        for (const char* model : {"resnet18", "vgg11", "alexnet"}) graphs.push_back(synthetic_graph(model, 2));
        auto rows = synthetic_rows(graphs);
        const auto slow = std::ranges::find_if(
            rows, [](const OperationRow& row) { return row.measurement.operation.target == "aten::conv2d"; });
        slow->measurement.time.median_s *= 4;
        slow->measurement.time.mean_s *= 4;
        slow_ = signature(slow->measurement.operation);
        for (const OperationRow& row : rows) dataset.insert(row.measurement, row.provenance);
        for (const Graph& graph : graphs) {
            const NetworkRow row = synthetic_network(graph);
            dataset.insert(row.measurement, row.provenance);
        }
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

/// A model whose names want to be markup.
const std::string hostile = R"json({"schema": "joulecast.graph/1", "name": "</script><img src=x onerror=alert(1)>",
 "has_edges": false, "nodes": [
  {"operation": "aten::relu(self=f32[8,64,56,56])", "module": "<img src=x onerror=alert(2)>.</script>",
   "source": "\"><script>alert(3)</script>.py:1", "count": 2},
  {"operation": "aten::linear(input=f32[8,512], weight=f32[1000,512])", "module": "head"}]})json";

TEST_F(Report, HostileNamesInAModelStayText) {
    write_file(file("hostile.graph.json"), hostile);
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
    for (const char* chapter : {"<h2>Cost</h2>", "<h2>Where time and energy go</h2>", "<h2>Side by side</h2>",
                                "<h2>Roofline</h2>", "<h2>What this rests on</h2>"})
        EXPECT_NE(page.find(chapter), std::string::npos) << chapter;
}

TEST_F(Report, BesideAMeasurementSaysThatItIsNoTest) {
    const auto ran = run_joulecast("report resnet18 --set batch=2 --host cpp" + predictor + "--db " + file("three.db") +
                                   " -o " + file("m.html"));
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(read_file(file("m.html")).find("this is no test"), std::string::npos);
}

TEST_F(Report, OfADatabaseHoldsOutWhatItCompares) {
    const auto ran =
        run_joulecast("report --db " + file("three.db") + " --folds 2 --learner extra_trees -o " + file("d.html"));
    ASSERT_EQ(ran.status, 0) << ran.err;
    const std::string page = read_file(file("d.html"));
    for (const char* part : {"in 2 folds", "Networks", "Table I: time of the smaller networks", "Figures 3 and 4",
                             "thesis_forest", "Figures 3.1 to 3.3"})
        EXPECT_NE(page.find(part), std::string::npos) << part;
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

/// What a browser found in a page.
struct Seen {
    nlohmann::json answer;
    std::string console;
};

std::string browser() {
    const auto found = run_shell("command -v chromium || command -v chromium-browser || command -v google-chrome");
    return found.out.substr(0, found.out.find('\n'));
}

/// Opens the page in a frame of that width. A copy of it tells what it sees: errors, figures with and without a
/// drawing, and how wide it is.
Seen look_at(const std::string& page_file, int width) {
    std::string page = read_file(page_file);
    const std::string watch =
        "<script>window.troubles=[];addEventListener('error',e=>troubles.push(e.message));</script>";
    page.insert(page.find("<style>"), watch);
    const std::string tell =
        "<script>addEventListener('load',()=>setTimeout(()=>{const plots=[...document.querySelectorAll('.plot')];"
        "parent.postMessage(JSON.stringify({troubles,plots:plots.length,"
        "drawn:plots.filter(p=>p.querySelector('.main-svg')&&p.querySelector('path')).length,"
        "images:document.querySelectorAll('img').length,"
        "wide:document.documentElement.scrollWidth,screen:document.documentElement.clientWidth}),'*')},300))</script>";
    page.insert(page.rfind("</body>"), tell);
    const std::string watched = page_file + ".watched.html";
    write_file(watched, page);
    const std::string frame = page_file + ".frame.html";
    write_file(frame, "<!DOCTYPE html><body><iframe src=\"" + std::filesystem::path(watched).filename().string() +
                          "\" style=\"border:0;width:" + std::to_string(width) +
                          "px;height:1200px\"></iframe><pre id=\"seen\"></pre><script>addEventListener('message',e=>{"
                          "document.getElementById('seen').textContent=e.data})</script></body>");
    const auto ran = run_shell(browser() +
                               " --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --enable-logging=stderr "
                               "--virtual-time-budget=60000 --window-size=1700,1300 --user-data-dir=" +
                               page_file + ".profile --dump-dom file://" + frame);
    const auto from = ran.out.find("<pre id=\"seen\">") + std::string("<pre id=\"seen\">").size();
    const auto text = ran.out.substr(from, ran.out.find("</pre>", from) - from);
    Seen seen;
    seen.answer = nlohmann::json::parse(text, nullptr, false);
    std::istringstream lines(ran.err);
    for (std::string line; std::getline(lines, line);) {
        if (line.find("CONSOLE") != std::string::npos) seen.console += line + "\n";
    }
    if (seen.answer.is_discarded()) seen.console += "no answer from the page: " + ran.err.substr(0, 2000);
    return seen;
}

void expect_sound(const std::string& page_file) {
    for (const int width : {400, 1600}) {
        const Seen seen = look_at(page_file, width);
        ASSERT_FALSE(seen.answer.is_discarded()) << seen.console;
        EXPECT_EQ(seen.console, "") << width;
        EXPECT_EQ(seen.answer["troubles"], nlohmann::json::array()) << width;
        EXPECT_GT(seen.answer["plots"], 0) << width;
        EXPECT_EQ(seen.answer["drawn"], seen.answer["plots"]) << width;
        EXPECT_EQ(seen.answer["images"], 0) << width;
        EXPECT_LE(seen.answer["wide"], seen.answer["screen"]) << width;
    }
}

/// In a real browser.
class ReportInABrowser : public Report {
  protected:
    void SetUp() override {
        Report::SetUp();
        if (!IsSkipped() && browser().empty()) GTEST_SKIP() << "no Chromium here: apt-get install chromium";
    }
};

TEST_F(ReportInABrowser, ANetworksPageDrawsEveryFigureAndFitsEveryScreen) {
    const std::string ask = "report resnet18 vgg11 --mode inference,training" + predictor + "-o ";
    ASSERT_EQ(run_joulecast(ask + file("look.html")).status, 0);
    expect_sound(file("look.html"));
}

TEST_F(ReportInABrowser, HostileNamesRunNothing) {
    write_file(file("hostile.graph.json"), hostile);
    ASSERT_EQ(run_joulecast("report " + file("hostile.graph.json") + predictor + "-o " + file("hostile.html")).status,
              0);
    expect_sound(file("hostile.html"));
}

TEST_F(ReportInABrowser, ADatabasesPageDrawsEveryFigureAndFitsEveryScreen) {
    ASSERT_EQ(
        run_joulecast("report --db " + file("three.db") + " --folds 2 --learner extra_trees -o " + file("db.html"))
            .status,
        0);
    expect_sound(file("db.html"));
}

}  // namespace
}  // namespace joulecast::testing
