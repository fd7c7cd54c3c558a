#include "joulecast/train/measured_networks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "joulecast/error.h"

namespace joulecast {
namespace {

bool is_usable(const NetworkMeasurement& m, const OperatingPoint& setting) {
    return is_timed(m.outcome) && m.time.median_s > 0 && m.real.threads == setting.threads &&
           m.real.math == setting.math && m.real.engine == setting.engine;
}

/// What was asked for; where nothing was, what another program had set: the real clock, to 3 %.
using PointKey = std::tuple<double, double, double, long>;

PointKey point_key(const NetworkMeasurement& m) {
    constexpr double same_clock = 0.03;
    const auto known = [](double value) { return value > 0 ? value : 0; };
    const bool is_asked = m.asked.sm_clock_mhz > 0 || m.asked.power_limit_w > 0;
    const double real = is_asked ? 0 : known(m.real.sm_clock_mhz);
    return {known(m.asked.sm_clock_mhz), known(m.asked.memory_clock_mhz), known(m.asked.power_limit_w),
            real > 0 ? std::lround(std::log(real) / same_clock) : 0};
}

struct Middle {
    NetworkMeasurement measurement;
    std::string framework;
};

Middle middle(std::vector<const NetworkRow*> repeats) {
    const auto median_s = [](const NetworkRow* row) { return row->measurement.time.median_s; };
    std::ranges::sort(repeats, {}, median_s);
    const std::size_t count = repeats.size();
    const NetworkRow& row = *repeats[count / 2];
    Middle chosen{row.measurement, row.provenance.framework};
    chosen.measurement.time.median_s = (median_s(repeats[(count - 1) / 2]) + median_s(repeats[count / 2])) / 2;
    // The middle one may be one without a meter.
    for (const NetworkRow* repeat : repeats) {
        if (!chosen.measurement.energy && repeat->measurement.energy)
            chosen.measurement.energy = repeat->measurement.energy;
    }
    return chosen;
}

/// The network as it was measured; throws Error where its kernels are of another graph than that which opens by its
/// name.
Graph opened(const NetworkMeasurement& measurement, const OpenMeasured& open) {
    Graph graph = open(measurement);
    if (!graph.has_edges) return graph;
    for (const NetworkKernel& kernel : measurement.kernels) {
        if (!kernel.operations.empty() && static_cast<std::size_t>(kernel.operations.back()) >= graph.nodes.size())
            throw Error("its kernels are of another network of that name: the graph has " +
                        std::to_string(graph.nodes.size()) + " nodes");
    }
    return graph;
}

}  // namespace

MeasuredNetworks measured_networks(std::span<const NetworkRow> rows, const OperatingPoint& setting,
                                   const OpenMeasured& open) {
    std::map<std::tuple<std::string, std::map<std::string, std::int64_t>, Mode, std::string, Host, PointKey>,
             std::vector<const NetworkRow*>>
        same;
    for (const NetworkRow& row : rows) {
        const NetworkMeasurement& m = row.measurement;
        if (is_usable(m, setting))
            same[{m.model, m.symbols, m.mode, m.precision, m.real.host, point_key(m)}].push_back(&row);
    }
    MeasuredNetworks found;
    for (const auto& [key, repeats] : same) {
        const auto [measurement, framework] = middle(repeats);
        try {
            found.networks.push_back({opened(measurement, open), measurement, framework});
        } catch (const Error& error) {
            found.left_out.emplace_back(measurement.model, error.what());
        }
    }
    return found;
}

}  // namespace joulecast
