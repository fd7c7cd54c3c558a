#include "joulecast/units/replaced_file.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace joulecast {
namespace {

namespace fs = std::filesystem;

/// Asks the system, and keeps what was asked; the `failing`-th call fails instead, from 1.
class RecordedCalls final : public FileCalls {
  public:
    enum class Kind { create, write, sync_file, sync_folder, close, rename, remove };
    struct Call {
        Kind kind;
        int file = -1;
        std::string path;  ///< of a rename, where to
        std::string from;
        std::string bytes;
    };

    explicit RecordedCalls(std::size_t failing = 0, int code = ENOSPC) : failing_(failing), code_(code) {}

    const std::vector<Call>& calls() const { return calls_; }
    bool has_failed() const { return failing_ > 0 && calls_.size() >= failing_; }

    int create(const fs::path& path) override {
        if (fails({Kind::create, -1, path, "", ""})) return -1;
        return calls_.back().file = FileCalls::create(path);
    }
    int open_folder(const fs::path& path) override {
        const int file = FileCalls::open_folder(path);
        folders_.insert(file);
        return file;
    }
    std::ptrdiff_t write(int file, const char* bytes, std::size_t count) override {
        count = std::min<std::size_t>(count, 700);  // the system may take less than all
        if (fails({Kind::write, file, "", "", std::string(bytes, count)})) return -1;
        return FileCalls::write(file, bytes, count);
    }
    int sync(int file) override {
        const Kind kind = folders_.contains(file) ? Kind::sync_folder : Kind::sync_file;
        return fails({kind, file, "", "", ""}) ? -1 : FileCalls::sync(file);
    }
    int close(int file) override {
        const bool is_folder = folders_.erase(file) > 0;
        const int result = FileCalls::close(file);
        return !is_folder && fails({Kind::close, file, "", "", ""}) ? -1 : result;
    }
    int rename(const fs::path& from, const fs::path& to) override {
        return fails({Kind::rename, -1, to, from, ""}) ? -1 : FileCalls::rename(from, to);
    }
    int remove(const fs::path& path) override {
        return fails({Kind::remove, -1, path, "", ""}) ? -1 : FileCalls::remove(path);
    }

  private:
    bool fails(Call call) {
        calls_.push_back(std::move(call));
        errno = code_;
        return calls_.size() == failing_;
    }

    std::size_t failing_;
    int code_;
    std::vector<Call> calls_;
    std::set<int> folders_;
};

/// What the disk holds under the name after the first calls and a loss of power: of what no sync had brought there, any
/// part may have come, in any order.
std::string after_loss(const std::vector<RecordedCalls::Call>& calls, std::size_t first, const std::string& name,
                       const std::string& before, std::mt19937& random) {
    using Kind = RecordedCalls::Kind;
    struct Content {
        std::string synced, written;
    };
    std::map<std::string, Content> contents = {{"before", {before, before}}};
    std::map<int, std::string> files;                            // which content an open file has
    std::map<std::string, std::string> names{{name, "before"}};  // as the disk has them
    std::map<std::string, std::string> names_now = names;
    std::vector<std::pair<std::string, std::string>> unsynced;  // names and what they became; empty: nothing
    const auto now = [&](const std::string& path, const std::string& content) {
        names_now[path] = content;
        unsynced.emplace_back(path, content);
    };
    for (std::size_t i = 0; i < first; ++i) {
        const RecordedCalls::Call& call = calls[i];
        if (call.kind == Kind::create) now(call.path, files[call.file] = call.path);
        if (call.kind == Kind::write) contents[files.at(call.file)].written += call.bytes;
        if (call.kind == Kind::sync_file) contents[files.at(call.file)].synced = contents[files.at(call.file)].written;
        if (call.kind == Kind::rename) {
            now(call.path, names_now.at(call.from));
            now(call.from, "");
        }
        if (call.kind == Kind::remove) now(call.path, "");
        if (call.kind == Kind::sync_folder) {
            names = names_now;
            unsynced.clear();
        }
    }
    for (const auto& [path, content] : unsynced)
        if (random() % 2 == 0) names[path] = content;
    const Content& left = contents[names[name]];
    return left.written.substr(0, left.synced.size() + random() % (left.written.size() - left.synced.size() + 1));
}

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
