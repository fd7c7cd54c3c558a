#include "workers/torch/outcome.h"

#include <new>

#include <c10/util/Exception.h>

namespace joulecast::torch_worker {

namespace {

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n')).substr(0, 500);
}

bool says_out_of_memory(const std::string& message) {
    // DefaultCPUAllocator and cuBLAS throw a plain c10::Error.
    return message.find("not enough memory") != std::string::npos ||
           message.find("can't allocate") != std::string::npos || message.find("out of memory") != std::string::npos ||
           message.find("CUBLAS_STATUS_ALLOC_FAILED") != std::string::npos;
}

}  // namespace

Ending run_trial(const std::function<void()>& trial) {
    try {
        trial();
        return {};
    } catch (const c10::OutOfMemoryError& error) {
        return {Outcome::out_of_memory, first_line(error.what_without_backtrace())};
    } catch (const std::bad_alloc&) {
        return {Outcome::out_of_memory, "no memory left"};
    } catch (const c10::Error& error) {
        const std::string message = error.what_without_backtrace();
        return {says_out_of_memory(message) ? Outcome::out_of_memory : Outcome::unsupported, first_line(message)};
    } catch (const std::exception& error) {
        const std::string message = error.what();  // of Python, perhaps
        return {says_out_of_memory(message) ? Outcome::out_of_memory : Outcome::unsupported, first_line(message)};
    }
}

}  // namespace joulecast::torch_worker
