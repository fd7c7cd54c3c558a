#include "workers/torch/threads.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <pthread.h>
#include <sched.h>

#include "joulecast/error.h"

#ifndef _OPENMP
#error "at::parallel_for runs on one thread where OpenMP is off: compile this file with -fopenmp"
#endif

namespace joulecast::torch_worker {

namespace {

int topology(int cpu, const char* what) {
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/" + what);
    int value = -1;
    file >> value;
    return value;
}

/// Processors this process may use, one of each physical core first, its hyper-thread siblings last; with the number
/// of cores.
std::pair<std::vector<int>, std::size_t> allowed_processors() {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    sched_getaffinity(0, sizeof mask, &mask);
    std::vector<int> firsts;
    std::vector<int> siblings;
    std::set<std::pair<int, int>> cores;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &mask)) continue;
        const int core = topology(cpu, "core_id");
        const bool first = core < 0 || cores.emplace(topology(cpu, "physical_package_id"), core).second;
        (first ? firsts : siblings).push_back(cpu);
    }
    const std::size_t count = firsts.size();
    firsts.insert(firsts.end(), siblings.begin(), siblings.end());
    return {firsts, count};
}

void pin_this_thread(int cpu) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(static_cast<std::size_t>(cpu), &mask);
    pthread_setaffinity_np(pthread_self(), sizeof mask, &mask);  // best effort: containers may forbid it
}

}  // namespace

int pin_threads(int threads) {
    // Read once, before this thread is pinned itself.
    static const auto [processors, cores] = allowed_processors();
    const std::size_t wanted = threads > 0 ? static_cast<std::size_t>(threads) : std::max<std::size_t>(cores, 1);
    if (wanted > processors.size()) {
        throw Error("cannot measure with " + std::to_string(threads) + " threads: this process may use " +
                    std::to_string(processors.size()) + " processors. Ask for at most that many.");
    }
    static std::size_t pinned = 0;
    if (pinned == wanted) return static_cast<int>(wanted);
    at::set_num_threads(static_cast<int>(wanted));
    // As many chunks as threads: each of the pool's threads takes the chunk of its own number and stays what it is.
    const auto count = static_cast<std::int64_t>(wanted);
    at::parallel_for(0, count, 1, [](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) pin_this_thread(processors[static_cast<std::size_t>(i)]);
    });
    pin_this_thread(processors[0]);
    pinned = wanted;
    return static_cast<int>(wanted);
}

}  // namespace joulecast::torch_worker
