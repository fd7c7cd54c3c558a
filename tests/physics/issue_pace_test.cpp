#include "joulecast/physics/issue_pace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "joulecast/device/device_table.h"
#include "joulecast/error.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;

Device cpu(const std::string& id, const std::string& architecture, double mhz) {
    Device device;
    device.id = id;
    device.architecture = architecture;
    device.boost_clock_mhz = mhz;
    return device;
}

TEST(IssuePace, GoesWithWorkPerCycleTimesClock) {
    const Device zen2 = find_device("epyc-7742"), zen3 = find_device("epyc-7763");
    // 3.4 GHz of Zen 2 over 3.5 GHz of Zen 3, which AMD says does 19 % more a cycle.
    const IssuePace slower = issue_pace(zen2, &zen3);
    EXPECT_NEAR(slower.factor, 1.19 * 3500 / 3400, 0.01);
    EXPECT_NEAR(issue_pace(zen3, &zen2).factor, 1 / slower.factor, 1e-12);
    EXPECT_EQ(slower.sigma, 0.2);
}

TEST(IssuePace, OfTheCpuThatWasMeasuredIsOne) {
    const Device zen3 = find_device("epyc-7763");
    EXPECT_EQ(issue_pace(zen3, &zen3), IssuePace{});
}

TEST(IssuePace, IsWiderWhereACpuIsAGuess) {
    const Device zen3 = find_device("epyc-7763");
    EXPECT_EQ(issue_pace(zen3, nullptr).sigma, 0.4);
    EXPECT_NEAR(issue_pace(zen3, nullptr).factor, 1, 0.02);
    // Of an architecture that is not listed the clock alone tells.
    const Device other = cpu("other", "never-heard-of", 1750);
    EXPECT_EQ(issue_pace(other, &zen3).sigma, 0.4);
    EXPECT_NEAR(issue_pace(other, nullptr).factor, 2, 1e-12);
    EXPECT_TRUE(std::isnan(work_per_cycle("never-heard-of")));
}

TEST(IssuePace, NeedsAClock) {
    try {
        issue_pace(cpu("clockless", "zen3", Device::unknown), nullptr);
        FAIL() << "took a CPU without a clock";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("clockless"));
        EXPECT_THAT(error.what(), HasSubstr("boost_clock_mhz"));
    }
}

TEST(IssuePace, IsKnownOfEveryCpuWithADataSheet) {
    int cpus = 0;
    for (const DataSheet& sheet : known_devices().sheets()) {
        if (sheet.device.kind != Device::Kind::cpu) continue;
        ++cpus;
        EXPECT_FALSE(std::isnan(work_per_cycle(sheet.device.architecture))) << sheet.device.id;
        const double factor = issue_pace(sheet.device, nullptr).factor;
        EXPECT_GT(factor, 0.3) << sheet.device.id;
        EXPECT_LT(factor, 3) << sheet.device.id;
    }
    EXPECT_GT(cpus, 20);
}

}  // namespace
}  // namespace joulecast
