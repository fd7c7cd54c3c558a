#include "joulecast/report/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Plot power_plot() {
    Plot plot;
    plot.title = "Power";
    plot.x = {"time", "s"};
    plot.y = {"power", "W"};
    plot.series = {{"rapl", PlotSeries::Style::line, {0, 1, 2}, {10, std::nan(""), 30}}};
    return plot;
}

nlohmann::json figure(const Plot& plot) {
    return nlohmann::json::parse(to_figure_json(plot));
}

TEST(Plot, AxesCarryTheirUnits) {
    Plot plot = power_plot();
    plot.x.logarithmic = true;
    const auto layout = figure(plot).at("layout");
    // A logarithmic axis has them at its ticks.
    EXPECT_EQ(layout.at("xaxis").at("title").at("text"), "time");
    EXPECT_EQ(layout.at("xaxis").at("ticktext").at(0), "1 s");
    EXPECT_EQ(layout.at("yaxis").at("title").at("text"), "power (W)");
    EXPECT_EQ(layout.at("xaxis").at("type"), "log");
    EXPECT_FALSE(layout.at("yaxis").contains("type"));
}

TEST(Plot, NumbersAreInTheUnitThatTablesTake) {
    Plot plot = power_plot();
    plot.x = {"core clock", "MHz"};
    plot.y = {"energy", "J"};
    plot.series = {{"e", PlotSeries::Style::bars, {900, 1200}, {0.02, 0.5}, {0.01, 0.4}, {0.03, 0.6}}};
    const auto json = figure(plot);
    EXPECT_EQ(json.at("layout").at("yaxis").at("title").at("text"), "energy (mJ)");
    EXPECT_EQ(json.at("data").at(0).at("y").at(1), 500);
    EXPECT_NEAR(json.at("data").at(0).at("error_y").at("array").at(1), 100, 1e-9);
    // MHz takes no further prefix.
    EXPECT_EQ(json.at("layout").at("xaxis").at("title").at("text"), "core clock (MHz)");
    EXPECT_EQ(json.at("data").at(0).at("x").at(0), 900);
}

TEST(Plot, AnAxisMayEndBeforeItsValues) {
    Plot plot = power_plot();
    plot.y.most = 20;
    EXPECT_EQ(figure(plot).at("layout").at("yaxis").at("range"), nlohmann::json::parse("[0,20.0]"));
}

TEST(Plot, ASeriesMayHaveAColourOfItsOwn) {
    Plot plot = power_plot();
    plot.series.front().colour = "#102030";
    plot.series.front().low = {9, 9, 9};
    plot.series.front().high = {31, 31, 31};
    const auto data = figure(plot).at("data");
    EXPECT_EQ(data.at(0).at("fillcolor"), "rgba(16,32,48,0.2)");
    EXPECT_EQ(data.at(1).at("line").at("color"), "#102030");
}

TEST(Plot, BarsStandAboveTheirLabels) {
    Plot plot = power_plot();
    plot.series = {{"a", PlotSeries::Style::bars, {0, 1}, {3, 4}}, {"b", PlotSeries::Style::bars, {0, 1}, {5, 6}}};
    plot.x.labels = {"knn", "<b>"};
    const auto json = figure(plot);
    EXPECT_EQ(json.at("data").at(0).at("type"), "bar");
    EXPECT_NE(json.at("data").at(0).at("marker").at("color"), json.at("data").at(1).at("marker").at("color"));
    EXPECT_EQ(json.at("layout").at("xaxis").at("tickvals"), nlohmann::json::parse("[0,1]"));
    EXPECT_EQ(json.at("layout").at("xaxis").at("ticktext").at(1), "&lt;b&gt;");
    EXPECT_FALSE(json.at("layout").at("yaxis").contains("ticktext"));
}

TEST(Plot, WhatIsNotKnownIsAGap) {
    const auto trace = figure(power_plot()).at("data").at(0);
    EXPECT_EQ(trace.at("y"), nlohmann::json::parse("[10.0,null,30.0]"));
    EXPECT_EQ(trace.at("mode"), "lines");
}

TEST(Plot, BandsOfOneNameShareAColourAndALegendEntry) {
    Plot plot = power_plot();
    plot.bands = {{"idle", -1, 0}, {"run", 0, 2}, {"idle", 2, 3}};
    const auto json = figure(plot);
    const auto& shapes = json.at("layout").at("shapes");
    ASSERT_EQ(shapes.size(), 3U);
    EXPECT_EQ(shapes.at(0).at("fillcolor"), shapes.at(2).at("fillcolor"));
    EXPECT_NE(shapes.at(0).at("fillcolor"), shapes.at(1).at("fillcolor"));
    EXPECT_EQ(shapes.at(0).at("x0"), -1);
    EXPECT_EQ(json.at("data").size(), 3U);  // the series, idle, run
}

TEST(Plot, ALongSeriesIsThinnedWithoutLosingItsPeaks) {
    Plot plot = power_plot();
    auto& series = plot.series.front();
    series.x.clear();
    series.y.clear();
    for (int i = 0; i < 1'000'000; ++i) {
        series.x.push_back(i);
        series.y.push_back(i == 123'457 ? 500 : (i == 700'001 ? -500 : 0));
    }
    const auto trace = figure(plot).at("data").at(0);
    EXPECT_LE(trace.at("y").size(), most_drawn_points);
    EXPECT_EQ(trace.at("y").size(), trace.at("x").size());
    double least = 0;
    double greatest = 0;
    double last_x = -1;
    for (std::size_t i = 0; i < trace.at("y").size(); ++i) {
        least = std::min(least, trace.at("y").at(i).get<double>());
        greatest = std::max(greatest, trace.at("y").at(i).get<double>());
        EXPECT_GE(trace.at("x").at(i).get<double>(), last_x);
        last_x = trace.at("x").at(i).get<double>();
    }
    EXPECT_EQ(least, -500);
    EXPECT_EQ(greatest, 500);
}

TEST(Plot, AnIntervalIsABandAroundALineAndAWhiskerAtABar) {
    Plot plot = power_plot();
    plot.series = {{"line", PlotSeries::Style::line, {1, 2, 3}, {4, 5, 6}, {3, std::nan(""), 5}, {5, 7, 8}},
                   {"bar", PlotSeries::Style::bars, {1}, {10}, {8}, {13}}};
    const auto data = figure(plot).at("data");
    ASSERT_EQ(data.size(), 3U);
    // Up along the high ends and back along the low ones, without the point whose interval is not known.
    EXPECT_EQ(data.at(0).at("x"), nlohmann::json::parse("[1.0,3.0,3.0,1.0]"));
    EXPECT_EQ(data.at(0).at("y"), nlohmann::json::parse("[5.0,8.0,5.0,3.0]"));
    EXPECT_EQ(data.at(0).at("fill"), "toself");
    EXPECT_FALSE(data.at(0).at("showlegend"));
    EXPECT_EQ(data.at(2).at("error_y").at("array").at(0), 3);       // 13 - 10
    EXPECT_EQ(data.at(2).at("error_y").at("arrayminus").at(0), 2);  // 10 - 8
}

TEST(Plot, LyingBarsStandInTheOrderOfTheirLabelsFromTheTop) {
    Plot plot = power_plot();
    plot.series = {{"a", PlotSeries::Style::lying_bars, {3, 4}, {0, 1}, {2, 3}, {5, 6}}};
    plot.y.labels = {"conv", "linear"};
    plot.stacked = true;
    const auto json = figure(plot);
    EXPECT_EQ(json.at("data").at(0).at("orientation"), "h");
    EXPECT_EQ(json.at("data").at(0).at("error_x").at("array").at(0), 2);  // 5 - 3
    EXPECT_EQ(json.at("layout").at("yaxis").at("autorange"), "reversed");
    EXPECT_EQ(json.at("layout").at("barmode"), "stack");
}

TEST(Plot, BeyondTheColoursMarksAndDashesDiffer) {
    Plot plot = power_plot();
    plot.series.clear();
    for (int i = 0; i < 7; ++i)
        plot.series.push_back({"s" + std::to_string(i), PlotSeries::Style::line, {1, 2}, {1, 2}});
    const auto data = figure(plot).at("data");
    EXPECT_EQ(data.at(0).at("line").at("color"), data.at(6).at("line").at("color"));
    EXPECT_NE(data.at(0).at("line").at("dash"), data.at(6).at("line").at("dash"));
}

TEST(Plot, WithoutATitleNoRoomIsKeptForIt) {
    Plot plot = power_plot();
    const double with = figure(plot).at("layout").at("margin").at("t");
    plot.title = plot.subtitle = "";
    EXPECT_LT(figure(plot).at("layout").at("margin").at("t"), with);
    EXPECT_FALSE(figure(plot).at("layout").contains("title"));
}

TEST(Plot, NoTextOfOursEndsTheScriptOrBecomesMarkup) {
    Plot plot = power_plot();
    plot.title = "</script><script>alert(1)</script>";
    plot.series.front().name = "<img src=x>";
    const std::string page = to_html({plot}, "/*plotly*/");
    EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
    EXPECT_THAT(page, Not(HasSubstr("<img")));
    EXPECT_EQ(figure(plot).at("data").at(0).at("name"), "&lt;img src=x&gt;");
}

TEST(Plot, APageHoldsTheLibraryAndFetchesNothing) {
    const std::string page = to_html({power_plot(), power_plot()}, "/*plotly*/");
    EXPECT_THAT(page, HasSubstr("/*plotly*/"));
    EXPECT_THAT(page, HasSubstr("id=\"plot1\""));
    EXPECT_THAT(page, Not(HasSubstr("http")));
    EXPECT_THAT(page, Not(HasSubstr("src=")));
}

}  // namespace
}  // namespace joulecast
