// CPU time that a forest takes for one row and for a batch, in one thread. usage: forest_speed FOREST ROWS, both
// written by bench/speed_results.py, which times scikit-learn on the same trees and rows in the same run. Prints one
// line of JSON: nanoseconds for a row alone, for a row of a batch, and the largest relative difference from the
// predictions in ROWS.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "joulecast/learn/forest.h"

namespace {

class Reader {
  public:
    explicit Reader(const std::string& path) : in_(path, std::ios::binary), path_(path) {}

    template <class T>
    std::vector<T> take(std::size_t count) {
        std::vector<T> values(count);
        in_.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
        if (!in_) throw std::runtime_error("cannot read " + path_);
        return values;
    }
    std::size_t count() { return static_cast<std::size_t>(take<std::int32_t>(1)[0]); }

  private:
    std::ifstream in_;
    std::string path_;
};

joulecast::Forest read_forest(const std::string& path, std::size_t columns) {
    Reader in(path);
    joulecast::Forest forest;
    const std::size_t trees = in.count();
    const std::size_t nodes = in.count();
    forest.roots = in.take<std::int32_t>(trees);
    forest.nodes = in.take<joulecast::ForestNode>(nodes);
    joulecast::check(forest, columns);
    return forest;
}

/// Nanoseconds of this process on a core.
double cpu_nanoseconds() {
    return 1e9 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// Nanoseconds of one call of `work`, called again and again for half a second.
template <class Work>
double nanoseconds(Work work) {
    work();
    const double start = cpu_nanoseconds();
    std::size_t calls = 0;
    double elapsed = 0;
    do {
        work();
        ++calls;
        elapsed = cpu_nanoseconds() - start;
    } while (elapsed < 5e8);
    return elapsed / static_cast<double>(calls);
}

int run(const std::string& forest_path, const std::string& rows_path) {
    Reader in(rows_path);
    const std::size_t rows = in.count();
    const std::size_t columns = in.count();
    const auto values = in.take<float>(rows * columns);
    const auto expected = in.take<double>(rows);
    const joulecast::Forest forest = read_forest(forest_path, columns);
    const auto row = [&](std::size_t i) { return std::span(values).subspan(i * columns, columns); };

    std::vector<double> means(rows);
    double sink = 0;
    const double single = nanoseconds([&] {
        for (std::size_t i = 0; i < rows; ++i) sink += joulecast::predict(forest, row(i));
    });
    const double batch = nanoseconds([&] { joulecast::predict(forest, {values, columns}, means); });
    double difference = std::isfinite(sink) ? 0 : 1;
    for (std::size_t i = 0; i < rows; ++i) {
        difference = std::max(difference, std::abs(means[i] - expected[i]) / std::max(1.0, std::abs(expected[i])));
        if (means[i] != joulecast::predict(forest, row(i))) throw std::runtime_error("a batch differs from its rows");
    }
    const auto n = static_cast<double>(rows);
    std::printf("{\"single_ns\":%.1f,\"batch_ns\":%.1f,\"difference\":%.2e,\"nodes\":%zu}\n", single / n, batch / n,
                difference, forest.nodes.size());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: forest_speed FOREST ROWS\n", stderr);
        return 2;
    }
    try {
        return run(argv[1], argv[2]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "forest_speed: %s\n", error.what());
        return 1;
    }
}
