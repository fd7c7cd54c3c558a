#include "joulecast/forecast/timeline_at_point.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "joulecast/physics/timeline.h"

namespace joulecast {
namespace {

/// 1 where either is not known or nothing.
double ratio(double there, double here) {
    const double quotient = there / here;
    return std::isfinite(quotient) && quotient > 0 ? quotient : 1;
}

/// How many times as long, and with how many times the energy, the calls of each operation work.
struct Change {
    double time = 1;
    double dynamic = 1;
};

std::vector<Change> changes(const NetworkForecast& here, const NetworkForecast& there) {
    std::vector<Change> changes;
    for (std::size_t i = 0; i < here.operations.size(); ++i) {
        const Cost& before = here.operations[i].cost;
        const Cost& after = there.operations[i].cost;
        changes.push_back({ratio(after.device_time.value.value(), before.device_time.value.value()),
                           ratio(after.dynamic_energy.value.value(), before.dynamic_energy.value.value())});
    }
    return changes;
}

/// The host waits behind a call where it goes on no sooner than the device is done, though it was free before.
bool waits_behind(const std::vector<TimedCall>& calls, std::size_t i) {
    if (i + 1 == calls.size()) return false;
    const double goes_on = calls[i + 1].issue_start_s;
    return goes_on > calls[i].issue_end_s && goes_on >= calls[i].end_s;
}

std::vector<TimelineStep> steps_of(const std::vector<TimedCall>& calls, const std::vector<Change>& change) {
    std::vector<TimelineStep> steps;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const TimedCall& call = calls[i];
        steps.push_back({call.issue_end_s - call.issue_start_s,
                         (call.end_s - call.start_s) * change[call.operation].time, waits_behind(calls, i)});
    }
    return steps;
}

}  // namespace

NetworkTimeline timeline_at_point(const NetworkTimeline& timeline, const DeviceModel& device,
                                  const OperatingPoint& asked) {
    NetworkTimeline moved{at_point(timeline.forecast, device, asked), timeline.calls};
    const std::vector<Change> change = changes(timeline.forecast, moved.forecast);
    const Timeline line = compose(steps_of(timeline.calls, change));
    // The forecast there is of the network as a whole: what its calls by themselves miss of it is shared out.
    const double stretch = ratio(moved.forecast.time.value.value(), line.total_s);
    double dynamic_j = 0;
    for (std::size_t i = 0; i < moved.calls.size(); ++i) {
        TimedCall& call = moved.calls[i];
        call.issue_start_s = stretch * line.issue_start_s[i];
        call.issue_end_s = stretch * line.issue_end_s[i];
        call.start_s = stretch * line.device_start_s[i];
        call.end_s = stretch * line.device_end_s[i];
        call.dynamic_j *= change[call.operation].dynamic;
        dynamic_j += call.dynamic_j;
    }
    const double shared = dynamic_j > 0 ? moved.forecast.dynamic_energy_j / dynamic_j : 0;
    for (TimedCall& call : moved.calls) call.dynamic_j *= shared;
    return moved;
}

}  // namespace joulecast
