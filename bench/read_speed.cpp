// How long reading and counting a graph takes, and the most memory the process held: one file a process, so that the
// peak is its own. usage: read_speed FILE [SYMBOL=VALUE...]
// Prints one line of JSON: the first read (file cache as it was), the fastest of the next ones, bytes read, peak.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"

namespace {

std::int64_t read_and_count(const std::string& file, const joulecast::SymbolValues& values) {
    std::int64_t flops = 0;
    for (const auto& [operation, calls] : joulecast::count_operations(joulecast::open_model(file, "", values)))
        flops += calls * joulecast::forward_counts(operation).flop;
    return flops;
}

double milliseconds_of(const std::string& file, const joulecast::SymbolValues& values, std::int64_t& flops) {
    const auto start = std::chrono::steady_clock::now();
    flops = read_and_count(file, values);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// Bytes this process has asked the system to read, files and pipes alike.
std::int64_t bytes_read() {
    std::ifstream io("/proc/self/io");
    std::string key;
    std::int64_t value = 0;
    io >> key >> value;
    return key == "rchar:" ? value : -1;
}

int run(int argc, char** argv) {
    joulecast::SymbolValues values;
    for (int i = 2; i < argc; ++i) {
        const std::string setting = argv[i];
        const std::size_t equals = setting.find('=');
        values[setting.substr(0, equals)] = std::stoll(setting.substr(equals + 1));
    }
    std::int64_t flops = 0;
    const std::int64_t before = bytes_read();
    const double first = milliseconds_of(argv[1], values, flops);
    const std::int64_t read = bytes_read() - before;
    double best = first;
    for (int i = 0; i < 10; ++i) best = std::min(best, milliseconds_of(argv[1], values, flops));
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf(
        "{\"file\":\"%s\",\"first_ms\":%.2f,\"best_ms\":%.2f,\"read_bytes\":%lld,\"peak_mb\":%.1f,\"flops\":%lld}\n",
        argv[1], first, best, static_cast<long long>(read), static_cast<double>(usage.ru_maxrss) / 1024.0,
        static_cast<long long>(flops));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fputs("usage: read_speed FILE [SYMBOL=VALUE...]\n", stderr);
        return 2;
    }
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "read_speed: %s\n", error.what());
        return 1;
    }
}
