#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "joulecast/forecast/forecast.h"
#include "joulecast/forecast/forecast_cache.h"
#include "joulecast/forecast/forecast_operation.h"
#include "joulecast/forecast/training_setup.h"
#include "joulecast/graph/graph.h"
#include "joulecast/model/predictor.h"

namespace joulecast {

/// What a search keeps of one call of an operation.
struct OperationCost {
    Estimate<Seconds> time;
    Estimate<Joules> energy;      ///< idle power included; unknown() where no power is known of the device
    Estimate<Bytes> peak_memory;  ///< above its inputs; unknown() where nothing was learned of it
    Evidence evidence = Evidence::unknown;
};

struct ForecasterSettings {
    Math math = Math::ieee;         ///< how matrix products of float32 are computed
    MeasuredOperations measured{};  ///< on that device and setting: these are not forecast
    /// Operations that are kept at most, for each host that calls are asked from; 1 kB each.
    std::size_t capacity = ForecastCache::default_capacity;
};

/// Forecasts for searches over networks: a predictor loaded once and asked a million times (docs/search.md). Operations
/// that are asked for again are not forecast again. Not for several threads at once; each takes another() of its own,
/// which shares the predictor.
class Forecaster {
  public:
    /// The device is one that the predictor was trained on or, by a model over other devices of its kind, one whose
    /// data sheet is known: as of choose_device(), which a Session asks, too. Throws FormatError for a file that is no
    /// predictor, UsageError for a device that nobody knows, Error for one that the predictor cannot forecast at that
    /// math.
    Forecaster(const std::filesystem::path& predictor, const std::string& device, ForecasterSettings settings = {});
    Forecaster(Predictor predictor, const std::string& device, ForecasterSettings settings = {});

    /// With the same predictor, device and settings, and nothing asked for yet.
    Forecaster another() const;

    const DeviceModel& device() const;
    /// What its user must know of the choice of the model: that it is of other devices, or of another CPU; else empty.
    const std::string& note() const;
    /// Where the predictor comes from.
    const Origin& origin() const;

    /// One call of the operation, as `host` issues it again and again; without, the host that the device was measured
    /// from. Valid until the next call. Throws FormatError for arguments that cannot be right, Error for a host that
    /// nothing can be said of (hosts.h).
    const OperationForecast& forecast(const Operation& operation, std::optional<Host> host = std::nullopt);

    /// Each of them, in their order; `costs` has as many places. Throws as above, and Error for another number of
    /// places.
    void forecast(std::span<const Operation> operations, std::span<OperationCost> costs,
                  std::optional<Host> host = std::nullopt);

    /// The network at its symbols, precision and mode (graph/graph.h, device/precision.h); a bag of operations has no
    /// memory plan. It is at the clock that the device was measured at: ForecastCurve and at_point() (at_point.h) tell
    /// of others. Throws as above.
    NetworkForecast forecast(const Graph& graph, const std::string& precision = "fp32",
                             std::optional<Host> host = std::nullopt, const TrainingSetup& training = {});

    /// Operations asked for, and those of them that had to be forecast.
    std::uint64_t asked() const;
    std::uint64_t forecast_anew() const;

  private:
    struct Loaded;

    explicit Forecaster(std::shared_ptr<const Loaded> loaded);
    ForecastCache& calls_from(Host host);

    std::shared_ptr<const Loaded> loaded_;
    static constexpr std::size_t hosts = static_cast<std::size_t>(Host::compiled) + 1;
    std::array<std::unique_ptr<ForecastCache>, hosts> caches_;  ///< by host
};

}  // namespace joulecast
