// Memory and disk fail while a predictor is written or read.
#include "joulecast/model/jcp.h"

#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/faults/failing_allocation.h"
#include "tests/faults/faults.h"
#include "tests/units/recorded_calls.h"

namespace joulecast {
namespace {

using namespace joulecast::testing;
namespace fs = std::filesystem;

class FaultyJcp : public FaultyFolder {
  protected:
    void SetUp() override {
        FaultyFolder::SetUp();
        write_jcp(before(), file());
    }

    static Predictor sample(int version) {
        return read_jcp(std::string(JOULECAST_SOURCE_DIR) + "/tests/model/data/version_" + std::to_string(version) +
                        ".jcp");
    }
    static const Predictor& before() {
        static const Predictor predictor = sample(3);
        return predictor;
    }
    static const Predictor& after() {
        static const Predictor predictor = sample(4);
        return predictor;
    }

    fs::path file() const { return folder / "a.jcp"; }
    std::size_t files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
    }
    /// The content of the file, which is whole.
    std::vector<std::byte> found() const { return to_jcp(read_jcp(file())); }
};

TEST_F(FaultyJcp, IsWhatItWasWhicheverAllocationOfItsWriterFails) {
    const auto old_bytes = to_jcp(before());
    const auto new_bytes = to_jcp(after());
    ASSERT_NE(old_bytes, new_bytes);
    const auto prepare = [&] { write_jcp(before(), file()); };
    const auto action = [&] { write_jcp(after(), file()); };
    const auto check = [&](Ended ended) {
        EXPECT_EQ(found(), ended == Ended::well ? new_bytes : old_bytes);
        EXPECT_EQ(files(), 1U) << "something was left beside it";
    };
    std::cout << fail_each<FailingAllocation>("write", most_faults(2000), prepare, action, check)
              << " allocations failed in turn\n";
}

TEST_F(FaultyJcp, IsReadWholeOrNotAtAllWhicheverAllocationFails) {
    const auto whole = to_jcp(before());
    Predictor read;
    const auto prepare = [&] { read = {}; };
    const auto action = [&] { read = read_jcp(file()); };
    const auto check = [&](Ended ended) { EXPECT_TRUE(ended == Ended::badly || to_jcp(read) == whole); };
    std::cout << fail_each<FailingAllocation>("read", most_faults(200), prepare, action, check)
              << " allocations failed in turn\n";
}

TEST_F(FaultyJcp, IsWhatItWasWhicheverCallOnTheDiskFails) {
    const auto old_bytes = to_jcp(before());
    const auto new_bytes = to_jcp(after());
    std::int64_t failed = 0;
    for (std::size_t nth = 1;; ++nth) {
        write_jcp(before(), file());
        RecordedCalls calls(nth);
        const Ended ended = ending_of([&] { write_jcp(after(), file(), calls); });
        if (!calls.has_failed()) break;
        ++failed;
        SCOPED_TRACE("call " + std::to_string(nth));
        EXPECT_EQ(ended, Ended::badly);
        // The last call brings the new name to the disk: it is there, and whether it stays nobody knows.
        const bool is_last = calls.calls().back().kind == RecordedCalls::Kind::sync_folder;
        EXPECT_EQ(found(), is_last ? new_bytes : old_bytes);
        EXPECT_EQ(files(), 1U) << "something was left beside it";
        if (HasFailure()) return;
    }
    EXPECT_GT(failed, 6);  // create, writes, sync, close, rename, sync of the folder
    std::cout << failed << " calls failed in turn\n";
}

TEST_F(FaultyJcp, IsTheOldOneOrTheNewAfterALossOfPowerAtAnyMoment) {
    const auto text = [](const std::vector<std::byte>& bytes) {
        return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    const std::string old_text = text(to_jcp(before()));
    const std::string new_text = text(to_jcp(after()));
    RecordedCalls calls;
    write_jcp(after(), file(), calls);
    const std::string name = fs::canonical(file());
    std::mt19937 random(24);
    const std::int64_t each = std::min<std::int64_t>(most_faults(2), 20);
    std::int64_t replayed = 0;
    for (std::size_t first = 0; first <= calls.calls().size(); ++first) {
        for (std::int64_t loss = 0; loss < each; ++loss, ++replayed) {
            const std::string left = after_loss(calls.calls(), first, name, old_text, random);
            ASSERT_TRUE(left == new_text || (left == old_text && first < calls.calls().size()))
                << "after " << first << " calls: " << left.size() << " bytes";
        }
    }
    std::cout << replayed << " losses of power replayed\n";
}

TEST_F(FaultyJcp, IsWhatItWasWhereTheNewOneHasNoRoom) {
    const auto old_bytes = to_jcp(before());
    const rlim_t size = to_jcp(after()).size();
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    for (const rlim_t room : {rlim_t{0}, rlim_t{1}, size / 2, size - 1}) {
        const rlimit less{room, limit.rlim_max};
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &less), 0);
        std::string why = "none";
        try {
            write_jcp(after(), file());
        } catch (const Error& error) {
            why = error.what();
        }
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
        EXPECT_THAT(why, ::testing::HasSubstr("cannot write predictor " + file().string()));
        EXPECT_EQ(found(), old_bytes);
        EXPECT_EQ(files(), 1U);
    }
    std::signal(SIGXFSZ, handler);
}

}  // namespace
}  // namespace joulecast
