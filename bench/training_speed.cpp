// How long choosing and training a forest takes: random forest and extra trees over grouped folds, then the better one
// on all rows. usage: training_speed TABLE FOLDS TREES THREADS, where bench/speed_results.py writes TABLE and lets
// scikit-learn do the same on the same folds in the same run.
// Prints one line of JSON: seconds, and R² out of fold of either learner.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/learn/learner.h"

namespace {

using joulecast::Learner;

struct Table {
    std::size_t columns = 0;
    std::vector<float> values;
    std::vector<double> targets;
    std::vector<std::int32_t> folds;

    std::size_t rows() const { return targets.size(); }
    std::span<const float> row(std::size_t i) const { return std::span(values).subspan(i * columns, columns); }
};

template <class T>
std::vector<T> take(std::ifstream& in, std::size_t count) {
    std::vector<T> values(count);
    in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
    if (!in) throw std::runtime_error("the table ends too early");
    return values;
}

Table read_table(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const auto sizes = take<std::int32_t>(in, 2);
    Table table;
    table.columns = static_cast<std::size_t>(sizes[1]);
    const auto rows = static_cast<std::size_t>(sizes[0]);
    table.values = take<float>(in, rows * table.columns);
    table.targets = take<double>(in, rows);
    table.folds = take<std::int32_t>(in, rows);
    return table;
}

joulecast::Forest fit(const Table& table, const std::vector<std::size_t>& rows, const joulecast::TreeSettings& how) {
    joulecast::Samples samples(rows.size(), table.columns);
    std::vector<double> targets;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        samples.set_row(i, table.row(rows[i]));
        targets.push_back(table.targets[rows[i]]);
    }
    return joulecast::fit_forest(samples, targets, how);
}

/// R² of predictions out of fold.
double score(const Table& table, std::int32_t folds, const joulecast::TreeSettings& how) {
    double error = 0;
    double sum = 0;
    double squares = 0;
    for (std::int32_t fold = 0; fold < folds; ++fold) {
        std::vector<std::size_t> inside;
        std::vector<float> outside;
        std::vector<double> truth;
        for (std::size_t i = 0; i < table.rows(); ++i) {
            if (table.folds[i] != fold) {
                inside.push_back(i);
                continue;
            }
            outside.insert(outside.end(), table.row(i).begin(), table.row(i).end());
            truth.push_back(table.targets[i]);
        }
        std::vector<double> means(truth.size());
        joulecast::predict(fit(table, inside, how), {outside, table.columns}, means);
        for (std::size_t i = 0; i < truth.size(); ++i) {
            error += (means[i] - truth[i]) * (means[i] - truth[i]);
            sum += truth[i];
            squares += truth[i] * truth[i];
        }
    }
    const auto n = static_cast<double>(table.rows());
    return 1 - error / (squares - sum * sum / n);
}

int run(char** argv) {
    const Table table = read_table(argv[1]);
    const auto folds = static_cast<std::int32_t>(std::stol(argv[2]));
    const auto how = [&](Learner learner) {
        auto settings = joulecast::settings(learner, std::stoul(argv[3]), 1);
        settings.threads = static_cast<unsigned>(std::stoul(argv[4]));
        return settings;
    };
    const auto start = std::chrono::steady_clock::now();
    const double forest = score(table, folds, how(Learner::random_forest));
    const double extra = score(table, folds, how(Learner::extra_trees));
    std::vector<std::size_t> all(table.rows());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    const auto chosen = fit(table, all, how(forest > extra ? Learner::random_forest : Learner::extra_trees));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("{\"seconds\":%.3f,\"r2_random_forest\":%.4f,\"r2_extra_trees\":%.4f,\"nodes\":%zu}\n", seconds, forest,
                extra, chosen.nodes.size());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::fputs("usage: training_speed TABLE FOLDS TREES THREADS\n", stderr);
        return 2;
    }
    try {
        return run(argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "training_speed: %s\n", error.what());
        return 1;
    }
}
