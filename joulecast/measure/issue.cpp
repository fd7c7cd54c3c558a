#include "joulecast/measure/issue.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "joulecast/units/statistics.h"

namespace joulecast {

namespace {

constexpr double launch_bound_share = 0.5;
constexpr double shortest_call_s = 20e-6;
/// A batch lasts about this long, but is never so large that it fills the device's queue (1024 launches on CUDA): then
/// issuing would wait.
constexpr double batch_s = 2e-3;
constexpr double largest_batch = 50.0;
constexpr std::size_t batches = 11;
constexpr std::size_t fewest_batches = 3;
constexpr double budget_s = 0.05;

}  // namespace

bool is_launch_bound(double issue_s, double device_s) {
    return device_s < shortest_call_s || issue_s > launch_bound_share * device_s;
}

IssueSummary measure_issue(Workload& workload, Clock& clock, double device_s) {
    const double wanted = device_s > 0.0 ? std::ceil(batch_s / device_s) : largest_batch;
    const std::int64_t longest = std::max<std::int64_t>(1, workload.longest_run(false));
    const auto calls = std::min(static_cast<std::int64_t>(std::clamp(wanted, 1.0, largest_batch)), longest);
    std::vector<double> issued;
    std::vector<double> done;
    const double start_s = clock.now_s();
    while (issued.size() < batches && (issued.size() < fewest_batches || clock.now_s() - start_s < budget_s)) {
        workload.prepare(calls, false);
        workload.wait();
        const double first_s = clock.now_s();
        workload.issue(calls, false);
        const double issued_s = clock.now_s();
        workload.wait();
        issued.push_back((issued_s - first_s) / static_cast<double>(calls));
        done.push_back((clock.now_s() - first_s) / static_cast<double>(calls));
    }
    IssueSummary summary;
    summary.issue_s = median(issued);
    summary.eager_s = median(done);
    summary.launch_bound = is_launch_bound(summary.issue_s, device_s);
    return summary;
}

}  // namespace joulecast
