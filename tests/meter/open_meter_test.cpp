#include "joulecast/meter/open_meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulecast/error.h"
#include "tests/fake_nvml/fake_nvml.h"
#include "tests/meter/folder.h"

namespace joulecast {
namespace {

using ::testing::AllOf;
using testing::FakeNvml;
using testing::Folder;
using ::testing::HasSubstr;

/// A machine of which nothing is known, with no driver and no programs.
struct Machine {
    Folder root;
    MeterRequest request(const std::string& name, bool for_gpu = false) const {
        MeterRequest request;
        request.name = name;
        request.for_gpu = for_gpu;
        request.root = root.path();
        request.nvml_library = (root.path() / "no-such-library.so").string();
        request.nvidia_smi = (root.path() / "nvidia-smi").string();
        return request;
    }
    void put_rapl() const {
        root.put("sys/class/powercap/intel-rapl:0/name", "package-0\n");
        root.put("sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n");
        root.put("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n");
    }
};

TEST(OpenMeter, AutoTakesTheProcessorsOwnCounter) {
    const Machine machine;
    machine.put_rapl();
    const FoundMeter found = open_meter(machine.request("auto"));
    ASSERT_NE(found.meter, nullptr) << found.missing_reason;
    EXPECT_EQ(found.meter->facts().name, "rapl:package-0");
}

TEST(OpenMeter, AutoForAGpuTakesNvml) {
    FakeNvml fake;
    const Machine machine;
    machine.put_rapl();
    auto request = machine.request("auto", true);
    request.nvml_library = fake.library();
    const FoundMeter found = open_meter(request);
    ASSERT_NE(found.meter, nullptr) << found.missing_reason;
    EXPECT_EQ(found.meter->facts().name, "nvml-counter");
}

TEST(OpenMeter, AutoThatFindsNothingListsWhatWasTriedAndWhatWouldHelp) {
    const Machine machine;
    machine.put_rapl();
    const auto energy = machine.root.put("sys/class/powercap/intel-rapl:0/energy_uj", "");
    const FoundMeter cpu = open_meter(machine.request("auto"));
    EXPECT_EQ(cpu.meter, nullptr);
    EXPECT_EQ(cpu.remedy, "sudo chmod a+r " + energy.string());
    EXPECT_THAT(cpu.missing_reason, AllOf(HasSubstr("rapl: "), HasSubstr(cpu.remedy)));
    const FoundMeter gpu = open_meter(machine.request("auto", true));
    EXPECT_EQ(gpu.meter, nullptr);
    EXPECT_THAT(gpu.missing_reason, AllOf(HasSubstr("nvml: "), HasSubstr("no-such-library.so"),
                                          HasSubstr("nvidia-smi: "), HasSubstr("is not installed")));
}

TEST(OpenMeter, ANumberChoosesAmongGpus) {
    FakeNvml fake;
    const Machine machine;
    auto request = machine.request("nvml:1");
    request.nvml_library = fake.library();
    EXPECT_THAT(open_meter(request).missing_reason, HasSubstr("no GPU 1"));
    fake.add_gpu();
    EXPECT_NE(open_meter(request).meter, nullptr);
}

TEST(OpenMeter, AReplayBeginsAgainAtItsEnd) {
    const Machine machine;
    double now_s = 0.0;
    auto request = machine.request("replay:" + machine.root.put("t.csv", "time_s,energy_j\n0,0\n1,10\n").string());
    request.now_s = [&] { return now_s; };
    const FoundMeter found = open_meter(request);
    ASSERT_NE(found.meter, nullptr) << found.missing_reason;
    now_s = 2.5;
    EXPECT_DOUBLE_EQ(found.meter->read().energy_j, 25.0);
}

TEST(OpenMeter, AutoGoesOnToTheSensorsOfABoardButTakesNoCardThatWasNotNamed) {
    const Machine machine;
    machine.root.put("sys/class/hwmon/hwmon0/name", "power_meter\n");
    machine.root.put("sys/class/hwmon/hwmon0/power1_average", "250000000\n");
    machine.root.put("sys/class/hwmon/hwmon1/name", "amdgpu\n");
    machine.root.put("sys/class/hwmon/hwmon1/power1_average", "180000000\n");
    const auto cpu = open_meter(machine.request("auto"));
    ASSERT_NE(cpu.meter, nullptr) << cpu.missing_reason;
    EXPECT_DOUBLE_EQ(cpu.meter->read().power_w, 250.0);
    const auto gpu = open_meter(machine.request("auto", true));
    EXPECT_EQ(gpu.meter, nullptr);
    EXPECT_DOUBLE_EQ(open_meter(machine.request("hwmon:amdgpu")).meter->read().power_w, 180.0);
}

TEST(OpenMeter, AutoForAGpuGoesOnToNvidiaSmi) {
    const Machine machine;
    machine.root.put_script("nvidia-smi",
                            "echo 'timestamp, power.draw [W]'; echo '2024/02/29 12:34:56.789, 61.5'; read wait\n");
    const auto found = open_meter(machine.request("auto", true));
    ASSERT_NE(found.meter, nullptr) << found.missing_reason;
    EXPECT_DOUBLE_EQ(found.meter->read().power_w, 61.5);
}

TEST(OpenMeter, ACardsCounterIsHeldAgainstItsOwnPower) {
    // A second look by the same name would be the counter again, which tells no watts.
    FakeNvml fake;
    fake.add_gpu().load = 1;
    const Machine machine;
    for (const char* name : {"auto", "nvml", "nvml:1"}) {
        auto request = machine.request(name, true);
        request.nvml_library = fake.library();
        const auto counter = open_meter(request);
        ASSERT_NE(counter.meter, nullptr) << counter.missing_reason;
        const auto power = open_power_beside(request, counter.meter->facts());
        ASSERT_NE(power.meter, nullptr) << power.missing_reason;
        EXPECT_FALSE(power.meter->facts().counts_energy);
        EXPECT_GT(power.meter->read().power_w, 0.0);
    }
    machine.put_rapl();
    const auto request = machine.request("rapl");
    EXPECT_EQ(open_power_beside(request, open_meter(request).meter->facts()).meter, nullptr);
}

TEST(OpenMeter, ACommandIsAMeter) {
    const Machine machine;
    const auto found = open_meter(machine.request("command:echo joules 5; read wait"));
    ASSERT_NE(found.meter, nullptr) << found.missing_reason;
    EXPECT_DOUBLE_EQ(found.meter->read().energy_j, 5.0);
}

TEST(OpenMeter, NoneIsNoMeterOnPurpose) {
    const Machine machine;
    machine.put_rapl();
    EXPECT_THAT(open_meter(machine.request("none")).missing_reason, HasSubstr("no energy was asked for"));
}

TEST(OpenMeter, ANameThatDoesNotExistIsRefusedWithAllThatDo) {
    for (const char* name : {"", "rapl:0", "Rapl", "replay", "replay:", "command:", "nvml:", "none:", "thermometer"}) {
        try {
            check_meter_name(name);
            ADD_FAILURE() << name;
        } catch (const UsageError& error) {
            EXPECT_THAT(error.what(), AllOf(HasSubstr("rapl"), HasSubstr("command:CMD"), HasSubstr("replay:FILE")));
        }
    }
    for (const char* name : {"auto", "none", "rapl", "nvml", "nvml:0", "nvml:GPU-a:b", "replay:C:D"}) {
        EXPECT_NO_THROW(check_meter_name(name)) << name;
    }
}

TEST(OpenMeter, ASurveyTellsOfEveryMeterWhyItIsMissing) {
    const Machine machine;
    machine.put_rapl();
    for (const auto& [name, found] : survey_meters(machine.request("none"))) {
        EXPECT_EQ(found.meter != nullptr, name == "rapl") << name;
        EXPECT_EQ(found.missing_reason.empty(), name == "rapl") << name;
    }
}

}  // namespace
}  // namespace joulecast
