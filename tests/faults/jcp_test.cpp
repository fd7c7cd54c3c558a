// Memory and disk fail while a predictor is written or read.
#include "joulecast/model/jcp.h"

#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

#include <gmock/gmock.h>

#include "tests/faults/failing_allocation.h"
#include "tests/faults/faults.h"

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
