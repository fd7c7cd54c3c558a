#include "joulecast/measure/power_samples.h"

#include <cmath>

namespace joulecast {

void PowerSampler::look() {
    if (clock_.now_s() - last_look_s_ < every_s_) return;
    MeterReading reading = meter_.read();
    if (!std::isfinite(reading.time_s)) reading.time_s = clock_.now_s();
    last_look_s_ = clock_.now_s();
    if (!meter_.facts().counts_energy) {
        if (std::isfinite(reading.power_w)) samples_.push_back({reading.time_s, reading.power_w});
        return;
    }
    if (renewals_ >= 0 && reading.energy_j == renewed_.energy_j) return;
    if (renewals_ >= 1) {
        const double power_w = (reading.energy_j - renewed_.energy_j) / (reading.time_s - renewed_.time_s);
        samples_.push_back({reading.time_s, power_w});
    }
    ++renewals_;
    renewed_ = reading;
}

}  // namespace joulecast
