#include "joulecast/meter/clock_lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "joulecast/error.h"
#include "tests/fake_nvml/fake_nvml.h"

namespace joulecast {
namespace {

using ::testing::AllOf;
using testing::FakeGpu;
using testing::FakeNvml;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

/// A fake card that wanders back to nothing held, and a folder for state files.
class ClockLeaseTest : public ::testing::Test {
  protected:
    ClockLeaseTest() : folder_(fs::path(fake.path() + "-state")) {}
    ~ClockLeaseTest() override { fs::remove_all(folder_); }

    NvmlGpu gpu() const {
        std::string why;
        return Nvml::open(FakeNvml::library(), why)->gpus().at(0);
    }

    std::string refusal(ClockLease& lease, const ClockRequest& request) const {
        try {
            lease.hold(request);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    }
    bool is_as_before() {
        const FakeGpu& card = fake.gpu();
        return card.locked_graphics_mhz == 0 && card.locked_memory_mhz == 0 && card.power_limit_mw == 165000;
    }
    std::optional<ClockRecord> record() const { return left_behind(folder_, gpu()); }
    fs::path record_file() const { return folder_ / (gpu().facts().uuid + ".clocks"); }

    FakeNvml fake;
    fs::path folder_;
};

TEST_F(ClockLeaseTest, HoldsAndRestores) {
    {
        ClockLease held(gpu(), folder_);
        held.hold({900, 1215, 120000});
        EXPECT_EQ(fake.gpu().locked_graphics_mhz, 900U);
        EXPECT_EQ(fake.gpu().locked_memory_mhz, 1215U);
        EXPECT_EQ(fake.gpu().power_limit_mw, 120000U);
        EXPECT_EQ(record(), (ClockRecord{true, true, 165000, 120000, {}}));
    }
    EXPECT_TRUE(is_as_before());
    EXPECT_FALSE(record());
}

TEST_F(ClockLeaseTest, WhatTheNextRequestDoesNotNameIsGivenBack) {
    ClockLease held(gpu(), folder_);
    held.hold({900, 1215, 120000});
    held.hold({1200, {}, {}});
    EXPECT_EQ(fake.gpu().locked_graphics_mhz, 1200U);
    EXPECT_EQ(fake.gpu().locked_memory_mhz, 0U);
    EXPECT_EQ(fake.gpu().power_limit_mw, 165000U);
    EXPECT_EQ(record(), (ClockRecord{true, false, {}, {}, {}}));
    held.hold({{}, {}, 110000});
    EXPECT_EQ(fake.gpu().locked_graphics_mhz, 0U);
    held.hold({});
    EXPECT_TRUE(is_as_before());
    EXPECT_FALSE(record());
}

TEST_F(ClockLeaseTest, TheLimitOfBeforeIsTheOneOfTheFirstChange) {
    fake.gpu().power_limit_mw = 150000;  // an administrator's
    {
        ClockLease held(gpu(), folder_);
        held.hold({{}, {}, 120000});
        held.hold({{}, {}, 110000});
    }
    EXPECT_EQ(fake.gpu().power_limit_mw, 150000U);
}

TEST_F(ClockLeaseTest, ALimitThatSomebodyElseSetMeanwhileIsLeftAlone) {
    {
        ClockLease held(gpu(), folder_);
        held.hold({{}, {}, 120000});
        fake.gpu().power_limit_mw = 140000;
    }
    EXPECT_EQ(fake.gpu().power_limit_mw, 140000U);
}

TEST_F(ClockLeaseTest, ItIsLeftAloneByARequestThatNamesNoLimit) {
    ClockLease held(gpu(), folder_);
    held.hold({{}, {}, 120000});
    fake.gpu().power_limit_mw = 140000;
    held.hold({900, {}, {}});
    EXPECT_EQ(fake.gpu().power_limit_mw, 140000U);
}

TEST_F(ClockLeaseTest, ALimitThatTheDriverRoundedIsStillOurs) {
    {
        ClockLease held(gpu(), folder_);
        held.hold({{}, {}, 120000});
        fake.gpu().power_limit_mw = 119990;
    }
    EXPECT_EQ(fake.gpu().power_limit_mw, 165000U);
}

TEST_F(ClockLeaseTest, WithoutTheRightItSaysWhatToDoAndLeavesNoRecord) {
    fake.gpu().may_change = false;
    ClockLease held(gpu(), folder_);
    EXPECT_EQ(refusal(held, {900, {}, {}}),
              "cannot lock clocks on GPU 0 (NVIDIA A30): no permission. Run as root, or measure at the current clock "
              "with --clocks current.");
    EXPECT_EQ(refusal(held, {{}, {}, 120000}),
              "cannot set the power limit of GPU 0 (NVIDIA A30): no permission. Run as root, or measure at the current "
              "limit with --power-limits current.");
    EXPECT_FALSE(record());
}

TEST_F(ClockLeaseTest, WhatTheCardDoesNotSupportIsRefusedBeforeAnythingIsChanged) {
    ClockLease held(gpu(), folder_);
    EXPECT_THAT(refusal(held, {901, {}, 120000}), HasSubstr("the nearest is 900"));
    EXPECT_EQ(fake.gpu().limit_changes, 0U);
    EXPECT_FALSE(record());
}

TEST_F(ClockLeaseTest, ARequestThatFailsHalfwayIsUndone) {
    fake.gpu().missing = testing::missing_memory_lock;
    ClockLease held(gpu(), folder_);
    held.hold({900, {}, 120000});
    EXPECT_EQ(refusal(held, {1200, 1215, {}}),
              "cannot lock the memory clock on GPU 0 (NVIDIA A30): not supported by this card or driver (code 13). "
              "Measure at the current clock with --clocks current.");
    EXPECT_TRUE(is_as_before());
    EXPECT_FALSE(record());
}

TEST_F(ClockLeaseTest, OneProcessHoldsACard) {
    ClockLease first(gpu(), folder_);
    first.hold({900, {}, {}});
    EXPECT_TRUE(is_leased(folder_, gpu()));
    try {
        ClockLease second(gpu(), folder_);
        FAIL() << "two leases on one card";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("held by another measurement"));
    }
    EXPECT_EQ(fake.gpu().locked_graphics_mhz, 900U) << "the second must not undo the first's lock";
    fake.add_gpu();
    std::string why;
    ClockLease other_card(Nvml::open(FakeNvml::library(), why)->gpus().at(1), folder_);
    EXPECT_NO_THROW(other_card.hold({600, {}, {}}));
}

TEST_F(ClockLeaseTest, ALeaseThatEndedLetsTheNextIn) {
    {
        ClockLease first(gpu(), folder_);
    }
    EXPECT_FALSE(is_leased(folder_, gpu()));
    EXPECT_NO_THROW(ClockLease(gpu(), folder_));
}

/// What a guard that was killed leaves: the card changed, its record on the disk, its lock gone.
void leave_behind(FakeGpu& card, const fs::path& file) {
    card.locked_graphics_mhz = 900;
    card.power_limit_mw = 120000;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << to_text(ClockRecord{true, false, 165000, 120000, {}});
}

TEST_F(ClockLeaseTest, WhatADeadGuardLeftIsUndoneByTheNextLease) {
    leave_behind(fake.gpu(), record_file());
    const ClockLease next(gpu(), folder_);
    EXPECT_TRUE(is_as_before());
    EXPECT_FALSE(record());
}

TEST_F(ClockLeaseTest, AGuardThatDiesBetweenTwoLimitsIsUndoneFromEither) {
    for (const unsigned limit_mw : {120000U, 110000U}) {
        leave_behind(fake.gpu(), record_file());
        std::ofstream(record_file()) << to_text(ClockRecord{false, false, 165000, 120000, 110000});
        fake.gpu().power_limit_mw = limit_mw;
        const ClockLease next(gpu(), folder_);
        EXPECT_EQ(fake.gpu().power_limit_mw, 165000U);
    }
}

TEST_F(ClockLeaseTest, AfterARebootTheRecordIsCleanedUpAndALimitSetSinceIsKept) {
    leave_behind(fake.gpu(), record_file());
    fake.reboot();
    fake.gpu().power_limit_mw = 130000;  // an administrator's boot script
    const ClockLease next(gpu(), folder_);
    EXPECT_EQ(fake.gpu().power_limit_mw, 130000U);
    EXPECT_EQ(fake.gpu().locked_graphics_mhz, 0U);
    EXPECT_FALSE(record());
}

TEST_F(ClockLeaseTest, ALostCardKeepsItsRecordForLater) {
    {
        ClockLease held(gpu(), folder_);
        held.hold({900, {}, {}});
        fake.gpu().lost = true;
        EXPECT_THROW(held.restore(), Error);
    }
    fake.gpu().lost = false;
    EXPECT_TRUE(record());
    {
        const ClockLease next(gpu(), folder_);
    }
    EXPECT_TRUE(is_as_before());
    EXPECT_FALSE(record());
}

TEST_F(ClockLeaseTest, WithoutTheRightToUndoItSaysSoAndKeepsTheRecord) {
    leave_behind(fake.gpu(), record_file());
    fake.gpu().may_change = false;
    try {
        const ClockLease next(gpu(), folder_);
        FAIL() << "undone without the right to";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("cannot restore GPU 0 (NVIDIA A30)"), HasSubstr("clocks reset")));
    }
    EXPECT_TRUE(record());
    EXPECT_FALSE(is_leased(folder_, gpu()));
}

TEST_F(ClockLeaseTest, ResetFreesWhatNobodyRemembers) {
    fake.gpu().locked_graphics_mhz = 900;  // nvidia-smi --lock-gpu-clocks, say
    fake.gpu().locked_memory_mhz = 1215;
    fake.gpu().power_limit_mw = 120000;
    ClockLease held(gpu(), folder_);
    held.reset();
    EXPECT_TRUE(is_as_before());
}

TEST_F(ClockLeaseTest, ResetOnACardWithoutMemoryLocksIsNoError) {
    fake.gpu().missing = testing::missing_memory_lock;
    fake.gpu().locked_graphics_mhz = 900;
    ClockLease held(gpu(), folder_);
    held.reset();
    EXPECT_EQ(fake.gpu().locked_graphics_mhz, 0U);
}

TEST_F(ClockLeaseTest, WhereNothingCanBeWrittenNothingIsChanged) {
    std::ofstream(folder_) << "a file, no folder";
    try {
        ClockLease held(gpu(), folder_);
        FAIL() << "a lease without a state file";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("JOULECAST_CLOCK_STATE"));
    }
}

TEST_F(ClockLeaseTest, ARecordThatIsALinkIsNotFollowed) {
    fs::create_directories(folder_);
    const fs::path target = folder_ / "target";
    std::ofstream(target) << to_text(ClockRecord{true, false, {}, {}, {}});
    fs::create_symlink(target, record_file());
    EXPECT_THROW(record(), Error);
}

TEST(ClockRecord, WhatIsWrittenIsReadBack) {
    for (const ClockRecord& record :
         {ClockRecord{}, ClockRecord{true, false, {}, {}, {}}, ClockRecord{true, true, 165000, 120000, 110000}}) {
        EXPECT_EQ(parse_clock_record(to_text(record)), record);
    }
}

TEST(ClockRecord, NothingElseIsUnderstood) {
    for (const char* text : {"", "joulecast-clocks 2\n", "joulecast-clocks 1", "joulecast-clocks 1\ngraphics locked",
                             "joulecast-clocks 1\ngraphics free\n", "joulecast-clocks 1\npower_limit_set_mw -1\n",
                             "joulecast-clocks 1\npower_limit_set_mw 1e3\n", "joulecast-clocks 1\n\n",
                             "joulecast-clocks 1\npower_limit_before_mw 99999999999\n"}) {
        EXPECT_THROW(parse_clock_record(text), FormatError) << text;
    }
    EXPECT_THROW(parse_clock_record("joulecast-clocks 1\n" + std::string(600, 'x') + "\n"), FormatError);
}

}  // namespace
}  // namespace joulecast
