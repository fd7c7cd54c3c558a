#include "joulecast/forecast/unseen_network.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "joulecast/forecast/forecast_unseen.h"
#include "joulecast/forecast/hosts.h"
#include "joulecast/forecast/unseen_device.h"

namespace joulecast {
namespace {

/// All GPUs were measured in float32; in other types products alone were, on few of them. What 252 networks in such
/// types are off by together beyond those in float32 (docs/decisions/0027).
constexpr double other_type_deviation = 0.08;
/// Smaller parts of a network's time say nothing of its error, and there are many.
constexpr double least_share = 1e-3;

double device_seconds_of(const OperationForecast& operation) {
    const double call = std::isnan(operation.kernel_s) ? operation.cost.device_time.value.value() : operation.kernel_s;
    return static_cast<double>(operation.count) * call;
}

double deviation_of_kernels(const DeviceModel& device, std::span<const OperationForecast> operations) {
    double whole = 0;
    for (const OperationForecast& operation : operations) whole += device_seconds_of(operation);
    if (!(whole > 0)) return 0;
    std::vector<ResidualProcess::Part> parts;
    double of_other_type = 0;  // share in types other than float32
    double of_backward = 0;    // share of backward passes
    double guessed = 0;        // what no model tells may all be off the same way
    for (const OperationForecast& operation : operations) {
        const double share = device_seconds_of(operation) / whole;
        if (share < least_share) continue;
        const bool is_by_model = operation.evidence == Evidence::extrapolated && !std::isnan(operation.kernel_s);
        if (is_by_model) {
            const KernelError error =
                operation.error ? *operation.error : kernel_error(prepare(operation.operation, device), device.device);
            parts.push_back({error.place, share});
            if (error.place.width != NumberWidth::bits32) of_other_type += share;
            of_backward += share * error.backward_share;
        } else {
            guessed += share * log_sigma(operation.cost.device_time);
        }
    }
    const double beyond = std::hypot(of_other_type * other_type_deviation, of_backward * backward_deviation);
    return std::hypot(device.unseen->residual.deviation_of_sum(parts), beyond, guessed);
}

}  // namespace

KernelError kernel_error(const PreparedOperation& operation, const Device& device) {
    // A backward pass computes as much for each of its gradients as the forward one.
    const double passes = gradients(operation);
    return {residual_place(operation, device), passes / (1 + passes)};
}

TimeDeviations deviations_of_unseen(const DeviceModel& device, std::span<const OperationForecast> operations,
                                    const NetworkParts& parts, const NetworkCorrection& correction) {
    TimeDeviations found;
    found.device = std::hypot(deviation_of_kernels(device, operations), network_deviation);
    // What a named CPU's pace is not known by is part of what hosts differ by: naming one makes nothing less sure.
    const double of_pace = std::min(parts.pace.sigma, sigma_of_gpu_hosts);
    found.host = std::sqrt(sigma_of_gpu_hosts * sigma_of_gpu_hosts - of_pace * of_pace);
    found.whole =
        std::hypot(share_of_device(parts, correction) * found.device, share_of_host(parts, correction) * found.host);
    return found;
}

}  // namespace joulecast
