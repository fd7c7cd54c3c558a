#include "joulecast/dataset/import_sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/dataset/imports.h"
#include "tests/dataset/packed.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;

// All rows here are made up.
const std::string header = "device,workload,sm_mhz,mem_mhz,power_limit_w,time_s,power_w,energy_j\n";

class ImportSweep : public testing::ImportFolder {
  protected:
    Import import(const std::string& text, const std::string& name = "folder/t.csv") {
        return import_text(&import_sweep, text, name);
    }
    std::string refusal(const std::string& text) { return rejected(&import_sweep, text, "folder/t.csv"); }
};

TEST_F(ImportSweep, ARowIsANetworkAtTheClocksThatWereAskedFor) {
    const Import counts = import(header + "a30,resnet50,900,1215,120,0.02,110,2.2\n");
    EXPECT_EQ(counts.added, 1);
    const auto rows = stored().networks();
    ASSERT_EQ(rows.size(), 1u);
    const NetworkMeasurement& m = rows[0].measurement;
    EXPECT_EQ(m.model, "resnet50");
    EXPECT_EQ(m.asked.device, "a30");
    EXPECT_EQ(m.asked.sm_clock_mhz, 900);
    EXPECT_EQ(m.asked.memory_clock_mhz, 1215);
    EXPECT_EQ(m.asked.power_limit_w, 120);
    EXPECT_TRUE(std::isnan(m.real.sm_clock_mhz));  // the table does not tell
                                                   // whether the device held it
    EXPECT_EQ(m.time.mean_s, 0.02);
    ASSERT_TRUE(m.energy);
    EXPECT_EQ(m.energy->power_w, 110);
    EXPECT_EQ(m.energy->energy_j, 2.2);
    EXPECT_FALSE(m.energy->suspect);
    EXPECT_EQ(rows[0].provenance.source, "sweep");
    EXPECT_EQ(rows[0].provenance.session, "sweep t.csv");
}

TEST_F(ImportSweep, TheActivityOfTheMemoryMayBeTold) {
    import(
        "device,workload,sm_mhz,time_s,memory_active\na30,one,900,0.5,0.62\na30,two,900,0.5,\na30,three,900,0.5,0\n");
    const auto rows = stored().networks();
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].measurement.memory_active, 0.62);
    EXPECT_TRUE(std::isnan(rows[1].measurement.memory_active));
    EXPECT_EQ(rows[2].measurement.memory_active, 0);
}

TEST_F(ImportSweep, AnActivityIsAShare) {
    EXPECT_THAT(refusal("device,workload,time_s,memory_active\na30,one,0.5,62\n"),
                HasSubstr("t.csv:2: memory_active '62' is not between 0 and 1"));
}

TEST_F(ImportSweep, OfPowerAndEnergyEachFollowsFromTheOther) {
    import(header +
           "a30,one,900,,,0.5,100,\na30,two,900,,,0.5,,100\na30,three,"
           "900,,,0.5,,\n");
    const auto rows = stored().networks();
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].measurement.energy->energy_j,
              50);                                        // 100 W for half a second
    EXPECT_EQ(rows[1].measurement.energy->power_w, 200);  // 100 J in half a second
    EXPECT_FALSE(rows[2].measurement.energy);
    EXPECT_EQ(rows[2].measurement.energy_missing_reason, "the table tells neither power nor energy");
    EXPECT_TRUE(std::isnan(rows[0].measurement.asked.memory_clock_mhz));
}

TEST_F(ImportSweep, PowerAndEnergyThatDoNotAgreeAreSuspect) {
    import(header + "a30,one,900,,,0.5,100,51.4\na30,two,900,,,0.5,100,51.6\n");  // 50 J: 2.8
                                                                                  // and 3.2 %
                                                                                  // off
    const auto rows = stored().networks();
    EXPECT_FALSE(rows.at(0).measurement.energy->suspect);
    EXPECT_TRUE(rows.at(1).measurement.energy->suspect);
}

TEST_F(ImportSweep, SettingsStandInColumnsOfTheirOwn) {
    import(
        "time_s,symbols,workload,device,mode,precision,host\n"
        "0.5,batch=8;sequence=128,bert-base,a30,training,tf32,graph\n0.5,,"
        "bert-base,a30,,,\n");
    const auto rows = stored().networks();
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].measurement.symbols, (std::map<std::string, std::int64_t>{{"batch", 8}, {"sequence", 128}}));
    EXPECT_EQ(rows[0].measurement.mode, Mode::training);
    EXPECT_EQ(rows[0].measurement.precision, "tf32");
    EXPECT_EQ(rows[0].measurement.asked.math, Math::tf32);
    EXPECT_EQ(rows[0].measurement.asked.host, Host::graph);
    EXPECT_EQ(rows[1].measurement.mode, Mode::inference);
    EXPECT_EQ(rows[1].measurement.precision, "fp32");
    EXPECT_EQ(rows[1].measurement.asked.host, Host::python);
}

TEST_F(ImportSweep, ATableThatGrewAddsWhatIsNew) {
    const std::string first = header + "a30,one,900,,,0.5,100,\n";
    EXPECT_EQ(import(first).added, 1);
    EXPECT_EQ(import(testing::gzip(first + "a30,one,1000,,,0.4,120,\n")).added, 1);
    EXPECT_EQ(import(first, "other.csv").added,
              1);  // somebody else's measurement of the same
    EXPECT_EQ(stored().networks().size(), 3u);
}

TEST_F(ImportSweep, ADeviceIsOfTheDataSheetsOrOfTheDatabase) {
    const std::string row = "device,workload,time_s\ncpu-test,one,0.5\n";
    EXPECT_THAT(refusal(row), HasSubstr("folder/t.csv:2: device 'cpu-test' has no data sheet"));
    stored().insert(testing::sample_device("cpu-test"));
    EXPECT_EQ(import(row).added, 1);
    EXPECT_EQ(stored().networks().at(0).measurement.asked.device, "cpu-test");
    EXPECT_EQ(stored().devices().at(0).source, "made up");
}

TEST_F(ImportSweep, WrongRowsAreNamedAndNothingIsStored) {
    const std::string good = header + "a30,one,900,,,0.5,100,\n";
    const auto second = [&](const std::string& row) { return refusal(good + row + "\n"); };
    EXPECT_THAT(second("a30,one,900,,,,100,"), HasSubstr("folder/t.csv:3: time_s is empty"));
    EXPECT_THAT(second("a30,one,900,,,nan,100,"), HasSubstr("time_s 'nan' is no finite number"));
    EXPECT_THAT(second("a30,one,-900,,,1,100,"), HasSubstr("sm_mhz '-900' is not above zero"));
    EXPECT_THAT(second("a30,one,900,,,1,-1,"), HasSubstr("power_w '-1' is not above zero"));
    EXPECT_THAT(second("a30,,900,,,1,1,"), HasSubstr("workload is empty"));
    EXPECT_THAT(second(",one,900,,,1,1,"), HasSubstr("device is empty"));
    EXPECT_THAT(second("a30,one,900,,,1,1"), HasSubstr("has 7 fields, the header 8"));
    EXPECT_THAT(refusal("device,workload\na30,one\n"), HasSubstr("lacks the column time_s"));
    EXPECT_THAT(refusal("device,workload,time_s,mode\na30,one,1,both\n"), HasSubstr("mode 'both' is no known word"));
    EXPECT_THAT(refusal("device,workload,time_s,symbols\na30,one,1,batch\n"), HasSubstr("symbols 'batch'"));
    EXPECT_TRUE(stored().networks().empty());
}

}  // namespace
}  // namespace joulecast
