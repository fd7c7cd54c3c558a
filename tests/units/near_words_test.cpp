#include "joulecast/units/near_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(EditDistance, CountsInsertionsDeletionsAndReplacements) {
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);  // Levenshtein's own example: k-s, e-i, and a g more
    EXPECT_EQ(edit_distance("", "abc"), 3U);
    EXPECT_EQ(edit_distance("abc", "abc"), 0U);
}

TEST(NearWords, AreNearestFirstAndNoFurtherThanAThirdOfTheirLetters) {
    const std::vector<std::string> verbs{"predict", "profile", "report", "recommend"};
    EXPECT_THAT(near_words("predcit", verbs), ElementsAre("predict"));
    EXPECT_THAT(near_words("re", verbs), ElementsAre("recommend", "report"));
    EXPECT_THAT(near_words("re", verbs, 1), ElementsAre("recommend"));
    EXPECT_THAT(near_words("resnet50", verbs), IsEmpty());
    EXPECT_THAT(near_words("", verbs), IsEmpty());
    EXPECT_THAT(near_words(std::string(65, 'p'), verbs), IsEmpty());
}

}  // namespace
}  // namespace joulecast
