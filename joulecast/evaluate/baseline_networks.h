#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "joulecast/evaluate/baseline_rows.h"

namespace joulecast {

/// A measured network against what one published method says of it.
struct BaselineNetwork {
    std::string model;  ///< the method
    std::string network;
    std::string device;
    std::map<std::string, std::int64_t> symbols;
    Mode mode = Mode::inference;
    std::string precision;
    double measured_time_s = 0;
    double predicted_time_s = std::numeric_limits<double>::quiet_NaN();
    double measured_energy_j = std::numeric_limits<double>::quiet_NaN();
    double predicted_energy_j = std::numeric_limits<double>::quiet_NaN();
    std::int64_t calls = 0;                   ///< of operations that cost something
    std::int64_t calls_without_forecast = 0;  ///< not in the sum, which is then too small; all: no forecast
    std::string reason;                       ///< for those
};

/// By each method: the sum of its forecasts over the calls, views left out, as the layer-wise papers do it
/// (Nicolai 2025, section 4.3; Sponner et al. 2022, eq. 1 and 2).
void append_networks(const FittedBaselines& published, const TrainingNetwork& network, const Device& device,
                     const OperatingPoint& point, std::vector<BaselineNetwork>& out);

/// A method of whole networks, fitted.
struct FittedNetworkBaseline {
    const NetworkBaseline* method = nullptr;
    NetworkForecaster forecast;
};

/// Fitted to those networks, all of one device.
std::vector<FittedNetworkBaseline> fit_network_baselines(std::span<const NetworkBaseline* const> methods,
                                                         std::span<const TrainingNetwork> networks,
                                                         const Device& device);

/// By each method of whole networks, its time.
void append_networks(std::span<const FittedNetworkBaseline> fitted, const TrainingNetwork& network,
                     const Device& device, std::vector<BaselineNetwork>& out);

}  // namespace joulecast
