#pragma once

#include <cstdint>

namespace joulecast::testing {

/// While it lives, the nth allocation by `new` of this program fails, counted from 1 on all threads, and where it
/// lasts all after it. One at a time.
class FailingAllocation {
  public:
    explicit FailingAllocation(std::int64_t nth, bool lasts = false);
    ~FailingAllocation();
    FailingAllocation(const FailingAllocation&) = delete;
    FailingAllocation& operator=(const FailingAllocation&) = delete;

    /// Ends it: whether it came to that.
    bool has_failed();
    /// How many there have been.
    std::int64_t asked() const;
};

/// The same for SQLite's own memory, which it asks malloc for. From take_over() on, which comes before the first
/// connection.
class FailingSqliteAllocation {
  public:
    static void take_over();

    explicit FailingSqliteAllocation(std::int64_t nth, bool lasts = false);
    ~FailingSqliteAllocation();
    FailingSqliteAllocation(const FailingSqliteAllocation&) = delete;
    FailingSqliteAllocation& operator=(const FailingSqliteAllocation&) = delete;

    bool has_failed();
    std::int64_t asked() const;
};

}  // namespace joulecast::testing
