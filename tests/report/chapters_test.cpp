#include "joulecast/report/chapters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/report/made_up_forecasts.h"

namespace joulecast::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// The chapter's drawings, also those side by side and behind a click.
struct Drawings {
    std::vector<Drawing> list;

    void add(const Drawing& drawing) { list.push_back(drawing); }
    void add(const SideBySide& row) { list.insert(list.end(), row.drawings.begin(), row.drawings.end()); }
    void add(const Folded& folded) {
        for (const auto& block : folded.blocks) std::visit([&](const auto& part) { add(part); }, block);
    }
    template <class Other>
    void add(const Other&) {}
};

std::vector<Drawing> drawings(const Chapter& chapter) {
    Drawings found;
    for (const Block& block : chapter.blocks) std::visit([&](const auto& part) { found.add(part); }, block);
    return found.list;
}

std::vector<std::string> titles(const Chapter& chapter) {
    std::vector<std::string> all;
    for (const Drawing& drawing : drawings(chapter)) all.push_back(drawing.title);
    return all;
}

nlohmann::json figure(const Chapter& chapter, const std::string& title) {
    for (const Drawing& drawing : drawings(chapter)) {
        if (drawing.title == title) return nlohmann::json::parse(drawing.json);
    }
    return {};
}

std::string texts(const Chapter& chapter) {
    std::string all;
    for (const Block& block : chapter.blocks) {
        if (const auto* paragraph = std::get_if<Paragraph>(&block)) all += paragraph->text + "\n";
        if (const auto* table = std::get_if<TitledTable>(&block)) all += to_text(table->table) + "\n";
    }
    return all;
}

/// One network on two devices: "quick" takes 2 ms and 0.9 J, "thrifty" 8 ms and 0.5 J, each within 10 %.
std::vector<ReportedForecast> on_two_devices() {
    ReportedForecast quick = made_up_forecast("net", "quick");
    quick.network.time = around<Seconds>(2e-3);
    quick.network.energy = around<Joules>(0.9);
    ReportedForecast thrifty = made_up_forecast("net", "thrifty");
    thrifty.network.time = around<Seconds>(8e-3);
    return {quick, thrifty};
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

TEST(Summary, OfDevicesHasALineForEachSettingAndSaysWhetherTheIntervalsTell) {
    auto forecasts = on_two_devices();
    for (const ReportedForecast& forecast : on_two_devices()) {
        forecasts.push_back(forecast);
        forecasts.back().network.model = "other";
    }
    // 4 ms within 10 % overlaps with 4.2 ms: nobody can tell which of both is faster.
    forecasts[2].network.time = around<Seconds>(4e-3);
    forecasts[3].network.time = around<Seconds>(4.2e-3);
    const std::string text = summary_sentence(forecasts);
    const std::string first = text.substr(0, text.find('\n'));
    EXPECT_THAT(first, HasSubstr("net: quick is the fastest with 2.00 ms"));
    EXPECT_THAT(first, HasSubstr("thrifty takes the least energy, 500 mJ"));
    EXPECT_THAT(first, Not(HasSubstr("overlap")));
    EXPECT_THAT(text.substr(first.size()), HasSubstr("other: quick is the fastest with 4.00 ms"));
    EXPECT_THAT(text.substr(first.size()), HasSubstr("The 90 % intervals of time overlap"));
}

TEST(ComparedSettings, KeepDevicesOfASettingTogether) {
    std::vector<ReportedForecast> forecasts = {made_up_forecast("a", "x"), made_up_forecast("b", "x"),
                                               made_up_forecast("a", "y"), made_up_forecast("b", "y")};
    const auto settings = compared_settings(forecasts);
    ASSERT_EQ(settings.size(), 2U);
    EXPECT_EQ(settings[0].name, "a");
    EXPECT_THAT(settings[0].forecasts, ElementsAre(0, 2));
    EXPECT_THAT(settings[1].forecasts, ElementsAre(1, 3));
    // On one device the settings themselves are what one compares.
    forecasts.resize(2);
    ASSERT_EQ(compared_settings(forecasts).size(), 1U);
    EXPECT_THAT(compared_settings(forecasts)[0].forecasts, ElementsAre(0, 1));
}

TEST(SharesChapter, ShowsModulesOperationsAndLinesOrSaysWhatTheFileLacks) {
    ReportedForecast one = made_up_forecast("net", "gpu");
    EXPECT_THAT(titles(shares_chapter({one})),
                ElementsAre("Where the time of net goes", "Where the energy of net goes", "Time by operation",
                            "Energy by operation", "Time by module", "Energy by module", "Time by source line",
                            "Energy by source line"));
    for (Node& node : one.graph.nodes) node.module_path = node.source_line = "";
    const Chapter bare = shares_chapter({one});
    EXPECT_THAT(titles(bare), ElementsAre("Where the time of net goes", "Where the energy of net goes",
                                          "Time by operation", "Energy by operation"));
    EXPECT_THAT(texts(bare), HasSubstr("names no module paths and source lines"));
}

TEST(SharesChapter, LayersThatDifferInTheirNumberAloneAreOneTile) {
    ReportedForecast one = made_up_forecast("net", "gpu");
    // 3 ms in each of two layers, where the forecast has both calls.
    one.graph.nodes[0].module_path = "layer.0.conv";
    one.graph.nodes.push_back(one.graph.nodes[0]);
    one.graph.nodes.back().module_path = "layer.1.conv";
    one.network.operations[0].count = 2;
    const auto trace = figure(shares_chapter({one}), "Where the time of net goes").at("data").at(0);
    std::vector<std::string> labels = trace.at("labels");
    const auto tile = std::ranges::find(labels, "conv: linear");
    ASSERT_NE(tile, labels.end());
    EXPECT_EQ(std::ranges::count(labels, "conv: linear"), 1);
    EXPECT_DOUBLE_EQ(trace.at("values").at(static_cast<std::size_t>(tile - labels.begin())), 6e-3);
    EXPECT_THAT(labels, ::testing::Contains("layer.*"));
}

TEST(SharesChapter, BarsOfDevicesStandBesideEachOtherInTheirColours) {
    const auto bars = figure(shares_chapter(on_two_devices()), "Time by operation").at("data");
    ASSERT_EQ(bars.size(), 2U);
    EXPECT_EQ(bars.at(0).at("marker").at("color"), colour_of_forecast(0));
    EXPECT_EQ(bars.at(1).at("marker").at("color"), colour_of_forecast(1));
    // linear takes 3 of 4 ms.
    EXPECT_DOUBLE_EQ(bars.at(0).at("x").at(0), 75);
}

Estimate<Ratio> ratio(double value) {
    return {Ratio(value), Ratio(0.95 * value), Ratio(1.05 * value)};
}

/// Energy 3, 2, 4 J and time 4, 2, 1 s at 500, 1000, 1500 MHz, of which the last is the default.
ReportedForecast over_three_clocks() {
    ReportedForecast one = made_up_forecast("net", "gpu");
    const auto relative = [](double time, double energy) { return RelativeCost{ratio(time), ratio(energy), {}}; };
    one.clocks = {{500, 500, around<Seconds>(4), around<Joules>(3), Bound::device, relative(4, 0.75)},
                  {1000, 1000, around<Seconds>(2), around<Joules>(2), Bound::device, relative(2, 0.5)},
                  {1400, 1400, around<Seconds>(1.05), around<Joules>(3.6), Bound::device, relative(1.05, 0.9)},
                  {1500, 1400, around<Seconds>(1), around<Joules>(4), Bound::power_cap, relative(1, 1)}};
    one.default_clock_mhz = 1500;
    return one;
}

TEST(ClocksChapter, ComparesWithTheDefaultClockByTheIntervalsOfRatios) {
    const Chapter chapter = clocks_chapter({over_three_clocks()});
    EXPECT_THAT(titles(chapter),
                ElementsAre("Time against the default clock", "Energy against the default clock", "Time over the clock",
                            "Energy over the clock", "Energy × time over the clock"));
    const auto data = figure(chapter, "Energy against the default clock").at("data");
    // The band along its upper ends: 105 % of 75, 50, 90 and 100 %.
    EXPECT_NEAR(data.at(0).at("y").at(0), 78.75, 1e-9);
    EXPECT_NEAR(data.at(0).at("y").at(1), 52.5, 1e-9);
    EXPECT_NEAR(data.at(1).at("y").at(0), 75, 1e-9);
    EXPECT_EQ(data.at(2).at("x").at(0), 1000);  // the least
    EXPECT_THAT(texts(chapter), HasSubstr("From 1500 MHz on the power limit holds the clock at about 1400 MHz"));
}

TEST(ClocksChapter, NamesTheClockOfLeastEnergyAndTheOneThatIsHardlySlower) {
    const std::string text = texts(clocks_chapter({over_three_clocks()}));
    // At 1400 MHz 10 % less energy for 5 % more time; at 1000 MHz half of the energy, but twice the time.
    EXPECT_THAT(text, HasSubstr("least energy, at most 10 % slower  1400 MHz"));
    EXPECT_THAT(text, HasSubstr("10.0 % less"));
    EXPECT_THAT(text, HasSubstr("5.0 % more"));
    EXPECT_THAT(text, HasSubstr("50.0 % less"));
    EXPECT_THAT(text, HasSubstr("100 % more"));
}

TEST(ClocksChapter, SeveralForecastsShareTheirFigures) {
    ReportedForecast other = over_three_clocks();
    other.device.display_name = "other";
    const Chapter chapter = clocks_chapter({over_three_clocks(), other});
    EXPECT_EQ(titles(chapter).size(), 5U);
    const auto data = figure(chapter, "Time against the default clock").at("data");
    ASSERT_EQ(data.size(), 4U);  // a band and a line each
    EXPECT_EQ(data.at(1).at("line").at("color"), colour_of_forecast(0));
    EXPECT_EQ(data.at(3).at("line").at("color"), colour_of_forecast(1));
}

TEST(ClocksChapter, WithoutClocksSaysWhyOnce) {
    ReportedForecast one = made_up_forecast("net", "cpu");
    one.clocks_missing_reason = "the clock of a CPU is not ours to set";
    EXPECT_EQ(texts(clocks_chapter({one, one})), "Not shown: the clock of a CPU is not ours to set.\n");
}

TEST(DevicesChapter, NeedsTwoForecasts) {
    EXPECT_THAT(devices_chapter({made_up_forecast("net", "gpu")}).blocks, IsEmpty());
    EXPECT_THAT(titles(devices_chapter({made_up_forecast("net", "gpu"), made_up_forecast("net", "other")})),
                ElementsAre("Time of a call", "Energy of a call", "Time against energy"));
}

TEST(DevicesChapter, BarsCarryTheirNumberAndTheirInterval) {
    const auto time = figure(devices_chapter(on_two_devices()), "Time of a call");
    EXPECT_EQ(time.at("layout").at("yaxis").at("ticktext").at(0), "net<br>quick<br>2.00 ms");
    EXPECT_EQ(time.at("layout").at("xaxis").at("title").at("text"), "time (ms)");
    EXPECT_NEAR(time.at("data").at(1).at("error_x").at("arrayminus").at(0), 0.8, 1e-9);  // 10 % of 8 ms
}

TEST(DevicesChapter, TheParetoFrontLeavesOutWhatAnotherBeatsInBoth) {
    auto forecasts = on_two_devices();
    forecasts.push_back(made_up_forecast("net", "beaten"));
    forecasts.back().network.time = around<Seconds>(9e-3);
    forecasts.back().network.energy = around<Joules>(0.8);
    const auto data = figure(devices_chapter(forecasts), "Time against energy").at("data");
    ASSERT_EQ(data.size(), 4U);
    EXPECT_THAT(data.at(3).at("name").get<std::string>(), HasSubstr("Pareto"));
    EXPECT_EQ(data.at(3).at("x"), nlohmann::json::parse("[2.0,8.0]"));
    EXPECT_EQ(data.at(3).at("y"), nlohmann::json::parse("[900.0,500.0]"));
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
    ASSERT_EQ(drawings(chapter).size(), 1U);
    // 1 MB resident and 3 MB.
    EXPECT_THAT(drawings(chapter)[0].json, HasSubstr("peak 4.00 MB in relu"));
    // Another device keeps the same alive.
    ReportedForecast other = one;
    other.device.display_name = "other";
    EXPECT_THAT(titles(memory_chapter({one, other})), ElementsAre("net, gpu, the same in 1 other"));
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
    EXPECT_THAT(drawings(chapter).at(0).json, HasSubstr("taken by PyTorch"));
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

TEST(ForecastPage, BeginsWithWhatWasAskedAndWhichIsBest) {
    const Page page = forecast_page(on_two_devices());
    EXPECT_EQ(page.title, "net on quick and thrifty");
    using Asked = std::pair<std::string, std::string>;
    EXPECT_THAT(page.asked,
                ElementsAre(Asked{"network", "net (batch=2)"}, Asked{"mode", "inference"}, Asked{"precision", "fp32"},
                            Asked{"issued from", "cpp"}, Asked{"devices", "quick; thrifty"}));
    EXPECT_EQ(page.chapters.front().title, "Side by side");
}

TEST(ForecastPage, SaysHowImagesLieWhereAnyHaveChannelsLast) {
    ReportedForecast last = made_up_forecast("net", "gpu");
    last.network.memory_format = MemoryFormat::channels_last;
    const Page page = forecast_page({made_up_forecast("net", "gpu"), last});
    using Asked = std::pair<std::string, std::string>;
    EXPECT_THAT(page.asked, ::testing::Contains(Asked{"images", "contiguous; channels_last"}));
    EXPECT_THAT(labels({made_up_forecast("net", "gpu"), last}), ElementsAre("net, fp32", "net, fp32, channels last"));
}

TEST(ForecastPage, ManyForecastsHaveNoFiguresOfTheirOwnAndThePageSaysSo) {
    const std::vector<ReportedForecast> many(most_detailed_forecasts + 1, made_up_forecast("net", "gpu"));
    EXPECT_THAT(texts(shares_chapter(many)), HasSubstr("Shown for the first 8 of 9"));
}

}  // namespace
}  // namespace joulecast::testing
