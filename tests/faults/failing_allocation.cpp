#include "tests/faults/failing_allocation.h"

#include <cstdlib>
#include <new>

#include "tests/faults/countdown.h"

namespace {

constinit joulecast::testing::Countdown of_new;

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

}  // namespace joulecast::testing
