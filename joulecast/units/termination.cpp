#include "joulecast/units/termination.h"

#include <cstdlib>
#include <exception>
#include <new>

#include "joulecast/units/printable.h"

namespace joulecast {

namespace {

const char* running_program = "";
std::terminate_handler before = nullptr;

bool is_lack_of_memory(const std::exception_ptr& why) {
    try {
        std::rethrow_exception(why);
    } catch (const std::bad_alloc&) {
        return true;
    } catch (...) {
        return false;
    }
}

[[noreturn]] void end() {
    const std::exception_ptr why = std::current_exception();
    if (why && is_lack_of_memory(why)) {
        write_error_line(running_program, "out of memory");
        std::_Exit(1);
    }
    // Anything else is a bug, and somebody wants its core.
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
