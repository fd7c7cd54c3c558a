#include "joulecast/physics/timeline.h"

#include <algorithm>

namespace joulecast {

Timeline compose(std::span<const Step> steps) {
    Timeline timeline;
    double host = 0;
    double device = 0;
    for (const Step& step : steps) {
        host += step.host_s;
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
