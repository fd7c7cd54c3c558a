#include <sqlite3.h>

#include <stdexcept>

#include "tests/faults/countdown.h"
#include "tests/faults/failing_allocation.h"

namespace joulecast::testing {

namespace {

constinit Countdown of_sqlite;
sqlite3_mem_methods malloc_of_sqlite;

}  // namespace

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
