#include "joulecast/learn/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace joulecast {

unsigned thread_count(unsigned wanted) {
    // Each question to the system opens files of it, which can take longer than a forecast.
    static const unsigned all = std::max(1U, std::thread::hardware_concurrency());
    return wanted == 0 ? all : wanted;
}

void in_parallel(std::size_t tasks, unsigned threads, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    std::vector<std::exception_ptr> failures(tasks);
    const auto take_tasks = [&] {
        for (std::size_t task = next++; task < tasks; task = next++) {
            try {
                work(task);
            } catch (...) {
                failures[task] = std::current_exception();
            }
        }
    };
    {
        std::vector<std::jthread> others;
        for (std::size_t i = 1; i < std::min<std::size_t>(thread_count(threads), tasks); ++i)
            others.emplace_back(take_tasks);
        take_tasks();
    }
    for (const auto& failure : failures) {
        if (failure) std::rethrow_exception(failure);
    }
}

}  // namespace joulecast
