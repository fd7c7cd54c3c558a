#include "joulecast/units/termination.h"

#include <cstdlib>
#include <exception>
#include <new>

#include "joulecast/units/printable.h"

namespace joulecast {

namespace {

const char* running_program = "";
std::terminate_handler before = nullptr;

[[noreturn]] void end() {
    if (const std::exception_ptr why = std::current_exception()) {
        try {
            std::rethrow_exception(why);
        } catch (const std::bad_alloc&) {
            write_error_line(running_program, "out of memory");
            std::_Exit(1);
        } catch (...) {
            // Any other is a bug, and somebody wants its core.
        }
    }
    if (before != nullptr) before();
    std::abort();
}

}  // namespace

void end_in_order_without_memory(const char* program) {
    running_program = program;
    const std::terminate_handler earlier = std::set_terminate(end);
    if (earlier != end) before = earlier;
}

}  // namespace joulecast
