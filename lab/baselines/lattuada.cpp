#include "lab/baselines/lattuada.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>

#include "joulecast/graph/family.h"

namespace joulecast {
namespace {

constexpr std::array counted{Family::convolution, Family::matmul,      Family::attention, Family::normalization,
                             Family::softmax,     Family::elementwise, Family::pooling,   Family::reduction,
                             Family::copy,        Family::indexing,    Family::loss};
constexpr std::size_t least_networks = 5;
constexpr std::size_t most_features = 5;

using Networks = std::vector<const NetworkObservation*>;

std::vector<float> pick(const std::vector<float>& features, const std::vector<std::size_t>& columns) {
    std::vector<float> row;
    for (const std::size_t c : columns) row.push_back(features[c]);
    return row;
}

Regression fit_line(const Networks& networks, const std::vector<std::size_t>& columns) {
    LayerRows rows{Samples(networks.size(), columns.size()), {}, {}};
    for (std::size_t i = 0; i < networks.size(); ++i) {
        rows.samples.set_row(i, pick(networks[i]->features, columns));
        rows.targets.push_back(networks[i]->value);
    }
    return fit_learner(Learner::linear, rows, {});
}

double left_out_error(const Networks& networks, const std::vector<std::size_t>& columns) {
    double error = 0;
    for (std::size_t out = 0; out < networks.size(); ++out) {
        Networks others = networks;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(out));
        const double wrong = fit_line(others, columns)(pick(networks[out]->features, columns)) - networks[out]->value;
        error += wrong * wrong;
    }
    return error;
}

std::vector<std::size_t> select(const Networks& networks) {
    std::vector<std::size_t> chosen;
    double least = std::numeric_limits<double>::infinity();
    while (chosen.size() < std::min(most_features, networks.size() - 2)) {
        std::size_t best = network_feature_names().size();
        for (std::size_t c = 0; c < network_feature_names().size(); ++c) {
            if (std::find(chosen.begin(), chosen.end(), c) != chosen.end()) continue;
            std::vector<std::size_t> with = chosen;
            with.push_back(c);
            const double error = left_out_error(networks, with);
            if (!(error < least)) continue;
            least = error;
            best = c;
        }
        if (best == network_feature_names().size()) break;
        chosen.push_back(best);
    }
    return chosen;
}

/// One regression is fitted to what is alike in this.
std::string kind_of(const TrainingNetwork& network, const std::string& device) {
    const NetworkMeasurement& m = network.measurement;
    return device + "|" + std::string(name(m.mode)) + "|" + m.precision;
}

}  // namespace

const std::vector<std::string>& network_feature_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> features{"operations", "bytes", "weight_bytes", "calls"};
        for (const Family kind : counted) features.push_back(std::string(name(kind)) + "_calls");
        return features;
    }();
    return names;
}

std::vector<float> network_features(const Graph& graph) {
    double operations = 0, bytes = 0, weights = 0, calls = 0;
    std::array<double, counted.size()> of_family{};
    for (const CountedOperation& call : count_operations(graph)) {
        const Dimensions d = dimensions(call.operation);
        if (costs_nothing(d.family)) continue;
        const auto times = static_cast<double>(call.count);
        const Counts counts = d.forward + d.backward;
        operations += times * (static_cast<double>(counts.flop) + static_cast<double>(counts.other_flop));
        bytes += times * (static_cast<double>(counts.bytes_read) + static_cast<double>(counts.bytes_written));
        weights += times * d.weight_bytes;
        calls += times;
        const auto place = std::find(counted.begin(), counted.end(), d.family);
        if (place != counted.end()) of_family[static_cast<std::size_t>(place - counted.begin())] += times;
    }
    std::vector<float> row;
    for (const double value : {operations, bytes, weights, calls}) row.push_back(static_cast<float>(value));
    for (const double value : of_family) row.push_back(static_cast<float>(value));
    return row;
}

Lattuada::Lattuada(std::span<const NetworkObservation> networks) {
    std::map<std::string, Networks> kinds;
    for (const NetworkObservation& network : networks) kinds[network.kind].push_back(&network);
    for (const auto& [kind, of_kind] : kinds) {
        if (of_kind.size() < least_networks) continue;
        const auto columns = select(of_kind);
        if (!columns.empty()) fits_.push_back({kind, columns, fit_line(of_kind, columns)});
    }
}

const Lattuada::Fit* Lattuada::find(const std::string& kind) const {
    const auto found = std::find_if(fits_.begin(), fits_.end(), [&](const Fit& fit) { return fit.kind == kind; });
    return found == fits_.end() ? nullptr : &*found;
}

double Lattuada::forecast(const std::vector<float>& features, const std::string& kind) const {
    const Fit* fit = find(kind);
    return fit ? fit->line(pick(features, fit->columns)) : std::numeric_limits<double>::quiet_NaN();
}

std::vector<std::size_t> Lattuada::chosen(const std::string& kind) const {
    const Fit* fit = find(kind);
    return fit ? fit->columns : std::vector<std::size_t>{};
}

NetworkForecaster fit_lattuada(std::span<const TrainingNetwork> networks, const Device& device) {
    std::vector<NetworkObservation> rows;
    for (const TrainingNetwork& network : networks)
        rows.push_back(
            {network_features(network.graph), kind_of(network, device.id), network.measurement.time.median_s});
    // A function is copied, the regressions are not.
    const auto fitted = std::make_shared<const Lattuada>(rows);
    return [fitted, id = device.id](const TrainingNetwork& network) {
        return fitted->forecast(network_features(network.graph), kind_of(network, id));
    };
}

}  // namespace joulecast
