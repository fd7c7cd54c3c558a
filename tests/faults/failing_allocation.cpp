#include "tests/faults/failing_allocation.h"

#include <sqlite3.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <stdexcept>

namespace {

/// How many allocations are left until one fails.
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

constinit Countdown of_new;
constinit Countdown of_sqlite;
sqlite3_mem_methods malloc_of_sqlite;

void* allocated(std::size_t bytes) {
    void* memory = of_new.fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

void* allocated_or_null(std::size_t bytes) noexcept {
    return of_new.fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}

}  // namespace

void* operator new(std::size_t bytes) {
    return allocated(bytes);
}
void* operator new[](std::size_t bytes) {
    return allocated(bytes);
}
void* operator new(std::size_t bytes, const std::nothrow_t& /*quiet*/) noexcept {
    return allocated_or_null(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t& /*quiet*/) noexcept {
    return allocated_or_null(bytes);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t /*bytes*/) noexcept {
    std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t& /*quiet*/) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, const std::nothrow_t& /*quiet*/) noexcept {
    std::free(memory);
}

namespace joulecast::testing {

FailingAllocation::FailingAllocation(std::int64_t nth, bool lasts) {
    of_new.start(nth, lasts);
}

FailingAllocation::~FailingAllocation() {
    of_new.stop();
}

bool FailingAllocation::has_failed() {
    return of_new.stop();
}

std::int64_t FailingAllocation::asked() const {
    return of_new.asked();
}

void FailingSqliteAllocation::take_over() {
    if (malloc_of_sqlite.xMalloc != nullptr) return;
    sqlite3_shutdown();
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &malloc_of_sqlite) != SQLITE_OK)
        throw std::runtime_error("SQLite is in use already");
    sqlite3_mem_methods ours = malloc_of_sqlite;
    ours.xMalloc = [](int bytes) { return of_sqlite.fails() ? nullptr : malloc_of_sqlite.xMalloc(bytes); };
    ours.xRealloc = [](void* memory, int bytes) {
        return of_sqlite.fails() ? nullptr : malloc_of_sqlite.xRealloc(memory, bytes);
    };
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &ours) != SQLITE_OK || sqlite3_initialize() != SQLITE_OK)
        throw std::runtime_error("SQLite does not take its memory from us");
}

FailingSqliteAllocation::FailingSqliteAllocation(std::int64_t nth, bool lasts) {
    of_sqlite.start(nth, lasts);
}

FailingSqliteAllocation::~FailingSqliteAllocation() {
    of_sqlite.stop();
}

bool FailingSqliteAllocation::has_failed() {
    return of_sqlite.stop();
}

std::int64_t FailingSqliteAllocation::asked() const {
    return of_sqlite.asked();
}

}  // namespace joulecast::testing
