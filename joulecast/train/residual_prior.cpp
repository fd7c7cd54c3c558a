#include "joulecast/train/residual_prior.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "joulecast/graph/family.h"
#include "joulecast/units/normal.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

/// Mean product of the biases of two different families on one device, both of one kind or one of each.
double mean_product(const std::vector<std::map<Family, double>>& biases, bool first_computes, bool second_computes) {
    std::vector<double> products;
    for (const auto& of_device : biases) {
        for (const auto& [a, bias_a] : of_device) {
            for (const auto& [b, bias_b] : of_device) {
                if (a < b && ((multiplies_matrices(a) == first_computes && multiplies_matrices(b) == second_computes) ||
                              (multiplies_matrices(b) == first_computes && multiplies_matrices(a) == second_computes)))
                    products.push_back(bias_a * bias_b);
            }
        }
    }
    return products.empty() ? 0 : std::max(0.0, mean(products));
}

/// A device far off all others, by whatever it was measured with, counts as three times as far as the middle one.
void tame(std::vector<std::map<Family, double>>& biases) {
    std::map<Family, std::vector<double>> absolute;
    for (const auto& of_device : biases) {
        for (const auto& [family, bias] : of_device) absolute[family].push_back(std::abs(bias));
    }
    for (auto& of_device : biases) {
        for (auto& [family, bias] : of_device) {
            const double most = 3 * median(absolute[family]);
            bias = std::clamp(bias, -most, most);
        }
    }
}

}  // namespace

ResidualPrior prior_of(const std::vector<ErrorsByFamily>& devices) {
    constexpr double least_deviation = 0.03;
    std::vector<std::map<Family, double>> biases;
    std::map<std::pair<Family, NumberWidth>, std::vector<double>> within;
    for (const ErrorsByFamily& errors : devices) {
        auto& of_device = biases.emplace_back();
        for (const auto& [family, of_family] : errors) {
            std::vector<double> all;
            for (const auto& [width, logs] : of_family) all.insert(all.end(), logs.begin(), logs.end());
            const double bias = of_device[family] = median(all);
            for (const auto& [width, logs] : of_family) {
                for (const double log : logs) within[{family, width}].push_back(std::abs(log - bias));
            }
        }
    }
    tame(biases);
    const double across = mean_product(biases, true, false);
    const double compute = std::max(0.0, mean_product(biases, true, true) - across);
    const double memory = std::max(0.0, mean_product(biases, false, false) - across);
    std::vector<double> left;
    for (const auto& of_device : biases) {
        for (const auto& [family, bias] : of_device)
            left.push_back(bias * bias - across - (multiplies_matrices(family) ? compute : memory));
    }
    ResidualPrior prior;
    const auto deviation = [least = least_deviation](double variance) {
        return std::max(least, std::sqrt(std::max(0.0, variance)));
    };
    prior.common = deviation(across);
    prior.compute = deviation(compute);
    prior.memory = deviation(memory);
    prior.of_family = deviation(left.empty() ? 0 : mean(left));
    prior.devices = static_cast<double>(devices.size());
    std::vector<double> spreads;
    for (const auto& [kind, logs] : within) {
        spreads.push_back(std::max(least_deviation, quantile(logs, 0.9) / normal_90));
        prior.within_family.push_back({kind.first, kind.second, spreads.back()});
    }
    if (!spreads.empty()) prior.within = *std::max_element(spreads.begin(), spreads.end());
    return prior;
}

}  // namespace joulecast
