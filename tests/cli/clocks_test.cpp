#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"
#include "tests/fake_nvml/fake_nvml.h"

namespace joulecast {
namespace {

using testing::FakeNvml;
using ::testing::HasSubstr;
using testing::run_joulecast;
using testing::TemporaryFolder;

/// The program meets a fake A30 and keeps its state files in a folder of the test.
class Clocks : public ::testing::Test {
  protected:
    Clocks() {
        ::setenv("JOULECAST_CLOCK_STATE", folder.path().c_str(), 1);
        ::setenv("JOULECAST_CLOCKD_SOCKET", folder.file("socket").c_str(), 1);
    }
    static nlohmann::json show(const std::string& more = "") {
        return nlohmann::json::parse(run_joulecast("clocks show --format json " + more).out);
    }

    const TemporaryFolder folder;
    FakeNvml fake;
};

TEST_F(Clocks, ShowTellsWhatACardDoesAndCanDo) {
    fake.gpu().load = 1;
    fake.gpu().power_limit_mw = 100000;
    const auto json = show();
    EXPECT_EQ(json.at("schema"), "joulecast.clocks/1");
    EXPECT_EQ(json.at("driver"), "550.54.15");
    const auto& card = json.at("devices").at(0);
    EXPECT_EQ(card.at("name"), "NVIDIA A30");
    EXPECT_EQ(card.at("sm_clock_mhz"), 1170);  // where 100 W hold it, see NvmlTest
    EXPECT_EQ(card.at("lowest_sm_clock_mhz"), 210);
    EXPECT_EQ(card.at("highest_sm_clock_mhz"), 1440);
    EXPECT_EQ(card.at("sm_clocks"), 83);
    EXPECT_EQ(card.at("power_limit_w"), 100);
    EXPECT_EQ(card.at("default_power_limit_w"), 165);
    EXPECT_EQ(card.at("throttle_reasons"), "power cap");
    EXPECT_EQ(card.at("held"), "no");
    EXPECT_EQ(card.at("supported").at(0).at("memory_clock_mhz"), 1215);
    EXPECT_EQ(card.at("supported").at(0).at("sm_clocks_mhz").size(), 83U);
}

TEST_F(Clocks, ShowIsATableAndCsvToo) {
    EXPECT_THAT(run_joulecast("clocks show").out, HasSubstr("NVIDIA A30"));
    EXPECT_THAT(run_joulecast("clocks show --format csv").out, HasSubstr("index,name,sm_clock_mhz"));
}

TEST_F(Clocks, WhatACardDoesNotTellIsNull) {
    fake.gpu().missing = testing::missing_clocks | testing::missing_supported_clocks | testing::missing_power_limits;
    const auto card = show().at("devices").at(0);
    for (const char* key : {"sm_clock_mhz", "lowest_sm_clock_mhz", "power_limit_w", "default_power_limit_w"}) {
        EXPECT_TRUE(card.at(key).is_null()) << key;
    }
    EXPECT_EQ(card.at("supported").size(), 0U);
}

TEST_F(Clocks, ResetFreesClocksAndLimits) {
    fake.gpu().locked_graphics_mhz = 900;
    fake.gpu().power_limit_mw = 120000;
    const auto ran = run_joulecast("clocks reset");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(fake.gpu().locked_graphics_mhz, 0U);
    EXPECT_EQ(fake.gpu().power_limit_mw, 165000U);
    EXPECT_THAT(ran.out, HasSubstr("1440"));
}

TEST_F(Clocks, WhatADeadGuardLeftIsShownAndResetUndoesIt) {
    fake.gpu().locked_graphics_mhz = 900;
    const std::string file = folder.file(std::string(fake.gpu().uuid) + ".clocks");
    testing::write_file(file, "joulecast-clocks 1\ngraphics locked\n");
    EXPECT_EQ(show().at("devices").at(0).at("held"), "left behind");
    EXPECT_EQ(run_joulecast("clocks reset").status, 0);
    EXPECT_EQ(fake.gpu().locked_graphics_mhz, 0U);
    EXPECT_EQ(show().at("devices").at(0).at("held"), "no");
}

TEST_F(Clocks, WithoutTheRightResetFailsAndSaysWhatToDo) {
    fake.gpu().may_change = false;
    fake.gpu().locked_graphics_mhz = 900;
    const auto ran = run_joulecast("clocks reset");
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("GPU 0 (NVIDIA A30): no permission. Run as root"));
}

TEST_F(Clocks, OneCardCanBeChosen) {
    fake.add_gpu();
    fake.gpu(0).locked_graphics_mhz = fake.gpu(1).locked_graphics_mhz = 900;
    EXPECT_EQ(show("--device cuda:1").at("devices").at(0).at("index"), 1);
    EXPECT_EQ(run_joulecast("clocks reset --device 0000:66:00.0").status, 0);
    EXPECT_EQ(fake.gpu(0).locked_graphics_mhz, 900U);
    EXPECT_EQ(fake.gpu(1).locked_graphics_mhz, 0U);
    const auto unknown = run_joulecast("clocks show --device 7");
    EXPECT_EQ(unknown.status, 2);
    EXPECT_THAT(unknown.err, HasSubstr("no GPU is called '7'. Known: GPU 0 (NVIDIA A30), GPU 1 (NVIDIA A30)"));
}

TEST_F(Clocks, AMachineWithoutADriverSaysSoAndFails) {
    ::setenv("JOULECAST_NVML", "/nowhere/libnvidia-ml.so.1", 1);
    for (const char* action : {"show", "reset"}) {
        const auto ran = run_joulecast(std::string("clocks ") + action);
        EXPECT_EQ(ran.status, 1);
        EXPECT_THAT(ran.err, HasSubstr("no NVIDIA driver on this machine"));
    }
}

TEST_F(Clocks, AnotherActionIsWrongUsage) {
    EXPECT_EQ(run_joulecast("clocks").status, 2);
    EXPECT_EQ(run_joulecast("clocks lock").status, 2);
}

TEST_F(Clocks, DoctorTellsDriverAndClocks) {
    const auto report = nlohmann::json::parse(run_joulecast("doctor --worker true --format json").out);
    nlohmann::json driver;
    for (const auto& entry : report.at("findings")) {
        if (entry.at("part") == "GPU driver") driver = entry;
    }
    EXPECT_EQ(driver.at("state"), "works");
    EXPECT_EQ(driver.at("found"), "NVIDIA 550.54.15, GPU 0 (NVIDIA A30)");
}

}  // namespace
}  // namespace joulecast
