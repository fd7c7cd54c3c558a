#include "joulecast/meter/nvidia_smi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/meter/folder.h"

namespace joulecast {
namespace {

using ::testing::AllOf;
using testing::Folder;
using ::testing::HasSubstr;

constexpr const char* two_lines =
    "echo 'timestamp, power.draw.instant [W]'\n"
    "echo '2024/02/29 12:34:56.789, 61.5'\n";

/// Reads until the meter tells that power, or is lost.
void read_until(Meter& meter, double power_w) {
    while (meter.read().power_w != power_w) std::this_thread::yield();
}

TEST(NvidiaSmi, TellsTheLatestLineOfARunningProgram) {
    const Folder folder;
    const auto program = folder.put_script("nvidia-smi", std::string(two_lines) +
                                                             "echo \"$@\" > \"$0.arguments\"\n"
                                                             "echo '2024/02/29 12:34:56.799, 75.0'\n"
                                                             "read wait\n");
    const auto found = open_nvidia_smi("GPU-1f", program.string(), [] { return 7.0; });
    ASSERT_NE(found.meter, nullptr) << found.missing_reason;
    EXPECT_EQ(found.meter->facts().name, "nvidia-smi:power.draw.instant");
    EXPECT_EQ(found.meter->facts().covers, "the whole card");
    EXPECT_FALSE(found.meter->facts().counts_energy);
    read_until(*found.meter, 75.0);
    EXPECT_EQ(found.meter->read().power_w, 75.0);  // nothing new came
    EXPECT_EQ(found.meter->read().time_s, 7.0);
    EXPECT_EQ(folder.read("nvidia-smi.arguments"),
              "--query-gpu=timestamp,power.draw.instant --format=csv,nounits -lms 10 -i GPU-1f\n");
}

TEST(NvidiaSmi, FallsBackToTheFieldThatOldDriversHave) {
    const Folder folder;
    const auto program =
        folder.put_script("nvidia-smi",
                          "case $1 in *instant*) echo 'Field \"power.draw.instant\" is not a valid field to query.'\n"
                          "exit 2;; esac\n"
                          "echo 'timestamp, power.draw [W]'; echo '2024/02/29 12:34:56.789, 61.5'; read wait\n");
    const auto found = open_nvidia_smi("0", program.string());
    ASSERT_NE(found.meter, nullptr) << found.missing_reason;
    EXPECT_EQ(found.meter->facts().name, "nvidia-smi:power.draw");
    EXPECT_THAT(found.meter->facts().covers, HasSubstr("mean of about a second"));
    EXPECT_EQ(found.meter->read().power_w, 61.5);
}

TEST(NvidiaSmi, IsLostWithItsLastWordsWhenItEnds) {
    const Folder folder;
    const auto program = folder.put_script(
        "nvidia-smi",
        std::string(two_lines) + "echo x >> \"$0.starts\"; echo 'GPU has fallen off the bus' >&2; exit 15\n");
    const auto found = open_nvidia_smi("0", program.string());
    ASSERT_NE(found.meter, nullptr) << found.missing_reason;
    try {
        read_until(*found.meter, -1.0);
        FAIL();
    } catch (const MeterLost& lost) {
        EXPECT_THAT(lost.what(), AllOf(HasSubstr("exit status 15"), HasSubstr("fallen off the bus")));
    }
    EXPECT_THROW(found.meter->read(), MeterLost);
    EXPECT_EQ(folder.read("nvidia-smi.starts"), "x\n");  // never started again
}

TEST(NvidiaSmi, IsLostWhenItFallsSilentOrTheCardDoesNotTell) {
    const Folder folder;
    double now_s = 0.0;
    const auto silent = folder.put_script("silent", std::string(two_lines) + "read wait\n");
    const auto found = open_nvidia_smi("0", silent.string(), [&] { return now_s; });
    ASSERT_NE(found.meter, nullptr) << found.missing_reason;
    now_s = 4.9;
    EXPECT_EQ(found.meter->read().power_w, 61.5);
    now_s = 5.1;
    EXPECT_THROW(found.meter->read(), MeterLost);
    const auto blank = folder.put_script("blank",
                                         "echo 'timestamp, power.draw [W]'\n"
                                         "echo '2024/02/29 12:34:56.789, [N/A]'; read wait\n");
    EXPECT_THAT(open_nvidia_smi("0", blank.string()).missing_reason, HasSubstr("does not report this card's power"));
}

TEST(NvidiaSmi, SaysWhyThereIsNone) {
    const Folder folder;
    EXPECT_THAT(open_nvidia_smi("0", "/no/such/nvidia-smi").missing_reason, HasSubstr("is not installed"));
    EXPECT_THAT(open_nvidia_smi("0; rm -rf x").missing_reason, HasSubstr("is not an index, UUID or PCI address"));
    const auto broken = folder.put_script("nvidia-smi", "echo 'no driver is running' >&2; exit 9\n");
    EXPECT_THAT(open_nvidia_smi("0", broken.string()).missing_reason,
                AllOf(HasSubstr("exit status 9"), HasSubstr("no driver is running")));
}

}  // namespace
}  // namespace joulecast
