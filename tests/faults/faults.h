#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <new>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "joulecast/error.h"

namespace joulecast::testing {

/// A fresh folder, in memory where the machine has one there.
class FaultyFolder : public ::testing::Test {
  protected:
    void SetUp() override {
        const bool has_memory = std::filesystem::is_directory("/dev/shm") && ::access("/dev/shm", W_OK) == 0;
        folder = std::filesystem::path(has_memory ? "/dev/shm" : ::testing::TempDir()) /
                 ("joulecast-faults-" + std::to_string(::getpid()));
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
    }
    void TearDown() override { std::filesystem::remove_all(folder); }

    std::filesystem::path folder;
};

/// Every one with JOULECAST_FAULTS=all (./check --full), else as many as there is time for.
inline std::int64_t most_faults(std::int64_t in_short) {
    const char* named = std::getenv("JOULECAST_FAULTS");
    return named != nullptr && std::string_view(named) == "all" ? std::numeric_limits<std::int64_t>::max() : in_short;
}

/// How an action under a fault ended.
enum class Ended { well, badly };

/// An Error, or no memory: anything else comes out, and ends the test.
template <class Action>
Ended ending_of(const Action& action) {
    try {
        action();
        return Ended::well;
    } catch (const Error&) {
        return Ended::badly;
    } catch (const std::bad_alloc&) {
        return Ended::badly;
    }
}

/// Lets each of what `action` asks for fail in turn, `most` of them at even steps, once alone and once with all after
/// it. `prepare` comes before each and `check` after it, both without a fault. Returns how many failed.
template <class Fault, class Prepare, class Action, class Check>
std::int64_t fail_each(const std::string& name, std::int64_t most, const Prepare& prepare, const Action& action,
                       const Check& check) {
    prepare();
    std::int64_t asked = 0;
    {
        const Fault none(std::numeric_limits<std::int64_t>::max());
        action();
        asked = none.asked();
    }
    EXPECT_GT(asked, 0) << name;
    const std::int64_t step = asked / most + 1;
    std::int64_t failed = 0;
    for (std::int64_t nth = 1; nth <= asked; nth += step) {
        for (const bool lasts : {false, true}) {
            const ::testing::ScopedTrace trace(__FILE__, __LINE__,
                                               name + ", fault " + std::to_string(nth) + " of " +
                                                   std::to_string(asked) + (lasts ? " and all after it" : ""));
            prepare();
            Ended ended = Ended::well;
            {
                Fault fault(nth, lasts);
                ended = ending_of(action);
                failed += fault.has_failed() ? 1 : 0;
            }
            check(ended);
            if (::testing::Test::HasFailure()) return failed;
        }
    }
    return failed;
}

}  // namespace joulecast::testing
