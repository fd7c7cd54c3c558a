#include "joulecast/measure/errors.h"

#include <algorithm>
#include <cmath>

#include "joulecast/units/normal.h"
#include "joulecast/units/statistics.h"

namespace joulecast {

namespace {

/// One standard deviation of a mean whose 95 % half width was taken from that many effective samples.
double sigma_from(double half_width, double samples) {
    return half_width / student_t_quantile(0.975, std::max(2.0, samples) - 1.0);
}

double with_between(double sigma, double sigma_between, double value) {
    return std::isnan(sigma_between) ? sigma : std::hypot(sigma, sigma_between * value);
}

}  // namespace

double time_sigma_s(const TimeSummary& time, double sigma_between) {
    return with_between(sigma_from(time.half_width_s, time.effective_blocks), sigma_between, time.mean_s);
}

double energy_sigma_j(const EnergySummary& energy, double sigma_between) {
    return with_between(sigma_from(energy.half_width_j, static_cast<double>(energy.ticks)), sigma_between,
                        energy.energy_j);
}

double half_width_95(double sigma) {
    return normal_95 * sigma;
}

Total sum_of(std::span<const Part> parts, double systematic) {
    Total total;
    double variance = 0.0;
    for (const Part& part : parts) {
        total.value += part.calls * part.value;
        variance += part.calls * part.calls * part.sigma * part.sigma;
    }
    total.sigma = std::hypot(std::sqrt(variance), systematic * total.value);
    return total;
}

}  // namespace joulecast
