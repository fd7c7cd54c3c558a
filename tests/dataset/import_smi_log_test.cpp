#include "joulecast/dataset/import_smi_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/dataset/imports.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// All logs here are made up.
const std::string header =
    "timestamp, utilization.gpu [%], power.draw [W], "
    "memory.used [MiB], memory.total [MiB]\n";

std::string line(const std::string& seconds, const std::string& share, const std::string& watts) {
    return "2024/02/29 12:34:" + seconds + ", " + share + " %, " + watts + " W, 2048 MiB, 24576 MiB\n";
}

class ImportSmiLog : public testing::ImportFolder {
  protected:
    void SetUp() override {
        ImportFolder::SetUp();
        run.device = "a30";
        run.model = "resnet50";
        run.symbols = {{"batch", 8}};
        run.calls = 10;
    }
    testing::Importer importer() const {
        return [this](Dataset& into, std::istream& input, const std::string& name) {
            return import_smi_log(into, input, name, run);
        };
    }
    Import import(const std::string& text) { return import_text(importer(), text, "power.csv"); }
    std::string refusal(const std::string& text) { return rejected(importer(), text, "power.csv"); }

    LoggedRun run;
};

TEST_F(ImportSmiLog, WithoutAHeaderTheColumnsAreTheThesisAndItSaysSo) {
    const Import counts =
        import(line("10.500", "50", "100") + line("11.000", "90", "120") + line("11.500", "99", "110"));
    ASSERT_EQ(stored().networks().size(), 1u);
    EXPECT_DOUBLE_EQ(stored().networks()[0].measurement.energy->power_w, 110);  // the mean
    EXPECT_THAT(counts.notes, ElementsAre(HasSubstr("no line names columns")));
}

TEST_F(ImportSmiLog, TheRunLastsFromTheFirstLineWithLoadToTheLast) {
    const Import counts = import(header + line("10.000", "0", "30") + line("10.500", "50", "100") +
                                 line("11.000", "0", "120") + line("11.500", "99", "110") + line("12.000", "0", "60"));
    const auto rows = stored().networks();
    ASSERT_EQ(rows.size(), 1u);
    const NetworkMeasurement& m = rows[0].measurement;
    EXPECT_EQ(m.model, "resnet50");
    EXPECT_EQ(m.asked.device, "a30");
    // From 10.5 to 11.5 s, 10 calls, at (100 + 120 + 110) / 3 = 110 W.
    EXPECT_NEAR(m.time.mean_s, 0.1, 1e-9);
    ASSERT_TRUE(m.energy);
    EXPECT_DOUBLE_EQ(m.energy->power_w, 110);
    EXPECT_NEAR(m.energy->energy_j, 11, 1e-6);
    EXPECT_NEAR(m.energy->window_s, 1, 1e-6);
    EXPECT_EQ(m.energy->calls, 10);
    EXPECT_EQ(m.energy->ticks, 3);
    EXPECT_EQ(m.energy->gain_error, 0.05);
    // (3.5), (3.9): sigma of 100, 120, 110 is 10 W, for 1 s and 10 calls 1 J; the
    // 95 % interval reaches 1.96 of it.
    EXPECT_NEAR(m.energy->half_width_j, 1.96, 0.01);
    // Both ends uniform within the period of 0.5 s: sigma 0.5 / sqrt(6) = 0.2041
    // s in ten calls.
    EXPECT_NEAR(m.time.half_width_s, 1.96 * 0.02041, 1e-4);
    EXPECT_TRUE(std::isnan(m.energy->dynamic_energy_j));
    EXPECT_EQ(rows[0].provenance.method, "thesis");
    EXPECT_EQ(rows[0].provenance.session, "smi-log 2024-02-29T12:34:10.500");
    EXPECT_EQ(counts.rows, 5);
    EXPECT_EQ(counts.used, 3);
    EXPECT_THAT(counts.dropped, ElementsAre(Pair("line before or after the load (utilisation 0)", 2)));
}

TEST_F(ImportSmiLog, WithoutUtilisationTheWholeLogIsTheRun) {
    import(
        "timestamp, power.draw [W]\n2024/02/29 12:34:10.000, 100 "
        "W\n2024/02/29 12:34:14.000, 200 W\n");
    const NetworkMeasurement m = stored().networks().at(0).measurement;
    EXPECT_NEAR(m.time.mean_s, 0.4, 1e-9);
    EXPECT_NEAR(m.energy->energy_j, 60, 1e-6);  // 150 W x 4 s / 10
}

TEST_F(ImportSmiLog, ALineThreeSigmasOffDoesNotCount) {
    std::string text = header;
    for (int i = 10; i < 40; ++i) text += line(std::to_string(i) + ".000", "90", i == 20 ? "900" : "100");
    const Import counts = import(text);
    EXPECT_DOUBLE_EQ(stored().networks().at(0).measurement.energy->power_w, 100);
    EXPECT_THAT(counts.dropped, ElementsAre(Pair("line more than three standard deviations from the mean", 1)));
    EXPECT_EQ(counts.rows, 30);
    EXPECT_EQ(counts.used, 29);
}

TEST_F(ImportSmiLog, OfSeveralGpusOneIsNamed) {
    const std::string text =
        "timestamp, index, power.draw [W]\n2024/02/29 12:34:10.000, 0, 30 "
        "W\n2024/02/29 12:34:10.000, 1, 100 W\n"
        "2024/02/29 12:34:12.000, 0, 30 W\n2024/02/29 12:34:12.000, 1, 100 W\n";
    EXPECT_THAT(refusal(text), HasSubstr("has lines of 2 GPUs: say which one ran with --gpu INDEX"));
    run.gpu = 1;
    const Import counts = import(text);
    EXPECT_DOUBLE_EQ(stored().networks().at(0).measurement.energy->power_w, 100);
    EXPECT_THAT(counts.dropped, ElementsAre(Pair("line of another GPU", 2)));
}

TEST_F(ImportSmiLog, TheSameLogTwiceIsOneMeasurement) {
    const std::string text = header + line("10.000", "90", "100") + line("11.000", "90", "100");
    EXPECT_EQ(import(text).added, 1);
    EXPECT_EQ(import(text).added, 0);
    run.model = "vgg11";
    EXPECT_EQ(import(text).added, 1);
}

TEST_F(ImportSmiLog, LinesWithoutNumbersAreCounted) {
    const Import counts = import(header + line("10.000", "90", "100") + "2024/02/29 12:3\n" +
                                 "2024/02/29 12:34:11.000, 90 %, [N/A], 5 MiB, 6 MiB\n" + line("12.000", "90", "100"));
    EXPECT_THAT(counts.dropped,
                ElementsAre(Pair("line that is cut off or no sample", 1), Pair("line without time or power", 1)));
    EXPECT_EQ(counts.rows, 4);
}

TEST_F(ImportSmiLog, ALogThatShowsNoRunIsRefused) {
    EXPECT_THAT(refusal(header + line("10.000", "90", "100")), HasSubstr("shows no run"));
    EXPECT_THAT(refusal(header + line("10.000", "90", "100") + line("10.000", "90", "100")), HasSubstr("shows no run"));
    EXPECT_THAT(refusal(header + line("11.000", "90", "100") + line("10.000", "90", "100")), HasSubstr("go back"));
    EXPECT_THAT(refusal("nothing of the kind\n"), HasSubstr("cannot read power.csv as a log of nvidia-smi"));
    run.device = "none";
    EXPECT_THAT(refusal(header + line("10.000", "90", "100") + line("11.000", "90", "100")),
                HasSubstr("device 'none' has no data sheet"));
    run.device = "a30";
    run.calls = 0;
    EXPECT_THAT(refusal(header + line("10.000", "90", "100") + line("11.000", "90", "100")),
                HasSubstr("one call or more"));
    EXPECT_TRUE(stored().networks().empty());
}

}  // namespace
}  // namespace joulecast
