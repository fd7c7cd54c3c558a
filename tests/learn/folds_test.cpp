#include "joulecast/learn/folds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "joulecast/error.h"

namespace joulecast {
namespace {

TEST(GroupFolds, NeverSplitAGroup) {
    std::vector<std::string> groups;
    for (int i = 0; i < 200; ++i) groups.push_back(std::to_string(i % 37));
    const auto folds = group_folds(groups, 5, 1);
    std::map<std::string, std::set<std::size_t>> seen;
    for (std::size_t i = 0; i < groups.size(); ++i) seen[groups[i]].insert(folds[i]);
    for (const auto& [group, in] : seen) EXPECT_EQ(in.size(), 1U) << group;
}

TEST(GroupFolds, AreBalancedByRows) {
    // One group of 10 rows and ten groups of one row: over two folds each gets 10 rows.
    std::vector<std::string> groups(10, "big");
    for (int i = 0; i < 10; ++i) groups.push_back(std::to_string(i));
    const auto folds = group_folds(groups, 2, 1);
    EXPECT_EQ(std::count(folds.begin(), folds.end(), 0U), 10);
}

TEST(GroupFolds, DependOnTheSeedOnly) {
    std::vector<std::string> groups;
    for (int i = 0; i < 50; ++i) groups.push_back(std::to_string(i));
    EXPECT_EQ(group_folds(groups, 5, 3), group_folds(groups, 5, 3));
    EXPECT_NE(group_folds(groups, 5, 3), group_folds(groups, 5, 4));
    EXPECT_THROW(group_folds(groups, 1, 3), Error);
}

TEST(RandomFolds, AreOfEqualSizeAndIgnoreGroups) {
    const auto folds = random_folds(100, 5, 1);
    for (std::size_t fold = 0; fold < 5; ++fold) EXPECT_EQ(std::count(folds.begin(), folds.end(), fold), 20);
}

}  // namespace
}  // namespace joulecast
