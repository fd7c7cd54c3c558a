#include "joulecast/units/printable.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

TEST(Printable, LeavesNothingThatCouldSteerATerminal) {
    EXPECT_EQ(printable("A30 ~!"), "A30 ~!");
    EXPECT_EQ(printable("a\x1b[2Jb\n\x7f"), "a?[2Jb??");
    EXPECT_EQ(printable("\xc3\xa4"), "??");  // bytes, not characters: a cut may fall within one
}

TEST(Printable, CutsLongTexts) {
    EXPECT_EQ(printable("abcdef", 3), "abc");
    EXPECT_EQ(printable("ab", 3), "ab");
    EXPECT_EQ(printable("", 3), "");
}

}  // namespace
}  // namespace joulecast
