#include "joulecast/report/dataset_chapters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace joulecast::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> figure_titles(const Chapter& chapter) {
    std::vector<std::string> all;
    for (const Block& block : chapter.blocks) {
        if (const auto* figure = std::get_if<Drawing>(&block)) all.push_back(figure->title);
    }
    return all;
}

std::string all_text(const Chapter& chapter) {
    std::string all;
    for (const Block& block : chapter.blocks) {
        if (const auto* paragraph = std::get_if<Paragraph>(&block)) all += paragraph->text + "\n";
    }
    return all;
}

OutOfFoldRow row_of(const std::string& group, const std::string& metric, double measured, double predicted) {
    OutOfFoldRow row;
    row.model = "joulecast";
    row.metric = metric;
    row.family = "matmul";
    row.device = "gpu";
    row.mode = "inference";
    row.math = "ieee";
    row.group = group;
    row.measured = measured;
    row.predicted = predicted;
    row.low = 0.9 * predicted;
    row.high = 1.1 * predicted;
    return row;
}

ReportedDataset three_operations() {
    ReportedDataset dataset;
    dataset.file = "made-up.db";
    dataset.folds = 2;
    for (int i = 1; i <= 3; ++i) {
        dataset.held_out.push_back(row_of("op" + std::to_string(i), "time_s", i, 1.05 * i));
        dataset.held_out.push_back(row_of("op" + std::to_string(i), "power_w", 100.0 * i, 104.0 * i));
    }
    return dataset;
}

NetworkRow network_at(double clock_mhz, double time_s, double energy_j) {
    NetworkRow row;
    NetworkMeasurement& m = row.measurement;
    m.model = "net";
    m.real.device = m.asked.device = "gpu";
    m.asked.sm_clock_mhz = m.real.sm_clock_mhz = clock_mhz;
    m.time.median_s = m.time.mean_s = time_s;
    m.energy.emplace();
    m.energy->energy_j = energy_j;
    return row;
}

TEST(HeldOutChapter, HasAFigureForEachMetricThatWasForecast) {
    EXPECT_THAT(figure_titles(held_out_chapter(three_operations())),
                ::testing::ElementsAre("Time: gpu, ieee", "Power: gpu, ieee"));
    EXPECT_THAT(held_out_chapter({}).blocks, ::testing::IsEmpty());
}

TEST(MetricWord, IsWhatPeopleSay) {
    EXPECT_EQ(metric_word("time_s"), "time");
    EXPECT_EQ(metric_word("peak_memory_bytes"), "peak memory");
    EXPECT_EQ(metric_word("else"), "else");
}

TEST(OutliersChapter, SaysSoWhereNothingIsSlow) {
    EXPECT_THAT(all_text(outliers_chapter(three_operations())), HasSubstr("No operation was measured beyond"));
}

TEST(OutliersChapter, RanksOverAllSettingsAndCountsReasons) {
    ReportedDataset dataset = three_operations();
    dataset.settings.resize(2);
    SlowOperation slow;
    slow.operation = parse_operation("aten::relu(self=f32[8])");
    slow.measured_s = 3;
    slow.predicted_s = 1;
    slow.reasons = {"tiny: launching"};
    dataset.settings[0].slow = {slow};
    slow.measured_s = 9;
    slow.reasons = {"tiny: launching", "strided: gaps"};
    dataset.settings[1].slow = {slow};
    const Chapter chapter = outliers_chapter(dataset);
    EXPECT_THAT(all_text(chapter), AllOf(HasSubstr("2 operations"), HasSubstr("tiny 2, strided 1")));
    const Table& table = std::get<TitledTable>(chapter.blocks.back()).table;
    EXPECT_EQ(std::get<double>(table.rows[0][0]), 8);  // 9 - 1 before 3 - 1
    EXPECT_EQ(std::get<double>(table.rows[1][0]), 2);
    EXPECT_THAT(outliers_page(dataset).summary, HasSubstr("2 operations lose 10.0 s"));
}

TEST(ThesisChapter, NamesWhatTheDataDoNotAllow) {
    const std::string text = all_text(thesis_chapter(three_operations()));
    for (const char* missing : {"Figures 3.1 to 3.3", "Tables I and II", "Figures 5.1 and 5.2", "Figures 5.5 to 5.17"})
        EXPECT_THAT(text, HasSubstr(missing));
}

TEST(ThesisChapter, DrawsTheClocksFromASweep) {
    ReportedDataset dataset = three_operations();
    dataset.network_rows = {network_at(500, 4, 3), network_at(1000, 2, 2)};
    EXPECT_THAT(all_text(thesis_chapter(dataset)), HasSubstr("Figures 5.5 to 5.17"));  // two clocks are no curve
    dataset.network_rows.push_back(network_at(1500, 1, 4));
    const auto titles = figure_titles(thesis_chapter(dataset));
    EXPECT_THAT(titles, Contains("Figure 5.5: time measured over the clock, inference on gpu"));
    EXPECT_THAT(titles, Contains("Figure 5.7: energy measured over the clock, inference on gpu"));
    EXPECT_THAT(titles, Contains("Figure 5.13: energy-delay product measured over the clock, inference on gpu"));
    EXPECT_THAT(all_text(thesis_chapter(dataset)), Not(HasSubstr("Figures 5.5 to 5.17")));
}

/// Measured at two clocks, forecast at three.
NetworkCurve curve_of(const std::string& network, Mode mode, double energy_j) {
    const auto around = [](double value) {
        return Estimate<Seconds>{Seconds(value), Seconds(0.9 * value), Seconds(1.1 * value)};
    };
    const Estimate<Joules> joules{Joules(energy_j), Joules(0.8 * energy_j), Joules(1.2 * energy_j)};
    NetworkCurve curve;
    curve.network = network;
    curve.device = "gpu";
    curve.mode = mode;
    curve.precision = "fp32";
    curve.measured = {{500, 4, energy_j}, {1500, 1, energy_j}};
    curve.forecast = {{500, around(4), joules}, {1000, around(2), joules}, {1500, around(1), joules}};
    return curve;
}

TEST(ThesisChapter, DrawsEachNetworkMeasuredAndForecastInOnePicture) {
    ReportedDataset dataset = three_operations();
    dataset.curves = {curve_of("net", Mode::inference, 3), curve_of("unmetered", Mode::training, std::nan(""))};
    dataset.curves_are = "Each network is left out.";
    const Chapter chapter = thesis_chapter(dataset);
    EXPECT_THAT(all_text(chapter), HasSubstr("Each network is left out. The band is the 90 % interval"));
    const auto titles = figure_titles(chapter);
    const std::string net = " of net, inference, fp32, host cpp, on gpu";
    EXPECT_THAT(titles, Contains("Figures 5.5 and 5.6: time" + net));
    EXPECT_THAT(titles, Contains("Figures 5.7 and 5.8: energy" + net));
    EXPECT_THAT(titles, Contains("Figures 5.13 and 5.14: energy-delay product" + net));
    EXPECT_THAT(titles, Contains("Figures 5.9 and 5.10: time of unmetered, training, fp32, host cpp, on gpu"));
    EXPECT_THAT(titles, Not(Contains(HasSubstr("energy of unmetered"))));
    EXPECT_THAT(all_text(chapter), Not(HasSubstr("Figures 5.5 to 5.17: no network")));
}

TEST(ThesisChapter, TablesHaveTheSmallerAndTheLargerHalfOfTheNetworks) {
    ReportedDataset dataset = three_operations();
    ReportedSetting& setting = dataset.settings.emplace_back();
    setting.device.id = "gpu";
    for (const double time_s : {3.0, 1.0, 2.0}) {
        SummedNetwork& network = setting.sums.emplace_back();
        network.measurement.model = "net" + std::to_string(static_cast<int>(time_s));
        network.time_s = network.energy_j = {time_s, 0.1};
        network.summed_time_s = network.summed_energy_j = {1.1 * time_s, 0.2};
        network.calls = network.measured_calls = 10;
    }
    setting.sums[0].measured_calls = 4;       // net3: less than half
    setting.sums[1].input_gradient_s = 0.11;  // of 1.1 s
    setting.sums[1].batch_statistics_s = 0.22;
    setting.sums[2].batch_statistics_s = 0.66;  // of 2.2 s
    const Chapter chapter = thesis_chapter(dataset);
    EXPECT_THAT(all_text(chapter), HasSubstr("1 networks of gpu, inference, fp32 are not in tables I and II"));
    EXPECT_THAT(all_text(chapter), HasSubstr("The first layer of 1 networks of gpu, inference, fp32 was measured only "
                                             "with the gradient of its input"));
    EXPECT_THAT(all_text(chapter), HasSubstr("10.0 % to 10.0 % of the sums of time"));
    EXPECT_THAT(all_text(chapter), HasSubstr("Batch norm of 2 networks of gpu, inference, fp32 was measured only in "
                                             "training state"));
    EXPECT_THAT(all_text(chapter), HasSubstr("Such calls are 20.0 % to 30.0 % of the sums"));
    EXPECT_THAT(figure_titles(chapter), Contains("Table I: time of the smaller networks, gpu, inference, fp32"));
    EXPECT_THAT(figure_titles(chapter), Contains("Table II: energy of the larger networks, gpu, inference, fp32"));
}

TEST(SponnerChapter, HasScoresByFamilyAndNamesTheRest) {
    const Chapter chapter = sponner_chapter(three_operations());
    EXPECT_THAT(figure_titles(chapter), Contains(HasSubstr("Figures 3 and 4")));
    EXPECT_THAT(all_text(chapter), AllOf(HasSubstr("Figures 5 and 6"), HasSubstr("Figures 7 and 8")));
}

// Three batches of a network gave three rows that looked alike, beside three columns of dashes.
TEST(NetworksChapter, TellsSizesAndHostAndLeavesOutWhatWasNotMeasured) {
    ReportedDataset dataset = three_operations();
    for (const std::int64_t batch : {1, 8}) {
        NetworkAccuracy& n = dataset.networks.emplace_back();
        n.network = "net";
        n.symbols = {{"batch", batch}};
        n.measured_time_s = 1;
        n.measured_energy_j = std::nan("");
        n.predicted_time = {Seconds(1), Seconds(0.9), Seconds(1.1)};
    }
    const Chapter chapter = networks_chapter(dataset);
    const Table& table = std::get<TitledTable>(chapter.blocks.back()).table;
    std::vector<std::string> heads;
    for (const Table::Head& head : table.heads) heads.push_back(head.key);
    EXPECT_THAT(heads, ::testing::IsSupersetOf({"symbols", "host", "measured_time_s"}));
    EXPECT_THAT(heads, ::testing::Not(::testing::Contains("measured_energy_j")));
    EXPECT_EQ(std::get<std::string>(table.rows[0][2]), "batch=1");
    EXPECT_EQ(std::get<std::string>(table.rows[1][2]), "batch=8");
}

}  // namespace
}  // namespace joulecast::testing
