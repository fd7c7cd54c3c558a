#pragma once

#include <cstddef>
#include <functional>

namespace joulecast {

/// As many threads as asked for; 0: as many as the machine has.
unsigned thread_count(unsigned wanted);

/// Calls work(i) for every i below `tasks`, on up to thread_count(threads) threads, the caller's among them; tasks
/// begin in order. When all have ended, throws what the first of those that failed, by number, has thrown.
void in_parallel(std::size_t tasks, unsigned threads, const std::function<void(std::size_t)>& work);

}  // namespace joulecast
