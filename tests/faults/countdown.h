#pragma once

#include <atomic>
#include <cstdint>

namespace joulecast::testing {

/// How many calls are left until one fails. Counts on all threads, and allocates nothing.
class Countdown {
  public:
    void start(std::int64_t nth, bool lasts) {
        lasts_ = lasts;
        failed_ = false;
        nth_ = nth;
        left_ = nth;
        stopped_ = false;
    }
    bool stop() {
        stopped_ = true;
        return failed_;
    }
    std::int64_t asked() const { return nth_ - left_; }
    bool fails() {
        if (stopped_.load(std::memory_order_relaxed)) return false;
        const std::int64_t left = left_.fetch_sub(1);
        if (left > 1 || (left < 1 && !lasts_)) return false;
        failed_ = true;
        return true;
    }

  private:
    std::atomic<bool> stopped_ = true;
    std::int64_t nth_ = 0;
    std::atomic<std::int64_t> left_ = 0;
    std::atomic<bool> lasts_ = false;
    std::atomic<bool> failed_ = false;
};

}  // namespace joulecast::testing
