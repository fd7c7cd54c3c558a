#include "joulecast/answer/recently_used.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

TEST(RecentlyUsed, DropsWhatWasAskedForLongestAgo) {
    RecentlyUsed<int> kept(2);
    kept.keep("a", 1);
    kept.keep("b", 2);
    ASSERT_NE(kept.find("a"), nullptr);  // so that b is the older
    kept.keep("c", 3);
    EXPECT_EQ(kept.size(), 2U);
    EXPECT_EQ(kept.find("b"), nullptr);
    EXPECT_EQ(*kept.find("a"), 1);
    EXPECT_EQ(*kept.find("c"), 3);
}

TEST(RecentlyUsed, KeepsOneAtLeast) {
    RecentlyUsed<int> kept(0);
    EXPECT_EQ(kept.keep("a", 1), 1);
    EXPECT_EQ(*kept.find("a"), 1);
}

}  // namespace
}  // namespace joulecast
