// Pages of `joulecast report` as a browser shows them: on screens of two widths, light and dark, and on paper.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/report_models.h"
#include "tests/cli/run_command.h"

namespace joulecast::testing {
namespace {

using Json = nlohmann::json;

const std::string synthetic_predictor =
    std::string(" --predictor ") + JOULECAST_SOURCE_DIR + "/tests/model/data/version_1.jcp --device cpu-synthetic ";

std::string browser() {
    const auto found = run_shell("command -v chromium || command -v chromium-browser || command -v google-chrome");
    return found.out.substr(0, found.out.find('\n'));
}

struct Screen {
    int width = 1600;
    bool dark = false;
};

std::string started(const std::string& page_file, const Screen& screen) {
    return browser() +
           " --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --enable-logging=stderr"
           " --virtual-time-budget=60000 --window-size=1700,1300 --blink-settings=preferredColorScheme=" +
           (screen.dark ? "0" : "1") + " --user-data-dir=" + page_file + ".profile ";
}

/// What a page tells of itself: errors, figures with and without a drawing, how wide it is, and how well its letters
/// and those of its figures stand out from the ground (WCAG 2.1, contrast ratio: 1 to 21), on a screen and on paper.
const std::string tell = R"js(<script>
const when_drawn=then=>document.documentElement.dataset.drawn==="yes"?then():setTimeout(()=>when_drawn(then),50);
addEventListener("load",()=>when_drawn(()=>{
  const height=document.documentElement.scrollHeight;
  const clipped=[...document.querySelectorAll(".scroll")].filter(at=>at.offsetParent&&at.scrollWidth>at.clientWidth+1).length;
  // What is behind a click is drawn when it is opened.
  const folded=[...document.querySelectorAll("details")];
  folded.forEach(at=>at.open=true);
  if(folded.length>0)delete document.documentElement.dataset.drawn;
  setTimeout(()=>when_drawn(()=>{
  const channel=v=>v<=0.03928?v/12.92:Math.pow((v+0.055)/1.055,2.4);
  const light=colour=>{const [r,g,b]=colour.match(/[\d.]+/g).map(v=>channel(v/255));return .2126*r+.7152*g+.0722*b;};
  const contrast=(a,b)=>{const [x,y]=[light(a),light(b)];return (Math.max(x,y)+.05)/(Math.min(x,y)+.05);};
  const style=at=>getComputedStyle(at);
  const ground=style(document.body).backgroundColor;
  const letters=()=>[...document.querySelectorAll(".plot .xtick text")].map(at=>style(at).fill);
  const plots=[...document.querySelectorAll(".plot")];
  const seen={troubles,height,clipped,plots:plots.length,
    drawn:plots.filter(p=>p.querySelector(".main-svg")&&p.querySelector("path")).length,
    images:document.querySelectorAll("img").length,
    wide:document.documentElement.scrollWidth,screen:document.documentElement.clientWidth,
    dark:matchMedia("(prefers-color-scheme: dark)").matches,
    text:contrast(style(document.body).color,ground),
    ticks:letters().reduce((least,colour)=>Math.min(least,contrast(colour,ground)),21)};
  dispatchEvent(new Event("beforeprint"));
  setTimeout(()=>{
    seen.on_paper=letters().reduce((least,colour)=>Math.min(least,contrast(colour,"rgb(255,255,255)")),21);
    seen.scrolling=[...document.querySelectorAll(".legend .scrollbar")].filter(bar=>bar.getAttribute("height")>0).length;
    const drawn=[...document.querySelectorAll(".js-plotly-plot")].map(at=>at._fullLayout).filter(l=>l&&l.xaxis);
    seen.lowest=Math.min(...drawn.map(layout=>layout._size.h));
    parent.postMessage(JSON.stringify(seen),"*");
  },300);
  }),100);
}));
</script>)js";

/// What a browser found in a page.
struct Seen {
    Json answer;
    std::string console;
};

/// Opens a copy of the page, which tells what it sees, in a frame of that width.
Seen look_at(const std::string& page_file, const Screen& screen) {
    std::string page = read_file(page_file);
    page.insert(page.find("<style>"),
                "<script>window.troubles=[];addEventListener('error',e=>troubles.push(e.message));</script>");
    page.insert(page.rfind("</body>"), tell);
    const std::string watched = page_file + ".watched.html";
    write_file(watched, page);
    const std::string frame = page_file + ".frame.html";
    write_file(frame, "<!DOCTYPE html><body><iframe src=\"" + std::filesystem::path(watched).filename().string() +
                          "\" style=\"border:0;width:" + std::to_string(screen.width) +
                          "px;height:1200px\"></iframe><pre id=\"seen\"></pre><script>addEventListener('message',e=>{"
                          "document.getElementById('seen').textContent=e.data})</script></body>");
    const auto ran = run_shell(started(page_file, screen) + "--dump-dom file://" + frame);
    const auto from = ran.out.find("<pre id=\"seen\">") + std::string("<pre id=\"seen\">").size();
    const auto text = ran.out.substr(from, ran.out.find("</pre>", from) - from);
    Seen seen;
    seen.answer = Json::parse(text, nullptr, false);
    std::istringstream lines(ran.err);
    for (std::string line; std::getline(lines, line);) {
        if (line.find("CONSOLE") != std::string::npos) seen.console += line + "\n";
    }
    if (seen.answer.is_discarded()) seen.console += "no answer from the page: " + ran.err.substr(0, 2000);
    return seen;
}

void expect_sound(const std::string& page_file, int highest_px = 100'000) {
    for (const Screen& screen : {Screen{400, false}, Screen{1600, false}, Screen{1600, true}}) {
        SCOPED_TRACE(std::to_string(screen.width) + " pixels, " + (screen.dark ? "dark" : "light"));
        const Seen seen = look_at(page_file, screen);
        ASSERT_FALSE(seen.answer.is_discarded()) << seen.console;
        EXPECT_EQ(seen.console, "");
        EXPECT_EQ(seen.answer["troubles"], Json::array());
        EXPECT_GT(seen.answer["plots"], 0);
        EXPECT_EQ(seen.answer["drawn"], seen.answer["plots"]);
        EXPECT_EQ(seen.answer["images"], 0);
        EXPECT_LE(seen.answer["wide"], seen.answer["screen"]);
        EXPECT_EQ(seen.answer["clipped"], 0);
        if (screen.width == 1600) {
            EXPECT_LE(seen.answer["height"], highest_px);
        }
        EXPECT_EQ(seen.answer["dark"], screen.dark);
        // Level AAA for text, AA for the letters in figures.
        EXPECT_GE(seen.answer["text"], 7);
        EXPECT_GE(seen.answer["ticks"], 4.5);
        EXPECT_GE(seen.answer["on_paper"], 7);
        // Nobody scrolls a legend on paper, and a long one must leave a figure its room.
        EXPECT_EQ(seen.answer["scrolling"], 0);
        if (seen.answer["lowest"].is_number()) {
            EXPECT_GE(seen.answer["lowest"], 90);
        }
    }
}

class ReportInABrowser : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!std::filesystem::exists(std::string(JOULECAST_BINARY_DIR) + "/share/joulecast/plotly.min.js"))
            GTEST_SKIP() << "plotly.min.js is not beside the program: tools/setup.sh fetches it";
        if (browser().empty()) GTEST_SKIP() << "no Chromium here: apt-get install chromium";
    }
    std::string page() const { return folder_.file("page.html"); }
    std::string file(const std::string& name) const { return folder_.file(name); }
    void write(const std::string& what) const {
        const auto ran = run_joulecast("report " + what + " -o " + page());
        ASSERT_EQ(ran.status, 0) << ran.err;
    }

  private:
    TemporaryFolder folder_;
};

TEST_F(ReportInABrowser, ANetworksPageDrawsEveryFigureAndFitsEveryScreen) {
    write("resnet18 vgg11 --mode inference,training" + synthetic_predictor);
    expect_sound(page());
}

TEST_F(ReportInABrowser, ANetworkOverTheClockIsDrawn) {
    write("resnet18 --set batch=8 --device a100-40g-pcie h100-sxm --clocks 900,1110,1305,1410");
    expect_sound(page());
}

TEST_F(ReportInABrowser, HostileNamesRunNothing) {
    write_file(file("hostile.graph.json"), hostile_model);
    write(file("hostile.graph.json") + synthetic_predictor);
    expect_sound(page());
}

TEST_F(ReportInABrowser, ADatabasesPageDrawsEveryFigureAndFitsEveryScreen) {
    write_three_networks(file("three.db"));
    write("--db " + file("three.db") + " --folds 2 --learner extra_trees");
    expect_sound(page());
}

std::size_t pages_of(const std::string& pdf) {
    std::size_t pages = 0;
    for (std::size_t at = pdf.find("/Type /Page\n"); at != std::string::npos; at = pdf.find("/Type /Page\n", at + 1))
        ++pages;
    return pages;
}

/// It took 14,163 px and 20 pages.
TEST_F(ReportInABrowser, TwoDevicesFitAPageOfSixThousandPixelsAndEightSheets) {
    const std::string networks = "resnet18 vgg11 --device a100-40g-pcie h100-sxm";
    write(networks);
    expect_sound(page(), 6000);
    EXPECT_LE(std::filesystem::file_size(page()), 5'000'000U);
    const auto ran = run_joulecast("report " + networks + " -o " + file("page.pdf"));
    ASSERT_EQ(ran.status, 0) << ran.err;
    const std::string pdf = read_file(file("page.pdf"));
    EXPECT_TRUE(pdf.starts_with("%PDF-"));
    EXPECT_GE(pages_of(pdf), 2U);
    EXPECT_LE(pages_of(pdf), 8U);
    // The browser's own files are gone.
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(file("page.pdf")).parent_path()))
        EXPECT_EQ(entry.path().filename().string().find("joulecast-page-"), std::string::npos) << entry.path();
}

/// They took 96 sheets.
TEST_F(ReportInABrowser, OutliersPrintOnSixSheets) {
    write_three_networks(file("three.db"));
    const auto ran = run_joulecast("report --outliers --db " + file("three.db") + " --folds 2 -o " + file("slow.pdf"));
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_LE(pages_of(read_file(file("slow.pdf"))), 6U);
}

TEST_F(ReportInABrowser, FilesOfForecastsAreDrawn) {
    ASSERT_EQ(run_joulecast("predict resnet18 --device a100 h100 --clocks 900,1200,1410 --format json -o " +
                            file("runs.json"))
                  .status,
              0);
    write(file("runs.json"));
    expect_sound(page(), 6000);
}

}  // namespace
}  // namespace joulecast::testing
