#include "joulecast/units/replaced_file.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace joulecast {
namespace {

namespace fs = std::filesystem;

class ReplacedFile : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "joulecast-replaced-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { fs::remove_all(folder_); }

    static std::string content(const fs::path& path) {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    std::size_t files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }

    fs::path folder_;
};

TEST_F(ReplacedFile, HasTheNewContentAndLeavesNothingBeside) {
    EXPECT_EQ(replace_file(folder_ / "a", "one"), 0);
    EXPECT_EQ(replace_file(folder_ / "a", "two"), 0);
    EXPECT_EQ(content(folder_ / "a"), "two");
    EXPECT_EQ(files(), 1U);
}

// A fixed name beside the target ("a.part") let anybody who may write into the folder choose what was overwritten.
TEST_F(ReplacedFile, WritesThroughNoPlantedLink) {
    std::ofstream(folder_ / "victim") << "precious";
    for (const std::string& planted : {std::string("a.part"), "a.part" + std::to_string(::getpid())})
        fs::create_symlink(folder_ / "victim", folder_ / planted);
    EXPECT_EQ(replace_file(folder_ / "a", "new"), 0);
    EXPECT_EQ(content(folder_ / "victim"), "precious");
    EXPECT_EQ(content(folder_ / "a"), "new");
}

TEST_F(ReplacedFile, BehindALinkIsTheOneReplaced) {
    std::ofstream(folder_ / "real") << "old";
    fs::create_symlink(folder_ / "real", folder_ / "link");
    EXPECT_EQ(replace_file(folder_ / "link", "new"), 0);
    EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
    EXPECT_EQ(content(folder_ / "real"), "new");
}

TEST_F(ReplacedFile, ThatCannotBeIsAsItWas) {
    EXPECT_EQ(replace_file(folder_ / "nowhere" / "a", "x"), ENOENT);
    fs::create_directory(folder_ / "a");
    EXPECT_NE(replace_file(folder_ / "a", "x"), 0);
    EXPECT_EQ(files(), 1U);
}

}  // namespace
}  // namespace joulecast
