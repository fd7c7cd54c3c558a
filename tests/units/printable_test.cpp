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

TEST(PrintableText, KeepsWhatPeopleWriteAndNothingThatSteers) {
    EXPECT_EQ(printable_text("Größe 8 µs\n\tok\r\n"), "Größe 8 µs\n\tok\r\n");
    EXPECT_EQ(printable_text("a\x1b[2Jb\rc\x7f"), "a\\u001b[2Jb\\u000dc\\u007f");
    EXPECT_EQ(printable_text("\xc2\x9b"
                             "31m"),
              "\\u009b31m");  // CSI as one character
    EXPECT_EQ(printable_text("\xe2\x80\xae"
                             "gnp"),
              "\\u202egnp");  // turns what follows round
    EXPECT_EQ(printable_text("\x9b\xc3(\xc0\x80"), "\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(ErrorLine, IsOneLineOfPrintableText) {
    ::testing::internal::CaptureStderr();
    write_error_line("joulecast-x", "no card \x1b[2J");
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "joulecast-x: no card \\u001b[2J\n");
}

TEST(PrintableText, KnowsTheBeginningOfACharacter) {
    EXPECT_EQ(unfinished_bytes("a\xc3"), 1U);
    EXPECT_EQ(unfinished_bytes("a\xe2\x80"), 2U);
    EXPECT_EQ(unfinished_bytes("a\xc3\xa4"), 0U);
    EXPECT_EQ(unfinished_bytes("a\x80"), 0U);
    EXPECT_EQ(unfinished_bytes(""), 0U);
}

}  // namespace
}  // namespace joulecast
