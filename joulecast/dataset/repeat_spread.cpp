#include "joulecast/dataset/repeat_spread.h"

#include <cmath>
#include <limits>
#include <tuple>

#include "joulecast/dataset/plausible.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

/// Below, a session's own spread says little: with three degrees of freedom it is known to within a factor of two or
/// so.
constexpr double enough_degrees = 3;

/// A clock or limit as part of a key: NaN would not equal itself.
double comparable(double value) {
    return std::isnan(value) ? -1 : value;
}

}  // namespace

RepeatSpread::RepeatSpread(const std::vector<ReferenceRow>& references) {
    using Group = std::tuple<std::string, std::string, std::string, double, double, double>;
    std::map<Group, std::vector<double>> groups;
    for (const ReferenceRow& row : references) {
        if (implausible(row)) continue;
        groups[{row.asked.device, row.provenance.session, row.operation, comparable(row.asked.sm_clock_mhz),
                comparable(row.asked.memory_clock_mhz), comparable(row.asked.power_limit_w)}]
            .push_back(row.time_mean_s);
    }
    for (const auto& [group, times] : groups) {
        if (times.size() < 2) continue;
        const double degrees = static_cast<double>(times.size()) - 1;
        const double share = standard_deviation(times) / mean(times);
        for (Pools* pools : {&sessions_[{std::get<0>(group), std::get<1>(group)}], &devices_[std::get<0>(group)]}) {
            Pool& pool = times.size() == 2 ? pools->drawn : pools->along;
            pool.squares += degrees * share * share;
            pool.degrees += degrees;
        }
    }
}

double RepeatSpread::Pools::sigma() const {
    const auto of = [](const Pool& pool) { return std::sqrt(pool.squares / pool.degrees); };  // NaN of none
    return std::fmax(of(along), of(drawn));
}

double RepeatSpread::of(const std::string& device, const std::string& session) const {
    const auto own = sessions_.find({device, session});
    if (own != sessions_.end() && own->second.degrees() >= enough_degrees) return own->second.sigma();
    const auto repeats = devices_.find(device);
    return repeats == devices_.end() ? std::numeric_limits<double>::quiet_NaN() : repeats->second.sigma();
}

}  // namespace joulecast
