#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/physics/sustained_peak.h"
#include "joulecast/train/pooled.h"

namespace joulecast {

/// A row that a model over devices learns from: its kernel apart from its launch.
struct PooledSample {
    PreparedOperation operation;  ///< its roofline at the data sheet's rates
    std::string key;
    std::string family_key;
    const Device* device = nullptr;  ///< as on its data sheet
    Math math = Math::ieee;
    std::string engine = "torch";
    double launch_s = 0;
    double hidden_s = 0;    ///< of launch_s, what a long kernel hides
    double log_kernel = 0;  ///< of seconds
    double issue_pace = 0;  ///< what its host took to issue it over issue_from_cpp_s(); 0: not timed apart
};

/// Of every device and kind of call those rows whose kernel can be told from their launch, at most some hundreds at
/// even steps of their times. Rows in training are taken of families that two devices have measured so.
std::vector<PooledSample> pooled_samples(std::span<const DeviceRows* const> parts);

/// At most so many of the rows, at even steps of the numbers beside them.
template <class Row>
std::vector<Row> at_even_steps(std::vector<std::pair<double, Row>> by_time, std::size_t most) {
    std::stable_sort(by_time.begin(), by_time.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Row> taken;
    const std::size_t steps = std::min(most, by_time.size());
    for (std::size_t step = 0; step < steps; ++step) taken.push_back(by_time[step * by_time.size() / steps].second);
    return taken;
}

/// Whether the devices' float32 products agree better with a power limit on the peak, and with how many watts: each
/// device against the middle of the others.
SustainedRule choose_rule(std::span<const PooledSample* const> samples);

}  // namespace joulecast
