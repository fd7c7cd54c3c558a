#include "tests/house/include_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "tests/cli/run_command.h"

namespace joulecast::house {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::filesystem::path source(JOULECAST_SOURCE_DIR);

IncludeTable the_table() {
    return read_include_table(source / "tests/house/include_table.txt");
}
std::vector<Door> the_doors() {
    return read_doors(source / "tests/house/doors.txt");
}

TEST(House, EveryIncludeIsInTheTableAndEveryForeignLibraryHasOneDoor) {
    std::vector<std::string> all;
    for (const auto& file : source_files(source, {"joulecast", "clockd", "cli", "lab", "workers", "python"})) {
        const auto found = breaches(file, joulecast::testing::read_file(source / file), the_table(), the_doors());
        all.insert(all.end(), found.begin(), found.end());
    }
    EXPECT_THAT(all, IsEmpty());
}

TEST(House, EveryHeaderIsListedAsPublicOrPrivate) {
    const std::string list = joulecast::testing::read_file(source / "cmake/headers.cmake");
    std::vector<std::string> missing;
    for (const auto& file : source_files(source, {"joulecast"})) {
        if (file.ends_with(".h") && list.find("    " + file + "\n") == std::string::npos) missing.push_back(file);
    }
    // Those of the laboratory's library are compiled alone, too.
    const std::string of_laboratory = joulecast::testing::read_file(source / "lab/CMakeLists.txt");
    for (const auto& file : source_files(source / "lab", {"baselines", "published", "studies"})) {
        if (file.ends_with(".h") && of_laboratory.find("    " + file + "\n") == std::string::npos)
            missing.push_back("lab/" + file);
    }
    EXPECT_THAT(missing, IsEmpty());
}

// Two types of one name in one namespace: no compiler sees both, and the linker takes the functions of either.
TEST(House, EveryTypeOfTheLibraryHasANameOfItsOwn) {
    const std::regex definition(R"(^(?:struct|class) (\w+)(?: final)?(?: : [^;{]*)?\s*\{)");
    const std::regex opening(R"(^namespace ([\w:]+) \{)");
    std::map<std::string, std::string> files;
    std::vector<std::string> twice;
    for (const auto& file : source_files(source, {"joulecast", "lab"})) {
        if (!file.ends_with(".h")) continue;
        std::istringstream lines(joulecast::testing::read_file(source / file));
        std::string space;
        for (std::string line; std::getline(lines, line);) {
            std::smatch found;
            if (std::regex_search(line, found, opening)) space = found[1].str();
            if (!std::regex_search(line, found, definition)) continue;
            const std::string name = space + "::" + found[1].str();
            const auto [first, is_new] = files.try_emplace(name, file);
            if (!is_new) twice.push_back(name + " in " + first->second + " and " + file);
        }
    }
    EXPECT_GT(files.size(), 100U);
    EXPECT_THAT(twice, IsEmpty());
}

TEST(IncludeRules, AFolderMayNotReachDownTheFlow) {
    EXPECT_THAT(breaches("joulecast/graph/x.cpp", "#include \"joulecast/forecast/forecast.h\"\n", the_table(), {}),
                ElementsAre("joulecast/graph/x.cpp:1: joulecast/forecast/forecast.h: the include table does not let "
                            "graph include forecast"));
    EXPECT_THAT(breaches("joulecast/forecast/x.cpp", "#include \"joulecast/graph/graph.h\"\n", the_table(), {}),
                IsEmpty());
}

TEST(IncludeRules, NothingOfTheProductMayIncludeTheLaboratory) {
    const std::string text = "#include \"lab/baselines/baselines.h\"\n";
    for (const char* file : {"joulecast/evaluate/x.cpp", "cli/x.cpp", "python/x.cpp", "workers/torch/x.cpp"})
        EXPECT_EQ(breaches(file, text, the_table(), {}).size(), 1u) << file;
    EXPECT_THAT(breaches("lab/verbs/x.cpp", text, the_table(), {}), IsEmpty());
}

TEST(IncludeRules, ReadersAreARoomOfTheirOwn) {
    EXPECT_EQ(room_of("joulecast/graph/readers/x.cpp", the_table()), "graph/readers");
    EXPECT_EQ(room_of("joulecast/graph/x.cpp", the_table()), "graph");
    EXPECT_EQ(room_of("cli/main.cpp", the_table()), "cli");
    EXPECT_EQ(room_of("joulecast/nowhere/x.cpp", the_table()), "");
}

TEST(IncludeRules, AForeignHeaderOutsideItsDoorIsFound) {
    EXPECT_THAT(breaches("joulecast/dataset/x.cpp", "#include <sqlite3.h>\n", the_table(), the_doors()), IsEmpty());
    EXPECT_EQ(breaches("joulecast/forecast/x.cpp", "#include <sqlite3.h>\n", the_table(), the_doors()).size(), 1u);
    EXPECT_EQ(breaches("joulecast/graph/x.cpp", "\n  #  include <fmt/format.h>\n", the_table(), the_doors()).size(),
              1u);
    EXPECT_EQ(breaches("joulecast/forecast/x.cpp", "#include <torch/torch.h>\n", the_table(), the_doors()).size(), 1u);
    // Nobody ever named this one: what no door lets in stays out.
    EXPECT_EQ(breaches("cli/x.cpp", "#include <boost/json.hpp>\n", the_table(), the_doors()).size(), 1u);
}

TEST(IncludeRules, JsonHeadersStayOutOfHeaders) {
    const std::string text = "#include <nlohmann/json.hpp>\n";
    EXPECT_THAT(breaches("joulecast/forecast/x.cpp", text, the_table(), the_doors()), IsEmpty());
    EXPECT_THAT(breaches("joulecast/forecast/x.h", text, the_table(), the_doors()),
                ElementsAre("joulecast/forecast/x.h:1: nlohmann/json.hpp: belongs in .cpp files only"));
}

TEST(IncludeRules, ATableWhoseArrowsPointDownTheFlowIsRefused) {
    const joulecast::testing::TemporaryFolder folder;
    joulecast::testing::write_file(folder.path() / "table.txt", "graph: predict\npredict:\n");
    EXPECT_THROW(read_include_table(folder.path() / "table.txt"), std::runtime_error);
}

}  // namespace
}  // namespace joulecast::house
