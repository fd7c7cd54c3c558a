#include "joulecast/units/termination.h"

#include <csignal>
#include <new>
#include <stdexcept>

#include <gtest/gtest.h>

namespace joulecast {
namespace {

/// As the destructor of nlohmann's JSON, which allocates.
template <class Exception>
struct ThrowsAtItsEnd {
    Exception exception;
    ~ThrowsAtItsEnd() { throw_it(exception); }
    static void throw_it(const Exception& exception) { throw exception; }
};

template <class Exception>
void end_by(const Exception& exception) {
    end_in_order_without_memory("joulecast");
    const ThrowsAtItsEnd<Exception> object{exception};
}

// A sweep that ran out of memory while a line of the worker's was thrown away ended with an abort and a core.
TEST(Termination, WithoutMemoryIsAFailureThatSaysSo) {
    EXPECT_EXIT(end_by(std::bad_alloc()), ::testing::ExitedWithCode(1), "^joulecast: out of memory\n$");
}

TEST(Termination, ForAnyOtherReasonIsAnAbort) {
    EXPECT_EXIT(end_by(std::runtime_error("a bug")), ::testing::KilledBySignal(SIGABRT), "a bug");
}

TEST(Termination, WithoutAnExceptionIsAnAbort) {
    EXPECT_EXIT((end_in_order_without_memory("joulecast"), std::terminate()), ::testing::KilledBySignal(SIGABRT), "");
}

}  // namespace
}  // namespace joulecast
