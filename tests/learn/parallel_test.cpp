#include "joulecast/learn/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <string>
#include <vector>

namespace joulecast {
namespace {

TEST(InParallel, DoesEveryTaskOnce) {
    for (const unsigned threads : {1U, 3U, 20U}) {
        std::vector<std::atomic<int>> done(10);
        in_parallel(done.size(), threads, [&](std::size_t task) { ++done[task]; });
        for (const auto& times : done) EXPECT_EQ(times, 1) << threads;
    }
    in_parallel(0, 4, [](std::size_t) { FAIL(); });
}

TEST(InParallel, WorksOnSeveralAtOnce) {
    // Each waits for the other: with one thread, or one task after the other, this would not end.
    std::latch both(2);
    in_parallel(2, 2, [&](std::size_t) { both.arrive_and_wait(); });
    EXPECT_TRUE(both.try_wait());
}

TEST(InParallel, EndsAllTasksAndThrowsWhatTheFirstFailedOneThrew) {
    std::atomic<int> done = 0;
    try {
        in_parallel(6, 2, [&](std::size_t task) {
            ++done;
            if (task == 4 || task == 2) throw std::runtime_error(std::to_string(task));
        });
        FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "2");
    }
    EXPECT_EQ(done, 6);
}

}  // namespace
}  // namespace joulecast
