#include "joulecast/physics/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace joulecast {
namespace {

using ::testing::ElementsAre;

TEST(Timeline, SumsDeviceTimesWhereTheHostCostsNothing) {
    const std::vector<TimelineStep> steps{{0, 2}, {0, 3}};
    EXPECT_EQ(compose(steps).total_s, 5);
}

TEST(Timeline, HidesIssuingBehindLongKernels) {
    // Issued at 1, 2, 3; the device runs 1-11, 11-21, 21-31: only the first issue is seen.
    const std::vector<TimelineStep> steps{{1, 10}, {1, 10}, {1, 10}};
    const Timeline timeline = compose(steps);
    EXPECT_THAT(timeline.device_start_s, ElementsAre(1, 11, 21));
    EXPECT_THAT(timeline.issue_start_s, ElementsAre(0, 1, 2));
    EXPECT_THAT(timeline.issue_end_s, ElementsAre(1, 2, 3));
    EXPECT_EQ(timeline.total_s, 31);
}

TEST(Timeline, WaitsForTheHostBetweenShortKernels) {
    // Issued at 5, 10; each takes 1: the device idles in between and ends at 11.
    const std::vector<TimelineStep> steps{{5, 1}, {5, 1}};
    EXPECT_THAT(compose(steps).device_end_s, ElementsAre(6, 11));
}

TEST(Timeline, HoldsTheHostWhereItSynchronises) {
    // Without synchronising the second issue would end at 2; with it, it begins at 11 and ends at 12.
    const std::vector<TimelineStep> steps{{1, 10, true}, {1, 1}};
    EXPECT_EQ(compose(steps).total_s, 13);
    EXPECT_EQ(compose({}).total_s, 0);
}

TEST(Timeline, EndsWithTheHostIfThatIsLast) {
    EXPECT_EQ(compose(std::vector<TimelineStep>{{4, 0}}).total_s, 4);
}

}  // namespace
}  // namespace joulecast
