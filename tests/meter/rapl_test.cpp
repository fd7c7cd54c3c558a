#include "joulecast/meter/rapl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/meter/folder.h"

namespace joulecast {
namespace {

using testing::Folder;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t range_uj = 262'143'328'850;  // of a Xeon; 2^32 - 1 units of 61 uJ

struct Machine {
    Folder root;
    double now_s = 0.0;

    void put(const std::string& zone, const std::string& name, std::uint64_t energy_uj) const {
        const std::string folder = "sys/class/powercap/" + zone + "/";
        root.put(folder + "name", name + "\n");
        root.put(folder + "max_energy_range_uj", std::to_string(range_uj) + "\n");
        count(zone, energy_uj);
    }
    void count(const std::string& zone, std::uint64_t energy_uj) const {
        root.put("sys/class/powercap/" + zone + "/energy_uj", std::to_string(energy_uj) + "\n");
    }
    FoundMeter open() {
        return open_rapl(root.path(), [this] { return now_s; });
    }
};

TEST(Rapl, AddsPackagesAndMemoryAndNothingTwice) {
    Machine machine;
    machine.put("intel-rapl:0", "package-0", 1'000'000);
    machine.put("intel-rapl:0:0", "core", 500'000);
    machine.put("intel-rapl:0:1", "dram", 200'000);
    machine.put("intel-rapl:0:2", "uncore", 90'000);
    machine.put("intel-rapl:1", "package-1", 3'000'000);
    machine.put("intel-rapl:1:0", "dram", 300'000);
    machine.put("intel-rapl:2", "psys", 70'000'000);
    machine.put("intel-rapl-mmio:0", "package-0", 1'000'000);  // the first package again
    const FoundMeter found = machine.open();
    ASSERT_NE(found.meter, nullptr) << found.missing_reason;
    EXPECT_EQ(found.meter->facts().name, "rapl:package-0+package-1+package-0/dram+package-1/dram");
    EXPECT_EQ(found.meter->facts().covers, "CPU packages and memory");
    EXPECT_TRUE(found.meter->facts().counts_energy);
    EXPECT_DOUBLE_EQ(found.meter->read().energy_j, 1.0 + 3.0 + 0.2 + 0.3);
}

TEST(Rapl, AnAmdProcessorCountsItsPackageWithoutMemory) {
    Machine machine;
    machine.put("intel-rapl:0", "package-0", 5'000'000);
    machine.put("intel-rapl:0:0", "core", 4'000'000);
    const FoundMeter found = machine.open();
    ASSERT_NE(found.meter, nullptr);
    EXPECT_EQ(found.meter->facts().name, "rapl:package-0");
    EXPECT_EQ(found.meter->facts().covers, "CPU packages, without memory");
    EXPECT_DOUBLE_EQ(found.meter->read().energy_j, 5.0);
}

TEST(Rapl, DiesOfOnePackageAreAddedUp) {
    Machine machine;
    machine.put("intel-rapl:0", "package-0-die-0", 1'000'000);
    machine.put("intel-rapl:1", "package-0-die-1", 2'000'000);
    EXPECT_DOUBLE_EQ(machine.open().meter->read().energy_j, 3.0);
}

TEST(Rapl, CountersThatWrapAtDifferentTimesGoOnCounting) {
    Machine machine;
    machine.put("intel-rapl:0", "package-0", range_uj - 1'000'000);
    machine.put("intel-rapl:1", "package-1", range_uj - 5'000'000);
    const auto meter = machine.open().meter;
    const double start_j = meter->read().energy_j;
    machine.now_s = 0.1;
    machine.count("intel-rapl:0", 2'000'000);             // 3 J on, over the end
    machine.count("intel-rapl:1", range_uj - 1'000'000);  // 4 J on
    EXPECT_NEAR(meter->read().energy_j - start_j, 7.0, 1e-9 * start_j);
    machine.now_s = 0.2;
    machine.count("intel-rapl:0", 4'000'000);  // 2 J on
    machine.count("intel-rapl:1", 1'500'000);  // 2.5 J on, over the end
    EXPECT_NEAR(meter->read().energy_j - start_j, 11.5, 1e-9 * start_j);
    // Once more round for one of them: 262 kJ, which 1000 s of 262 W make.
    machine.now_s = 1000.0;
    machine.count("intel-rapl:0", 3'000'000);
    EXPECT_NEAR(meter->read().energy_j - start_j, 10.5 + static_cast<double>(range_uj) * 1e-6, 1e-3);
}

TEST(Rapl, ACounterThatWasSetBackIsNoWrap) {
    Machine machine;
    machine.put("intel-rapl:0", "package-0", 90'000'000'000);
    const auto meter = machine.open().meter;
    meter->read();
    machine.now_s = 1.0;
    machine.count("intel-rapl:0", 5);  // as a wrap: 172 kJ in a second
    EXPECT_THROW(meter->read(), MeterLost);
}

TEST(Rapl, ReadsTimeInTheMiddleOfTheCall) {
    Machine machine;
    machine.put("intel-rapl:0", "package-0", 1);
    double now_s = 10.0;
    const auto meter = open_rapl(machine.root.path(), [&] { return now_s += 0.5; }).meter;
    EXPECT_DOUBLE_EQ(meter->read().time_s, 11.25);  // opened at 10.5, called at 11.0, done at 11.5
}

TEST(Rapl, UnreadableCountersNameTheCommandForExactlyThem) {
    // Root may read every file; an empty counter reads like a forbidden one.
    Machine machine;
    machine.put("intel-rapl:0", "package-0", 1);
    machine.put("intel-rapl:0:0", "dram", 1);
    machine.put("intel-rapl:0:1", "core", 1);
    for (const char* zone : {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:0:1"}) {
        machine.root.put("sys/class/powercap/" + std::string(zone) + "/energy_uj", "");
    }
    const FoundMeter found = machine.open();
    EXPECT_EQ(found.meter, nullptr);
    const std::string powercap = (machine.root.path() / "sys/class/powercap/").string();
    EXPECT_EQ(found.remedy,
              "sudo chmod a+r " + powercap + "intel-rapl:0/energy_uj " + powercap + "intel-rapl:0:0/energy_uj");
    EXPECT_THAT(found.missing_reason, HasSubstr("Until the next boot allows it: " + found.remedy));
}

TEST(Rapl, MemoryThatMayNotBeReadIsLeftOutAndNamed) {
    Machine machine;
    machine.put("intel-rapl:0", "package-0", 2'000'000);
    machine.put("intel-rapl:0:0", "dram", 1);
    machine.root.put("sys/class/powercap/intel-rapl:0:0/energy_uj", "");
    const FoundMeter found = machine.open();
    ASSERT_NE(found.meter, nullptr);
    EXPECT_EQ(found.meter->facts().name, "rapl:package-0");
    EXPECT_THAT(found.meter->facts().covers, HasSubstr("without memory, whose counter may not be read: sudo chmod"));
}

TEST(Rapl, PsysServesWhereThereIsNoPackage) {
    Machine machine;
    machine.put("intel-rapl:0", "psys", 2'000'000);
    const FoundMeter found = machine.open();
    ASSERT_NE(found.meter, nullptr);
    EXPECT_EQ(found.meter->facts().covers, "the whole platform (psys)");
}

TEST(Rapl, AMachineWithoutCountersSaysWhy) {
    Machine machine;
    EXPECT_THAT(machine.open().missing_reason, HasSubstr("a virtual machine"));
    machine.put("intel-rapl:0", "package-0", 0);
    EXPECT_THAT(machine.open().missing_reason, HasSubstr("stay at zero"));
}

TEST(Rapl, ACounterThatVanishesIsALostMeter) {
    Machine machine;
    machine.put("intel-rapl:0", "package-0", 1);
    const auto meter = machine.open().meter;
    machine.root.put("sys/class/powercap/intel-rapl:0/energy_uj", "garbage");
    EXPECT_THROW(meter->read(), MeterLost);
}

}  // namespace
}  // namespace joulecast
