#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lab/published/mobile_network.h"

namespace joulecast {

/// A network that was run on a board, with its time and energy for one sample.
struct BoardRun {
    std::string campaign;  ///< what was measured together: "v3.0"
    std::string engine;
    MobileNetwork network;
    double time_s = 0;
    double energy_j = 0;
};

/// The same network, of any precision, never trained on.
struct BoardForecast {
    double time_s = 0;
    double energy_j = 0;
    /// Baselines of the same training runs: a power law of multiply-adds, and the sums over layers alone.
    double law_time_s = 0;
    double law_energy_j = 0;
    double summed_time_s = 0;
    double summed_energy_j = 0;
};

/// Of each run, from the runs of other networks in the same campaign, engine and precision: a sum over layers with
/// weights that are never negative (multiply-adds and numbers moved by kind of layer, bytes of weights, layers), times
/// what the nearest networks were off by that sum. NaN where fewer than eight other networks were run.
std::vector<BoardForecast> leave_networks_out(std::span<const BoardRun> runs);

/// Engines for one network, of one campaign and precision.
struct EngineChoice {
    std::string campaign;
    std::string network;
    std::string precision;
    std::string chosen;                    ///< least energy by the forecasts
    std::string best;                      ///< by the measurements
    double regret = 0;                     ///< energy of the chosen one over the best one's, less one
    std::vector<double> regret_of_engine;  ///< always taking engines[i]; NaN where it was not run
};

/// Where two engines or more ran a network. `engines`: all there are, in alphabetical order.
std::vector<EngineChoice> choose_engines(std::span<const BoardRun> runs, std::span<const BoardForecast> forecasts,
                                         std::vector<std::string>& engines);

}  // namespace joulecast
