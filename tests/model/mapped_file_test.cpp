#include "joulecast/model/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <string>

#include "joulecast/error.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;

std::string message(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "(no error)";
}

/// A file of this test run, removed at the end.
class WrittenFile {
  public:
    WrittenFile(const std::string& name, const std::string& text)
        : path_(std::filesystem::path(::testing::TempDir()) / ("mapped_file_test_" + name)) {
        std::ofstream(path_, std::ios::binary) << text;
    }
    ~WrittenFile() { std::filesystem::remove(path_); }
    WrittenFile(const WrittenFile&) = delete;
    WrittenFile& operator=(const WrittenFile&) = delete;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

TEST(MappedFile, HoldsTheBytesOfTheFile) {
    const WrittenFile written("bytes", "seconds");
    const MappedFile file(written.path(), "table", 7);
    ASSERT_EQ(file.bytes().size(), 7U);
    EXPECT_EQ(std::memcmp(file.bytes().data(), "seconds", 7), 0);
}

TEST(MappedFile, TakesAnEmptyFile) {
    const WrittenFile written("empty", "");
    EXPECT_TRUE(MappedFile(written.path(), "table", 7).bytes().empty());
}

TEST(MappedFile, RefusesWhatIsTooLargeMissingOrNoFile) {
    const WrittenFile written("large", std::string(2097153, 'x'));  // two MiB and a byte
    const auto open = [](const std::filesystem::path& path) {
        return message([&] { const MappedFile file(path, "table", 2097152); });
    };
    EXPECT_THAT(open(written.path()), HasSubstr("large is larger than 2 MiB"));
    EXPECT_THAT(open("/nowhere/at/all"), HasSubstr("cannot read table /nowhere/at/all: No such file"));
    EXPECT_THAT(open(::testing::TempDir()), HasSubstr("it is not a plain file"));
}

}  // namespace
}  // namespace joulecast
