// How far forecasts of one network on two devices err alike.
#include "joulecast/recommend/shared_error.h"

#include <algorithm>
#include <cmath>

#include "joulecast/recommend/limit.h"
#include "joulecast/units/normal.h"

namespace joulecast {
namespace {

/// Hosts that are assumed to be as old as their cards issue the same calls at another pace (issue_cost.h).
bool issue_alike(const NetworkForecast& a, const NetworkForecast& b) {
    constexpr double most_apart = 0.02;
    const double apart = std::log(a.cost.host_time.value.value() / b.cost.host_time.value.value());
    return !(std::abs(apart) > most_apart);
}

}  // namespace

SharedError shared_error(const NetworkForecast& a, bool a_is_unseen, const NetworkForecast& b, bool b_is_unseen) {
    SharedError shared;
    if (a_is_unseen && b_is_unseen && a.predictor == b.predictor) shared.time = shared.energy = share_of_unseen_devices;
    const bool same_host = a.point.host == b.point.host && a.point.host_cpu == b.point.host_cpu &&
                           a.host_evidence == b.host_evidence && a.host_networks == b.host_networks &&
                           issue_alike(a, b);
    if (a.limited_by == Bound::host && b.limited_by == Bound::host && same_host && a_is_unseen && b_is_unseen)
        shared.time = share_of_one_host;
    return shared;
}

template <class Unit>
Estimate<Ratio> ratio_between(const Estimate<Unit>& a, const Estimate<Unit>& b, double correlation) {
    const double ratio = a.value.value() / b.value.value();
    if (!std::isfinite(ratio) || !(ratio > 0)) return {};
    const double of_a = sigma_of(a), of_b = sigma_of(b);
    const double variance = of_a * of_a + of_b * of_b - 2 * correlation * of_a * of_b;
    const double factor = std::exp(normal_90 * std::sqrt(std::max(0.0, variance)));
    return {Ratio(ratio), Ratio(ratio / factor), Ratio(ratio * factor)};
}

template Estimate<Ratio> ratio_between(const Estimate<Seconds>&, const Estimate<Seconds>&, double);
template Estimate<Ratio> ratio_between(const Estimate<Joules>&, const Estimate<Joules>&, double);
template Estimate<Ratio> ratio_between(const Estimate<Ratio>&, const Estimate<Ratio>&, double);

}  // namespace joulecast
