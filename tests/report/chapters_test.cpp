#include "joulecast/report/chapters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/report/made_up_forecasts.h"

namespace joulecast::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> titles(const Chapter& chapter) {
    std::vector<std::string> all;
    for (const Block& block : chapter.blocks) {
        if (const auto* figure = std::get_if<Drawing>(&block)) all.push_back(figure->title);
    }
    return all;
}

std::string texts(const Chapter& chapter) {
    std::string all;
    for (const Block& block : chapter.blocks) {
        if (const auto* paragraph = std::get_if<Paragraph>(&block)) all += paragraph->text + "\n";
    }
    return all;
}

TEST(Labels, HaveTheModelAndWhatDiffers) {
    ReportedForecast second = made_up_forecast("net", "other");
    second.network.symbols["batch"] = 8;
    EXPECT_THAT(labels({made_up_forecast("net", "gpu"), second}),
                ElementsAre("net, batch=2, gpu", "net, batch=8, other"));
    EXPECT_THAT(labels({made_up_forecast("net", "gpu")}), ElementsAre("net"));
}

TEST(Summary, SaysWhatOneNetworkTakesWithItsInterval) {
    const std::string text = summary_sentence({made_up_forecast("net", "gpu")});
    EXPECT_THAT(text,
                HasSubstr("net (batch=2, inference, fp32, issued from cpp) takes 4.00 ms (90 %: 3.60 ms to 4.40 ms)"));
    EXPECT_THAT(text, HasSubstr("500 mJ"));
    EXPECT_THAT(text, HasSubstr("3.00 MB of memory"));  // 1 MB there before, 2 MB above
}

TEST(Summary, SaysWhatATrainingStepIs) {
    ReportedForecast one = made_up_forecast("net", "gpu");
    one.network.mode = Mode::training;
    one.network.training.optimizer = Optimizer::adamw;
    one.network.training.accumulation = 4;
    EXPECT_THAT(summary_sentence({one}), HasSubstr("net (batch=2, training, adamw, 4 passes, fp32, issued from cpp)"));
    EXPECT_THAT(labels({made_up_forecast("net", "gpu"), one}),
                ElementsAre("net, inference", "net, training, adamw, 4 passes"));
}

TEST(Summary, OfSeveralNamesTheFastestAndTheThriftiest) {
    ReportedForecast fast = made_up_forecast("fast", "gpu");
    fast.network.time = around<Seconds>(1e-3);
    EXPECT_THAT(summary_sentence({made_up_forecast("slow", "gpu"), fast}),
                HasSubstr("fast is the fastest with 1.00 ms"));
    fast.network.energy = around<Joules>(9);
    EXPECT_THAT(summary_sentence({made_up_forecast("slow", "gpu"), fast}), HasSubstr("slow takes the least energy"));
}

TEST(Summary, WhereEnergyIsNotKnownTheReasonStandsThere) {
    ReportedForecast one = made_up_forecast("net", "gpu");
    one.network.energy = {};
    one.network.energy_missing_reason = "no meter";
    EXPECT_THAT(summary_sentence({one}), HasSubstr("its energy is not known: no meter"));
    EXPECT_THAT(texts(cost_chapter({one})), HasSubstr("no meter"));
}

TEST(SharesChapter, ShowsModulesOperationsAndLinesOrSaysWhatTheFileLacks) {
    ReportedForecast one = made_up_forecast("net", "gpu");
    EXPECT_THAT(titles(shares_chapter({one})), ElementsAre("Where the time of net goes", "Where the energy of net goes",
                                                           "By operation", "By module", "By source line"));
    for (Node& node : one.graph.nodes) node.module_path = node.source_line = "";
    const Chapter bare = shares_chapter({one});
    EXPECT_THAT(titles(bare),
                ElementsAre("Where the time of net goes", "Where the energy of net goes", "By operation"));
    EXPECT_THAT(texts(bare), HasSubstr("names no module paths and source lines"));
}

TEST(ClocksChapter, MarksTheBestClockAndSaysWhatItSaves) {
    ReportedForecast one = made_up_forecast("net", "gpu");
    // Energy 3, 2, 4 J: best in the middle, half of that at the highest clock; 2 s against 1 s.
    one.clocks = {{500, 500, around<Seconds>(4), around<Joules>(3), Bound::device},
                  {1000, 1000, around<Seconds>(2), around<Joules>(2), Bound::device},
                  {1500, 1400, around<Seconds>(1), around<Joules>(4), Bound::power_cap}};
    const Chapter chapter = clocks_chapter({one});
    EXPECT_THAT(titles(chapter), ElementsAre("Time over the clock: net", "Energy over the clock: net",
                                             "Energy-delay product over the clock: net"));
    EXPECT_THAT(texts(chapter),
                HasSubstr("Energy is least at 1000 MHz: 50.0 % below that at 1500 MHz, for 100 % more time"));
    // 12, 4 and 4 J s: the lower clock of equal ones is kept.
    EXPECT_THAT(texts(chapter), HasSubstr("From 1500 MHz on the power limit holds the clock at about 1400 MHz"));
}

TEST(ClocksChapter, WithoutClocksSaysWhyOnce) {
    ReportedForecast one = made_up_forecast("net", "cpu");
    one.clocks_missing_reason = "the clock of a CPU is not ours to set";
    EXPECT_EQ(texts(clocks_chapter({one, one})), "Not shown: the clock of a CPU is not ours to set.\n");
}

TEST(DevicesChapter, NeedsTwoForecasts) {
    EXPECT_THAT(devices_chapter({made_up_forecast("net", "gpu")}).blocks, IsEmpty());
    EXPECT_THAT(titles(devices_chapter({made_up_forecast("net", "gpu"), made_up_forecast("net", "other")})),
                ElementsAre("Time", "Energy", "Power"));
}

TEST(RooflineChapter, SaysWhichFiguresOfTheDeviceAreMissing) {
    ReportedForecast one = made_up_forecast("net", "gpu");
    EXPECT_EQ(titles(roofline_chapter({one})).size(), 1U);
    one.device.bandwidth_bytes_per_s = Device::unknown;
    EXPECT_THAT(texts(roofline_chapter({one})), HasSubstr("lacks the peak rate or the bandwidth"));
}

TEST(MemoryChapter, MarksThePeakAboveWhatIsThereAnyway) {
    ReportedForecast one = made_up_forecast("net", "gpu");
    one.alive = {{"forward", "linear", 1e6}, {"forward", "relu", 3e6}, {"forward", "add", 2e6}};
    const Chapter chapter = memory_chapter({one});
    ASSERT_EQ(chapter.blocks.size(), 1U);
    // 1 MB resident and 3 MB.
    EXPECT_THAT(std::get<Drawing>(chapter.blocks[0]).json, HasSubstr("peak 4.00 MB in relu"));
}

TEST(MemoryChapter, IsWhatThePlanSaysOfEachCall) {
    ReportedForecast one = made_up_forecast("net", "gpu");
    EXPECT_THAT(alive_bytes(one.network, one.graph), IsEmpty());
    Node node;
    node.operation.target = "aten::relu";
    node.module_path = "layer1.0";
    one.graph.nodes = {node};
    MemoryPlan plan;
    plan.timeline = {{Pass::forward, 0, 1e6, 0}, {Pass::update, -1, 2e6, 5e5}};
    plan.reserved_bytes = 4194304;
    one.network.memory_plan = std::make_shared<const MemoryPlan>(plan);
    one.network.overflow = "needs more than there is";
    one.alive = alive_bytes(one.network, one.graph);
    ASSERT_EQ(one.alive.size(), 2U);
    EXPECT_EQ(one.alive[0].pass, "forward");
    EXPECT_EQ(one.alive[0].call, "aten::relu in layer1.0");
    EXPECT_EQ(one.alive[1].call, "the optimizer's update");
    EXPECT_EQ(one.alive[1].bytes, 2e6);
    const Chapter chapter = memory_chapter({one});
    EXPECT_THAT(std::get<Drawing>(chapter.blocks.at(0)).json, HasSubstr("taken by PyTorch"));
    EXPECT_THAT(texts(chapter), HasSubstr("net needs more than there is."));
}

TEST(EvidenceChapter, NamesUnknownOperations) {
    ReportedForecast one = made_up_forecast("net", "gpu");
    EXPECT_THAT(texts(evidence_chapter({one})), Not(HasSubstr("lower bound")));
    one.network.unknown_nodes = 2;
    one.network.unknown_operations = {"my::op"};
    EXPECT_THAT(texts(evidence_chapter({one})), HasSubstr("2 calls have no record (my::op)"));
}

TEST(ForecastPage, LeavesOutChaptersWithNothingToSay) {
    const Page page = forecast_page({made_up_forecast("net", "gpu")});
    std::vector<std::string> names;
    for (const Chapter& chapter : page.chapters) names.push_back(chapter.title);
    EXPECT_THAT(names, ElementsAre("Cost", "Where time and energy go", "Roofline", "What this rests on"));
}

TEST(ForecastPage, ManyForecastsHaveNoFiguresOfTheirOwnAndThePageSaysSo) {
    const std::vector<ReportedForecast> many(most_detailed_forecasts + 1, made_up_forecast("net", "gpu"));
    EXPECT_THAT(texts(shares_chapter(many)), HasSubstr("Shown for the first 8 of 9"));
}

}  // namespace
}  // namespace joulecast::testing
