#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "joulecast/graph/graph.h"
#include "lab/baselines/layer_regression.h"

namespace joulecast {

/// A measured network as a whole-network method sees it.
struct NetworkObservation {
    std::vector<float> features;  ///< network_features()
    std::string kind;             ///< what shares a regression: device, mode and precision
    double value = 0;             ///< in the metric's unit
};

/// Operations, bytes, weights, and the number of calls of each family with a cost, of a network at its symbols. Views
/// are not counted.
std::vector<float> network_features(const Graph& graph);
/// Names of the above, in order.
const std::vector<std::string>& network_feature_names();

/// Lattuada, Gianniti, Ardagna, Zhang 2022: the time of a network is linear in features of the whole network, chosen
/// by sequential forward selection. Here a feature is taken as long as the squared error of networks left out one by
/// one becomes smaller. It knows nothing of operations.
class Lattuada {
  public:
    static constexpr std::string_view name = "lattuada";
    static constexpr std::string_view gaps =
        "fitted to whole networks per device, mode and precision: needs five others";

    explicit Lattuada(std::span<const NetworkObservation> networks);
    /// NaN for a kind of which fewer than five networks were measured.
    double forecast(const std::vector<float>& features, const std::string& kind) const;
    /// The features chosen, in the order in which they were.
    std::vector<std::size_t> chosen(const std::string& kind) const;

  private:
    struct Fit {
        std::string kind;
        std::vector<std::size_t> columns;
        Regression line;
    };
    const Fit* find(const std::string& kind) const;
    std::vector<Fit> fits_;
};

/// Fitted to measured networks of the device: the time of one, in seconds.
NetworkForecaster fit_lattuada(std::span<const TrainingNetwork> networks, const Device& device);

}  // namespace joulecast
