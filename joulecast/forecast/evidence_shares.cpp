#include "joulecast/forecast/evidence_shares.h"

namespace joulecast {

void share_evidence(NetworkForecast& forecast, double added_s) {
    double total = 0;
    for (const OperationForecast& operation : forecast.operations) {
        const double time = operation.cost.device_time.value.value() * static_cast<double>(operation.count);
        forecast.evidence_share[operation.evidence] += time;
        total += time;
    }
    if (added_s > 0) {
        forecast.evidence_share[forecast.host_evidence] += added_s;
        total += added_s;
    }
    for (auto& [evidence, share] : forecast.evidence_share) share = total > 0 ? share / total : 0;
}

}  // namespace joulecast
