#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "joulecast/forecast/forecast_operation.h"
#include "joulecast/graph/operation_key.h"

namespace joulecast {

/// What the kernels of a call take on a device that was never measured.
struct KernelForecast {
    double seconds = 0;
    double launch_s = 0;
    double half_width = 0;  ///< of log(seconds), 90 %
    bool is_own = false;    ///< told by measurements of the device itself
};

/// Forward passes whose kernels were forecast: a network's calls have the same ones in training as in inference, and to
/// forecast them is most of the work of both. Several threads may ask at once; what two of them lack at the same time
/// is made twice, to the same result. Bounded: when it has `most` it begins anew.
class ForwardKernels {
  public:
    static constexpr std::size_t most = std::size_t{1} << 16U;

    using Made = std::optional<KernelForecast>;
    /// What `make` says of the forward pass of a call on that device, or said before. Devices are known by where they
    /// lie, and stay as they are.
    Made of(const DeviceModel& device, const PreparedOperation& operation, const std::function<Made()>& make);

    std::size_t size() const;

  private:
    mutable std::mutex asking_;  ///< of known_
    std::unordered_map<std::vector<std::uint64_t>, Made, KeyHash> known_;
};

}  // namespace joulecast
