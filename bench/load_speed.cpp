// CPU time that opening a predictor takes: reading, checksums, checks. usage: load_speed FILE.jcp
// Prints one line of JSON: the first opening of the process and the median of twenty more, file cache warm.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <variant>
#include <vector>

#include "joulecast/model/jcp.h"

namespace {

std::size_t nodes_of(const joulecast::FamilyModel& model) {
    std::size_t nodes = 0;
    for (const auto& part : model.parts) {
        if (const auto* forest = std::get_if<joulecast::Forest>(&part.model)) nodes += forest->nodes.size();
        if (const auto* boosted = std::get_if<joulecast::BoostedTrees>(&part.model))
            nodes += boosted->forest.nodes.size();
    }
    return nodes;
}

std::size_t nodes_of(const joulecast::Predictor& predictor) {
    std::size_t nodes = 0;
    for (const auto& device : predictor.devices) {
        for (const auto& model : device.models) nodes += nodes_of(model);
    }
    for (const auto& pooled : predictor.pooled) {
        for (const auto& expert : pooled.experts) nodes += nodes_of(expert.model);
    }
    return nodes;
}

double milliseconds(const char* file, std::size_t& nodes) {
    const std::clock_t start = std::clock();
    const joulecast::Predictor predictor = joulecast::read_jcp(file);
    const std::clock_t elapsed = std::clock() - start;
    nodes = nodes_of(predictor);
    return 1e3 * static_cast<double>(elapsed) / CLOCKS_PER_SEC;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: load_speed FILE.jcp\n", stderr);
        return 2;
    }
    try {
        std::size_t nodes = 0;
        const double first = milliseconds(argv[1], nodes);
        std::vector<double> next(20);
        for (double& one : next) one = milliseconds(argv[1], nodes);
        std::nth_element(next.begin(), next.begin() + 10, next.end());
        std::printf("{\"file\":\"%s\",\"bytes\":%llu,\"nodes\":%zu,\"first_ms\":%.2f,\"median_ms\":%.2f}\n", argv[1],
                    static_cast<unsigned long long>(std::filesystem::file_size(argv[1])), nodes, first, next[10]);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "load_speed: %s\n", error.what());
        return 1;
    }
}
