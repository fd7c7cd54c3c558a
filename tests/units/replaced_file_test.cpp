#include "joulecast/units/replaced_file.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "tests/units/recorded_calls.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

using testing::after_loss;
using testing::RecordedCalls;

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

TEST_F(ReplacedFile, IsAsItWasWhicheverCallFails) {
    const std::string one(1500, '1');
    const std::string two(2000, '2');
    std::size_t failed = 0;
    for (std::size_t nth = 1;; ++nth) {
        ASSERT_EQ(replace_file(folder_ / "a", one), 0);
        RecordedCalls calls(nth);
        const int code = replace_file(folder_ / "a", two, calls);
        if (!calls.has_failed()) break;
        ++failed;
        EXPECT_EQ(code, ENOSPC) << "call " << nth;
        // The last call brings the new name to the disk: it is there, and whether it stays nobody knows.
        const bool is_last = calls.calls().back().kind == RecordedCalls::Kind::sync_folder;
        EXPECT_EQ(content(folder_ / "a"), is_last ? two : one) << "call " << nth;
        EXPECT_EQ(files(), 1U) << "call " << nth;
    }
    EXPECT_EQ(failed, 8U);  // create, three writes, sync, close, rename, sync of the folder
}

TEST_F(ReplacedFile, GoesOnWhereACallWasInterrupted) {
    for (const std::size_t nth : {1U, 2U}) {
        RecordedCalls calls(nth, EINTR);
        EXPECT_EQ(replace_file(folder_ / "a", "new", calls), 0);
        EXPECT_EQ(content(folder_ / "a"), "new");
    }
}

TEST_F(ReplacedFile, IsWholeAfterALossOfPowerAtAnyMoment) {
    const std::string one(1500, '1');
    const std::string two(2000, '2');
    ASSERT_EQ(replace_file(folder_ / "a", one), 0);
    RecordedCalls calls;
    ASSERT_EQ(replace_file(folder_ / "a", two, calls), 0);
    const std::string name = std::filesystem::canonical(folder_ / "a");
    std::mt19937 random(24);
    for (std::size_t first = 0; first <= calls.calls().size(); ++first) {
        for (int loss = 0; loss < 200; ++loss) {
            const std::string left = after_loss(calls.calls(), first, name, one, random);
            ASSERT_TRUE(left == two || (left == one && first < calls.calls().size()))
                << "after " << first << " calls: " << left.size() << " bytes";
        }
    }
}

}  // namespace
}  // namespace joulecast
