// Files, lines and cells that somebody has made as large as they are let be: each is read within 512 MB of memory or
// refused by a message that names it.
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_command.h"
#include "tests/graph/stored_zip.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using namespace joulecast::testing;

constexpr std::size_t megabyte = 1'000'000;
constexpr long most_kilobytes = 512 << 10;

struct Taken {
    int status = -1;
    long kilobytes = 0;
    std::string said;
};

class LargeInput : public ::testing::Test {
  protected:
    /// Files in memory, where the machine has room for them there.
    static void SetUpTestSuite() {
        if (::access("/dev/shm", W_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 1);
    }

    /// Runs `joulecast <arguments>` and looks at its memory; what it answers is thrown away.
    Taken run(const std::string& arguments, const std::string& input = "/dev/null") const {
        const std::string line =
            "exec '" + program() + "' " + arguments + " <'" + input + "' >/dev/null 2>'" + folder.file("said") + "'";
        const pid_t child = ::fork();
        if (child == 0) {
            ::execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
            ::_exit(127);
        }
        int status = 0;
        rusage used{};
        ::wait4(child, &status, 0, &used);
        return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), used.ru_maxrss,
                read_file(folder.path() / "said")};
    }
    static std::string program() {
        std::string path = run_shell("printf %s \"$JOULECAST\"").out;
        return path;
    }
    void expect_refused(const Taken& taken, const std::string& why) const {
        EXPECT_EQ(taken.status, 1);
        EXPECT_THAT(taken.said, HasSubstr(why));
        EXPECT_LT(taken.kilobytes, most_kilobytes);
    }
    void expect_read(const Taken& taken) const {
        EXPECT_EQ(taken.status, 0) << taken.said;
        EXPECT_LT(taken.kilobytes, most_kilobytes);
    }
    std::string pt2(const std::string& name, const std::string& model) const {
        write_file(folder.path() / name, stored_zip("x/models/model.json", model));
        return folder.file(name);
    }
    /// A bag of that node until the text has that size.
    std::string bag(const std::string& name, const std::string& node, std::size_t bytes) const {
        std::string text = R"({"schema":"joulecast.graph/1","name":"x","has_edges":false,"nodes":[)" + node;
        while (text.size() + node.size() + 3 < bytes) text += "," + node;
        write_file(folder.path() / name, text + "]}");
        return folder.file(name);
    }

    TemporaryFolder folder;
};

std::string repeated(const std::string& part, std::size_t bytes) {
    std::string text;
    while (text.size() + part.size() < bytes) text += part;
    return text;
}

TEST_F(LargeInput, AModelLargerThanAnyIsRefusedWhateverItHolds) {
    const std::string text = pt2("text.pt2", "{\"a\":\"" + std::string(68 * megabyte, 'x') + "\"}");
    expect_refused(run("extract " + text), "unpacks to more than 64 MB");
    const std::string numbers = pt2("numbers.pt2", "{\"a\":[" + repeated("0,", 20 * megabyte) + "0]}");
    expect_refused(run("extract " + numbers), "numbers.pt2: its JSON holds more than 8 million values");
}

TEST_F(LargeInput, GraphsAsLargeAsTheyMayBeAreRead) {
    const std::string node =
        R"x({"operation":"aten::conv2d(input=f32[4,32,56,56], weight=f32[64,32,3,3], bias=f32[64], padding=[1,1])",)x"
        R"("module":"a.b.c.d.e","source":"/x/y/z.py:12","outputs":["f32[4,64,56,56]"],"count":3})";
    expect_read(run("extract " + bag("large.graph.json", node, 33 * megabyte)));
}

TEST_F(LargeInput, RequestsAsLargeAsTheyMayBeAreAnswered) {
    const std::string nodes = repeated(R"x({"operation":"aten::relu(self=f32[8,16])"},)x", 15 * megabyte);
    const auto request = [&](const std::string& more) {
        return R"({"device":"a100-40g-pcie","graph":{"schema":"joulecast.graph/1","name":"x","has_edges":false,)" +
               more + "}}\n";
    };
    write_file(folder.path() / "in", request("\"nodes\":[" + nodes + "{\"operation\":\"aten::relu(self=f32[8])\"}]"));
    const Taken taken = run("predict --stdin", folder.file("in"));
    EXPECT_LT(taken.kilobytes, most_kilobytes) << taken.said;
    EXPECT_EQ(taken.status, 0) << taken.said;
}

TEST_F(LargeInput, ALineOfAWorkerIsReadOrRefused) {
    for (const std::string part : {"{},", "\"01234567\","}) {
        write_file(folder.path() / "line", R"({"protocol":1,"id":"hello-1","response":"hello","hello":{"x":[)" +
                                               repeated(part, 60 * megabyte) + "0]}}\n");
        const Taken taken = run("profile resnet18 --db '" + folder.file("a.db") + "' --worker \"read line; cat '" +
                                folder.file("line") + "'; read line\"");
        expect_refused(taken, "cannot start the worker");
    }
}

/// Beyond what our own connections let anybody write.
void write_cell(const std::string& file, const std::string& sql) {
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open(file.c_str(), &connection), SQLITE_OK);
    sqlite3_exec(connection, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", nullptr, nullptr, nullptr);
    EXPECT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(connection);
    sqlite3_close(connection);
}

TEST_F(LargeInput, ACellOf300MegabytesIsRefusedByEveryVerb) {
    const std::string sound = std::string(JOULECAST_SOURCE_DIR) + "/tests/dataset/data/version_1.csv";
    const std::string file = folder.file("a.db");
    ASSERT_EQ(run("import csv '" + sound + "' --db '" + file + "'").status, 0);
    write_cell(file, "UPDATE operations SET message = CAST(zeroblob(300000000) AS TEXT) WHERE id = 1");
    for (const std::string& verb :
         {"export --db '" + file + "'", "train --db '" + file + "' -o '" + folder.file("a.jcp") + "'",
          "merge '" + file + "' --into '" + folder.file("b.db") + "'"})
        expect_refused(run(verb), "database '" + file + "' has a row of more than 64 MB");
    EXPECT_LT(run("info '" + file + "'").kilobytes, most_kilobytes);
}

// Each row is read with its session: 2 MB of settings became 5 GB.
TEST_F(LargeInput, ALongTextOfASessionIsRefused) {
    const std::string sound = std::string(JOULECAST_SOURCE_DIR) + "/datasets/cpu-amd-epyc-2c-batch4.csv";
    const std::string file = folder.file("a.db");
    ASSERT_EQ(run("import csv '" + sound + "' --db '" + file + "'").status, 0);
    write_cell(file, "UPDATE sessions SET settings = CAST(zeroblob(2000000) AS TEXT)");
    const Taken taken = run("export --db '" + file + "'");
    expect_refused(taken, "database '" + file + "' is damaged: settings of row ");
    EXPECT_THAT(taken.said, HasSubstr("is longer than 4096 bytes"));
}

}  // namespace
}  // namespace joulecast
