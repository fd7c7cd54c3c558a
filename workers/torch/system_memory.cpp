#include "workers/torch/system_memory.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>

#include <malloc.h>
#include <sys/resource.h>

namespace joulecast::torch_worker {

namespace {

/// The number after the key in a file of lines like "file 4096".
std::optional<double> plain_line(const std::string& path, const std::string& key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(key)) return std::strtod(line.c_str() + key.size(), nullptr);
    }
    return std::nullopt;
}

/// The same for lines like "MemAvailable:  123 kB", in bytes.
std::optional<double> kib_line(const std::string& path, const std::string& key) {
    const auto kib = plain_line(path, key);
    return kib ? std::optional(*kib * 1024.0) : std::nullopt;
}

std::optional<double> number_in(const std::string& path) {
    std::ifstream file(path);
    double value = 0.0;
    if (file >> value) return value;
    return std::nullopt;
}

}  // namespace

double available_memory_bytes(const std::string& root) {
    double available = kib_line(root + "/proc/meminfo", "MemAvailable:").value_or(0.0);
    // Control group v2, as containers see it; "max" is no number and means no limit.
    const auto limit = number_in(root + "/sys/fs/cgroup/memory.max");
    const auto used = number_in(root + "/sys/fs/cgroup/memory.current");
    const double reclaimable = plain_line(root + "/sys/fs/cgroup/memory.stat", "file ").value_or(0.0);  // page cache
    if (limit && used) available = std::min(available, std::max(0.0, *limit - *used + reclaimable));
    return available;
}

void limit_memory_growth() {
    const double available = available_memory_bytes();
    const auto held = kib_line("/proc/self/status", "VmData:");
    if (!(available > 0.0) || !held) return;
    rlimit limit{};
    if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
    const double allowed = *held + 0.95 * available;
    limit.rlim_cur = std::min(limit.rlim_max, static_cast<rlim_t>(allowed));
    setrlimit(RLIMIT_DATA, &limit);
}

void keep_freed_memory() {
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);  // never
    mallopt(M_TOP_PAD, 64 << 20);
}

void return_freed_memory() {
    // Kept where it is little: pages that went back have to be handed out again, and a virtual machine's host may have
    // taken them in the meantime (one linear layer's backward pass: 61 ms, and 266 ms on such pages).
    constexpr double most_kept = 0.25;  // of what is still available
    if (static_cast<double>(mallinfo2().fordblks) > most_kept * available_memory_bytes()) malloc_trim(0);
}

}  // namespace joulecast::torch_worker
