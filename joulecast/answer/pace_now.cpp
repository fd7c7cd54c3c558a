#include "joulecast/answer/pace_now.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "joulecast/answer/shipped.h"
#include "joulecast/error.h"
#include "joulecast/graph/operation.h"
#include "joulecast/profile/checked_answer.h"
#include "joulecast/profile/reference_watch.h"
#include "joulecast/report/table.h"
#include "joulecast/units/statistics.h"
#include "joulecast/worker/supervision/supervisor.h"

namespace joulecast {
namespace {

constexpr int repeats = 3;

void require_device(const protocol::Capabilities& worker, const DeviceModel& model) {
    if (worker.device.id == model.device.id) return;
    throw Error("the worker measures " + worker.device.id + ", not " + model.device.id +
                ". Leave out --pace now, or give a worker on that machine with --worker.");
}

}  // namespace

PaceNow pace_now(const DeviceModel& model, const std::string& worker) {
    const auto& reference = model.pace_reference;
    if (!reference)
        throw UsageError("--pace now: the predictor does not know the usual pace of " + model.device.id +
                         ". Measure with joulecast profile --budget and train again");
    Supervisor supervisor({.command = worker.empty() ? default_worker(model.point.host) : worker});
    require_device(supervisor.capabilities(), model);
    MeasureSettings settings;
    settings.threads = model.point.threads;
    protocol::Measure request{parse_operation(reference->operation), model.point, pace_settings(settings)};
    request.point.sm_clock_mhz = request.point.memory_clock_mhz = request.point.power_limit_w =
        std::numeric_limits<double>::quiet_NaN();
    std::vector<double> times;
    for (int repeat = 0; repeat < repeats; ++repeat) {
        const Measurement answer = supervisor.measure(request, std::chrono::seconds(60));
        if (!is_timed(answer.outcome) || !(answer.time.mean_s > 0))
            throw Error("cannot measure the pace of " + model.device.id + ": " + std::string(name(answer.outcome)) +
                        " " + answer.message + ". Leave out --pace now to forecast the usual pace.");
        times.push_back(answer.time.mean_s);
    }
    const double now_s = median(times);
    return {now_s / reference->usual_s, now_s};
}

std::string time_compared(double factor) {
    return std::to_string(std::lround(100 * std::abs(factor - 1))) + " % " + (factor < 1 ? "less" : "more") + " time";
}

std::string pace_text(const DeviceModel& model, const PaceNow& pace) {
    const double usual_s = model.pace_reference->usual_s;
    const bool is_usual = std::lround(100 * std::abs(pace.factor - 1)) == 0;
    const std::string differs = is_usual ? "as much time now as" : time_compared(pace.factor) + " now than";
    return model.device.id + " takes " + differs + " when it was measured (reference operation " +
           show(pace.now_s, Show::seconds) + ", usually " + show(usual_s, Show::seconds) + "); forecasts follow";
}

}  // namespace joulecast
