#include "joulecast/units/scratch_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "joulecast/error.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// $TMPDIR for the length of a test.
class Tmpdir {
  public:
    explicit Tmpdir(const std::string& value) {
        if (const char* set = std::getenv("TMPDIR")) before_ = set;
        ::setenv("TMPDIR", value.c_str(), 1);
    }
    ~Tmpdir() { before_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before_.c_str(), 1); }
    Tmpdir(const Tmpdir&) = delete;
    Tmpdir& operator=(const Tmpdir&) = delete;

  private:
    std::string before_;
};

std::string failure_of(auto make) {
    try {
        make();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(ScratchFolder, IsItsOwnersAloneAndGoneWithAllThatLiesInIt) {
    fs::path path;
    {
        const ScratchFolder folder("joulecast-test");
        const ScratchFolder other("joulecast-test");
        path = folder.path();
        EXPECT_NE(path, other.path());
        EXPECT_THAT(path.filename().string(), StartsWith("joulecast-test-"));
        EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
        fs::create_directory(path / "deeper");
        std::ofstream(path / "deeper" / "file") << "text";
    }
    EXPECT_FALSE(fs::exists(path));
}

TEST(ScratchFolder, LiesWhereItIsAsked) {
    const ScratchFolder parent("joulecast-test");
    EXPECT_EQ(ScratchFolder("page", parent.path()).path().parent_path(), parent.path());
    EXPECT_TRUE(fs::is_empty(parent.path()));
}

TEST(ScratchFolder, SaysWhereItCannotBeMade) {
    const ScratchFolder parent("joulecast-test");
    const fs::path missing = parent.path() / "none";
    EXPECT_THAT(failure_of([&] { const ScratchFolder folder("page", missing); }),
                HasSubstr("cannot make a folder in " + missing.string() + ": No such file"));
    const Tmpdir tmpdir(missing.string());
    EXPECT_THAT(failure_of([] { const ScratchFolder folder("page"); }), HasSubstr("Set TMPDIR"));
}

}  // namespace
}  // namespace joulecast
