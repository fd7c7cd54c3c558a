#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using testing::run_joulecast;

TEST(Devices, ThisMachineComesFirstInEveryFormat) {
    const auto json = nlohmann::json::parse(run_joulecast("devices --format json").out);
    EXPECT_EQ(json.at("schema"), "joulecast.devices/1");
    const auto& device = json.at("devices").at(0);
    EXPECT_EQ(device.at("kind"), "cpu");
    EXPECT_THAT(run_joulecast("devices").out, HasSubstr(device.at("id").get<std::string>()));
    EXPECT_THAT(run_joulecast("devices --format csv").out, HasSubstr(device.at("id").get<std::string>()));
}

TEST(Devices, CpuNamesThisMachineAndShowsItsSource) {
    const auto ran = run_joulecast("devices cpu");
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, HasSubstr("figures from"));
}

TEST(Devices, AnUnknownIdIsWrongUsageAndListsTheKnownOnes) {
    const auto ran = run_joulecast("devices abacus");
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, HasSubstr("no device is called 'abacus'. Known: cpu (this machine)"));
}

}  // namespace
}  // namespace joulecast
