#include "joulecast/report/sparkline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace joulecast {
namespace {

TEST(Sparkline, RunsFromTheLeastToTheGreatest) {
    EXPECT_EQ(sparkline(std::vector<double>{8, 4, 1, 1, 2}), "█▄▁▁▂");  // 3/7 of eight blocks is the fourth
    EXPECT_EQ(sparkline(std::vector<double>{5, 5}), "▁▁");
    EXPECT_EQ(sparkline({}), "");
}

TEST(Sparkline, LeavesAGapForWhatIsNotKnown) {
    EXPECT_EQ(sparkline(std::vector<double>{0, std::nan(""), 1}), "▁ █");
}

TEST(Sparkline, ThinsOutWhatIsTooWide) {
    // Pairs of means 0.5, 2.5 and 4.5.
    EXPECT_EQ(sparkline(std::vector<double>{0, 1, 2, 3, 4, 5}, 3), "▁▅█");
}

}  // namespace
}  // namespace joulecast
