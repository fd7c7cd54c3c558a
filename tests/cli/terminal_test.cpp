#include "cli/terminal.h"

#include <gtest/gtest.h>

#include "tests/cli/run_command.h"

namespace joulecast::cli {
namespace {

constexpr Terminal ascii{80, false, false};
constexpr Terminal colours{80, true, true};

TEST(ShareBar, IsOfBlocksOrOfHashes) {
    EXPECT_EQ(share_bar(0.5, 4, Terminal{}), "██");
    EXPECT_EQ(share_bar(0.5, 4, ascii), "##");
    EXPECT_EQ(share_bar(0.0, 4, ascii), "");
    EXPECT_EQ(share_bar(7.0, 4, ascii), "####");
    EXPECT_EQ(share_bar(-1.0, 4, ascii), "");
}

TEST(Coloured, ColoursBarsOnATerminalOnly) {
    EXPECT_EQ(coloured("a █▌ b\n", Terminal{}), "a █▌ b\n");
    EXPECT_EQ(coloured("a █▌ b\n", colours), "a \x1b[36m█▌\x1b[0m b\n");
    // Lines of the table are of box drawings, not of blocks.
    EXPECT_EQ(coloured("──", colours), "──");
}

TEST(Shortened, KeepsWhatFitsAndNeverHalfACharacter) {
    EXPECT_EQ(shortened("abcdef", 6, Terminal{}), "abcdef");
    EXPECT_EQ(shortened("abcdef", 5, Terminal{}), "abcd…");
    EXPECT_EQ(shortened("abcdef", 5, ascii), "ab...");
    EXPECT_EQ(shortened("aµµµµ", 3, Terminal{}), "a…");  // µ has two bytes
    EXPECT_EQ(shortened("abcdef", 0, Terminal{}), "…");
}

/// Through `script`, which gives a program a terminal; skipped where there is none.
TEST(Table, HasColoursAndBlocksOnAUtf8TerminalAndNeitherOnAnother) {
    if (testing::run_shell("command -v script").status != 0) GTEST_SKIP() << "no script(1) on this machine";
    const auto on_terminal = [](const std::string& variables) {
        const auto ran = testing::run_shell("export JOULECAST COLUMNS=160; " + variables +
                                            " TERM=xterm script -qec '$JOULECAST extract resnet18 --top 1' /dev/null");
        EXPECT_EQ(ran.status, 0) << ran.err;
        return ran.out;
    };
    EXPECT_NE(on_terminal("LC_ALL=C.UTF-8").find("\x1b[36m█"), std::string::npos);
    EXPECT_EQ(on_terminal("NO_COLOR=1 LC_ALL=C.UTF-8").find("\x1b[36m"), std::string::npos);
    const std::string plain = on_terminal("LC_ALL=C");
    EXPECT_EQ(plain.find("█"), std::string::npos);
    EXPECT_NE(plain.find("##"), std::string::npos);
}

}  // namespace
}  // namespace joulecast::cli
