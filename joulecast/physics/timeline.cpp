#include "joulecast/physics/timeline.h"

#include <algorithm>

namespace joulecast {

Timeline compose(std::span<const TimelineStep> steps) {
    Timeline timeline;
    double host = 0;
    double device = 0;
    for (const TimelineStep& step : steps) {
        timeline.issue_start_s.push_back(host);
        host += step.host_s;
        timeline.issue_end_s.push_back(host);
        const double start = std::max(host, device);
        device = start + step.device_s;
        if (step.synchronises) host = device;
        timeline.device_start_s.push_back(start);
        timeline.device_end_s.push_back(device);
    }
    timeline.host_end_s = host;
    timeline.total_s = std::max(host, device);
    return timeline;
}

}  // namespace joulecast
