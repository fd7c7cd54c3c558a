// How time and memory of growing trees grow with the rows: synthetic rows of ten columns, a random forest of as many
// trees as threads. usage: growth_speed ROWS THREADS
// Prints one line of JSON: seconds, the same over rows x log2(rows), and the most memory the process held beyond what
// samples and targets take. One size a process, so that the peak is its own.
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "joulecast/learn/learner.h"
#include "joulecast/learn/random.h"

namespace {

constexpr std::size_t columns = 10;

int run(std::size_t rows, unsigned threads) {
    joulecast::Samples samples(rows, columns);
    std::vector<double> targets(rows);
    joulecast::Random random(1);
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t c = 0; c < columns; ++c) samples.set(i, c, static_cast<float>(random.uniform()));
        targets[i] = std::sin(6 * static_cast<double>(samples.at(i, 0))) + static_cast<double>(samples.at(i, 1)) +
                     static_cast<double>(samples.at(i, 2) * samples.at(i, 3)) + 0.1 * random.uniform();
    }
    auto settings = joulecast::settings(joulecast::Learner::random_forest, threads, 1);
    settings.threads = threads;
    const auto start = std::chrono::steady_clock::now();
    const joulecast::Forest forest = joulecast::fit_forest(samples, targets, settings);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto n = static_cast<double>(rows);
    const double own_mb = n * (columns * sizeof(float) + sizeof(double)) / 1e6;
    const double peak_mb = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
    std::printf(
        "{\"rows\":%zu,\"trees\":%u,\"seconds\":%.3f,\"ns_per_row_and_level\":%.2f,\"own_mb\":%.0f,\"beyond_mb\":%.0f,"
        "\"nodes\":%zu}\n",
        rows, threads, seconds, 1e9 * seconds / (n * std::log2(n)), own_mb, peak_mb - own_mb, forest.nodes.size());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: growth_speed ROWS THREADS\n", stderr);
        return 2;
    }
    try {
        return run(std::stoul(argv[1]), static_cast<unsigned>(std::stoul(argv[2])));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "growth_speed: %s\n", error.what());
        return 1;
    }
}
