#pragma once

#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
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

/// Of each action as many as JOULECAST_FAULTS says (a number, or "all"), else as many as there is time for. SQLite asks
/// for memory 65,000 times while a database is opened and its tables are compared with ours: all of them take four
/// hours.
inline std::int64_t most_faults(std::int64_t in_short) {
    const char* named = std::getenv("JOULECAST_FAULTS");
    if (named == nullptr) return in_short;
    const std::string_view text = named;
    if (text == "all") return std::numeric_limits<std::int64_t>::max();
    std::int64_t most = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), most);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size() || most < 1)
        throw Error("JOULECAST_FAULTS is a number of faults, or all; not '" + std::string(text) + "'.");
    return most;
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
    std::cout << name << ": asked " << asked << " times, every " << step << ". fails in turn\n";
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
