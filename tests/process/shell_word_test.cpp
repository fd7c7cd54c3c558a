#include "joulecast/process/shell_word.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

TEST(ShellWord, KeepsWhatAShellWouldRead) {
    EXPECT_EQ(shell_word("a b; $HOME `id`"), "'a b; $HOME `id`'");
    // A quote ends the word, stands by itself, and the word goes on.
    EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
    EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace joulecast
