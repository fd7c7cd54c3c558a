#include "joulecast/meter/hwmon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/meter/folder.h"

namespace joulecast {
namespace {

using ::testing::AllOf;
using testing::Folder;
using ::testing::HasSubstr;

struct Machine {
    Folder root;

    void put(int chip, const std::string& file, const std::string& text) const {
        root.put("sys/class/hwmon/hwmon" + std::to_string(chip) + "/" + file, text + "\n");
    }
    void put_rail(int chip, int channel, const std::string& label, int millivolts, int milliamperes) const {
        const std::string number = std::to_string(channel);
        put(chip, "name", "ina3221");
        put(chip, "in" + number + "_label", label);
        put(chip, "in" + number + "_input", std::to_string(millivolts));
        put(chip, "curr" + number + "_input", std::to_string(milliamperes));
    }
    FoundMeter open(const std::string& chip = "") const {
        return open_hwmon(root.path(), chip, [] { return 1.0; });
    }
};

TEST(Hwmon, TakesTheInputOfTheBoardAndNotItsPartsAgain) {
    // Jetson Orin NX.
    const Machine machine;
    machine.put_rail(0, 1, "VDD_IN", 5000, 1200);
    machine.put_rail(0, 2, "VDD_CPU_GPU_CV", 4992, 400);
    machine.put_rail(0, 3, "VDD_SOC", 4992, 300);
    machine.put(0, "in7_label", "sum of shunt voltages");
    machine.put(0, "in7_input", "77");
    machine.put(0, "curr4_input", "1900");
    const auto found = machine.open();
    ASSERT_NE(found.meter, nullptr) << found.missing_reason;
    EXPECT_EQ(found.meter->facts().name, "hwmon:ina3221:VDD_IN");
    EXPECT_EQ(found.meter->facts().covers, "the whole board (VDD_IN)");
    EXPECT_FALSE(found.meter->facts().counts_energy);
    EXPECT_DOUBLE_EQ(found.meter->facts().gain_error, 0.015);
    EXPECT_DOUBLE_EQ(found.meter->read().power_w, 6.0);  // 5 V x 1.2 A
    EXPECT_EQ(found.meter->read().time_s, 1.0);
    EXPECT_TRUE(std::isnan(found.meter->read().energy_j));
}

TEST(Hwmon, AddsTheRailsOfABoardWithoutAnInputSensor) {
    // Jetson AGX Orin: its memory's rail hangs on VIN_SYS_5V0, two channels are not connected.
    const Machine machine;
    machine.put_rail(3, 1, "VDD_GPU_SOC", 20000, 100);
    machine.put_rail(3, 2, "VDD_CPU_CV", 20000, 50);
    machine.put_rail(3, 3, "VIN_SYS_5V0", 5000, 600);
    machine.put(3, "in4_input", "2000");  // a shunt's voltage, and the sum of all currents: no fourth rail
    machine.put(3, "curr4_input", "750");
    machine.put_rail(4, 1, "NC", 5000, 9);
    machine.put_rail(4, 2, "VDDQ_VDD2_1V8AO", 5000, 100);
    machine.put_rail(4, 3, "NC", 5000, 9);
    const auto found = machine.open();
    ASSERT_NE(found.meter, nullptr) << found.missing_reason;
    EXPECT_EQ(found.meter->facts().name, "hwmon:ina3221:VDD_GPU_SOC+VDD_CPU_CV+VIN_SYS_5V0");
    EXPECT_THAT(found.meter->facts().covers, HasSubstr("rails VDD_GPU_SOC+VDD_CPU_CV+VIN_SYS_5V0"));
    EXPECT_DOUBLE_EQ(found.meter->read().power_w, 2.0 + 1.0 + 3.0);
}

TEST(Hwmon, ReadsTheOldLayoutOfJetsonBoards) {
    // Jetson Xavier NX with L4T 32.
    const Machine machine;
    const std::string device = "sys/bus/i2c/drivers/ina3221x/7-0040/iio:device0/";
    machine.root.put(device + "rail_name_0", "VDD_IN\n");
    machine.root.put(device + "in_voltage0_input", "5072\n");
    machine.root.put(device + "in_current0_input", "500\n");
    machine.root.put(device + "in_power0_input", "2536\n");
    machine.root.put(device + "rail_name_1", "VDD_CPU_GPU_CV\n");
    machine.root.put(device + "in_power1_input", "700\n");
    const auto found = machine.open();
    ASSERT_NE(found.meter, nullptr) << found.missing_reason;
    EXPECT_DOUBLE_EQ(found.meter->read().power_w, 2.536);
    const auto sensors = hwmon_sensors(machine.root.path());
    ASSERT_EQ(sensors.size(), 2u);
    EXPECT_EQ(sensors[1].label, "VDD_CPU_GPU_CV");
    EXPECT_EQ(sensors[1].kind, HwmonSensor::Kind::milliwatts);
    EXPECT_DOUBLE_EQ(machine.open("VDD_CPU_GPU_CV").meter->read().power_w, 0.7);
}

TEST(Hwmon, AGraphicsCardIsTakenOnlyWhenItIsNamed) {
    const Machine machine;
    for (const int chip : {1, 2}) {
        machine.put(chip, "name", "amdgpu");
        machine.put(chip, "power1_label", "PPT");
        machine.put(chip, "power1_average", chip == 1 ? "180000000" : "90000000");
    }
    const auto unnamed = machine.open();
    EXPECT_EQ(unnamed.meter, nullptr);
    EXPECT_THAT(unnamed.missing_reason, AllOf(HasSubstr("(amdgpu)"), HasSubstr("--meter hwmon:amdgpu")));
    const auto first = machine.open("amdgpu");
    EXPECT_EQ(first.meter->facts().covers, "the whole card");
    EXPECT_DOUBLE_EQ(first.meter->read().power_w, 180.0);
    EXPECT_DOUBLE_EQ(machine.open("amdgpu#1").meter->read().power_w, 90.0);
    EXPECT_THAT(machine.open("amdgpu#2").missing_reason, HasSubstr("There are: amdgpu"));
}

TEST(Hwmon, EnergyGoesBeforePowerAndAddsSocketsOnly) {
    const Machine machine;
    machine.put(0, "name", "amd_energy");
    machine.put(0, "power1_input", "1");
    machine.put(0, "energy1_label", "Ecore000");
    machine.put(0, "energy1_input", "700000");
    machine.put(0, "energy2_label", "Esocket0");
    machine.put(0, "energy2_input", "5000000");
    machine.put(0, "energy3_label", "Esocket1");
    machine.put(0, "energy3_input", "6000000");
    const auto found = machine.open();
    ASSERT_NE(found.meter, nullptr) << found.missing_reason;
    EXPECT_TRUE(found.meter->facts().counts_energy);
    EXPECT_DOUBLE_EQ(found.meter->read().energy_j, 11.0);
    machine.put(0, "energy2_input", "10");
    EXPECT_THROW(found.meter->read(), MeterLost);
}

TEST(Hwmon, AServersMeterTellsItsPeriod) {
    const Machine machine;
    machine.put(0, "name", "power_meter");
    machine.put(0, "power1_average", "250000000");
    machine.put(0, "power1_average_interval", "1000");
    const auto found = machine.open();
    ASSERT_NE(found.meter, nullptr) << found.missing_reason;
    EXPECT_EQ(found.meter->facts().covers, "the whole machine (ACPI power meter)");
    EXPECT_DOUBLE_EQ(found.meter->facts().period_s, 1.0);
    EXPECT_TRUE(std::isnan(found.meter->facts().gain_error));
}

TEST(Hwmon, ASensorThatDoesNotAnswerIsNoSensor) {
    const Machine machine;
    EXPECT_THAT(machine.open().missing_reason, HasSubstr("no power sensor below"));
    machine.put_rail(0, 1, "VDD_IN", 5000, 1200);
    machine.put(0, "in1_input", "");  // a channel that is switched off
    EXPECT_THAT(machine.open().missing_reason, HasSubstr("no power sensor below"));
}

TEST(Hwmon, ASensorThatVanishesIsALostMeter) {
    const Machine machine;
    machine.put_rail(0, 1, "VDD_IN", 5000, 1200);
    const auto meter = machine.open().meter;
    machine.put(0, "curr1_input", "");
    EXPECT_THROW(meter->read(), MeterLost);
}

}  // namespace
}  // namespace joulecast
