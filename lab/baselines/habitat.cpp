#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "lab/baselines/fits.h"

namespace joulecast {
namespace {

/// A time measured on an origin device.
struct Origin {
    const Device* device = nullptr;
    double clock_mhz = 0;
    double time_s = 0;
};

double clock_of(const Subject& subject) {
    return std::isnan(subject.clock_mhz) ? subject.device->max_clock_mhz : subject.clock_mhz;
}

/// Eq. 3: how far a kernel is bound by memory, 1 (all) to 0, from its intensity over the destination's ridge point.
double memory_share(const PreparedOperation& operation, const Device& destination, Math math) {
    const Counts counts = operation.dimensions.forward + operation.dimensions.backward;
    const double flop = static_cast<double>(counts.flop) + static_cast<double>(counts.other_flop);
    const double bytes = static_cast<double>(counts.bytes_read) + static_cast<double>(counts.bytes_written);
    if (flop <= 0 || bytes <= 0) return 1;
    const double ridge =
        peak_flop_per_s(destination, compute_dtype(operation.operation), math) / destination.bandwidth_bytes_per_s;
    const double intensity = flop / bytes;
    return intensity < ridge ? 1 - 0.5 * intensity / ridge : 0.5 * ridge / intensity;
}

class Habitat : public FittedBaseline {
  public:
    explicit Habitat(Observations rows) {
        for (const Observation& row : rows) {
            measured_[row.subject.operation->signature].push_back(
                {row.subject.device, clock_of(row.subject), row.value});
        }
    }

    /// Eq. 2: T_d = (D_o/D_d)^g (W_o/W_d)^(1-g) (C_o/C_d)^(1-g) T_o. Blocks per wave W are taken as SMs: the kernels'
    /// launches and occupancy are not known.
    double forecast(const Subject& subject) const override {
        const Origin* origin = closest(subject);
        if (!origin) return std::numeric_limits<double>::quiet_NaN();
        const Device& from = *origin->device;
        const Device& to = *subject.device;
        const double gamma = memory_share(*subject.operation, to, subject.math);
        const double bandwidth = from.bandwidth_bytes_per_s / to.bandwidth_bytes_per_s;
        const double wave = static_cast<double>(from.units) / static_cast<double>(to.units);
        const double clock = origin->clock_mhz / clock_of(subject);
        return std::pow(bandwidth, gamma) * std::pow(wave * clock, 1 - gamma) * origin->time_s;
    }

  private:
    /// The user of the paper has one origin; of several, that of the most similar bandwidth.
    const Origin* closest(const Subject& subject) const {
        const auto found = measured_.find(subject.operation->signature);
        if (found == measured_.end()) return nullptr;
        const Origin* best = nullptr;
        double least = 0;
        for (const Origin& origin : found->second) {
            if (origin.device->id == subject.device->id) continue;
            const double distance =
                std::abs(std::log(origin.device->bandwidth_bytes_per_s / subject.device->bandwidth_bytes_per_s));
            if (best && !(distance < least)) continue;
            best = &origin;
            least = distance;
        }
        return best;
    }

    std::map<std::string, std::vector<Origin>> measured_;
};

}  // namespace

Fitted fit_habitat(Observations rows, const BaselineSettings& /*settings*/) {
    return std::make_unique<Habitat>(rows);
}

}  // namespace joulecast
