#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/run_command.h"

namespace joulecast::testing {
namespace {

using ::testing::HasSubstr;

/// Of the sections of the papers in docs/seeds.md.
std::size_t commands_of_the_page() {
    const std::string text = read_file(JOULECAST_SOURCE_DIR "/docs/seeds.md");
    std::size_t count = 0;
    for (auto at = text.find("`joulecast", text.find("## The thesis")); at != std::string::npos;
         at = text.find("`joulecast", at + 1))
        ++count;
    return count;
}

TEST(FiguresVerb, HasEveryCommandOfThePage) {
    const Ran ran = run_laboratory("figures --format json");
    ASSERT_EQ(ran.status, 0) << ran.err;
    std::set<std::string> papers;
    std::size_t commands = 0;
    for (const auto& line : nlohmann::json::parse(ran.out)) {
        papers.insert(line.at("paper").get<std::string>());
        const bool has_command = line.at("command") != "";
        if (has_command) ++commands;
        EXPECT_TRUE(has_command || line.at("note") != "") << line;
    }
    EXPECT_EQ(papers, (std::set<std::string>{"The thesis", "Sponner et al."}));
    EXPECT_EQ(commands, commands_of_the_page());
    EXPECT_GT(commands, 40U);
}

TEST(FiguresVerb, PrintsCommandsThatCanBeCopied) {
    const std::string page = run_laboratory("figures").out;
    EXPECT_THAT(page, HasSubstr("\nFigure 3.2: power over rests and runs\n    joulecast-lab study startup --device"));
    EXPECT_THAT(page, HasSubstr("\nTables I, II: "));
    EXPECT_THAT(page, HasSubstr("no measurement: [method.md](method.md), [worker-protocol.md](worker-protocol.md)\n"));
}

}  // namespace
}  // namespace joulecast::testing
