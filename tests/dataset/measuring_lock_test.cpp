#include "joulecast/dataset/measuring_lock.h"

#include <unistd.h>

#include "dataset/samples.h"
#include "joulecast/error.h"

namespace joulecast {
namespace {

class MeasuringLockTest : public joulecast::testing::DatasetFolder {
  protected:
    /// Tries once, gives up at the first question.
    bool can_lock(const std::string& device) {
        const MeasuringLock lock(
            folder / "a.db", device, [this](const std::string& holder) { holder_ = holder; }, [] { return true; });
        return lock.held();
    }

    std::string holder_;
};

TEST_F(MeasuringLockTest, LetsOneSweepPerDeviceIn) {
    const MeasuringLock lock(folder / "a.db", "cpu", [](const std::string&) {}, [] { return true; });
    EXPECT_TRUE(lock.held());
    EXPECT_FALSE(can_lock("cpu"));
    EXPECT_EQ(holder_, std::to_string(::getpid()));
    EXPECT_TRUE(can_lock("gpu"));
}

TEST_F(MeasuringLockTest, LetsGoAtTheEndAndLeavesNoFile) {
    EXPECT_TRUE(can_lock("cpu"));
    EXPECT_TRUE(can_lock("cpu"));
    EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(MeasuringLockTest, SaysWhereItCannotBeWritten) {
    const auto never = [] { return true; };
    EXPECT_THROW(MeasuringLock(folder / "missing" / "a.db", "cpu", [](const std::string&) {}, never), Error);
}

}  // namespace
}  // namespace joulecast
