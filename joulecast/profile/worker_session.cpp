#include "joulecast/profile/worker_session.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "joulecast/dataset/card.h"
#include "joulecast/device/device_table.h"
#include "joulecast/error.h"
#include "joulecast/profile/first_pass.h"
#include "joulecast/profile/found_clocks.h"
#include "joulecast/profile/other_machine.h"
#include "joulecast/profile/patience.h"
#include "joulecast/profile/reference_watch.h"
#include "joulecast/units/printable.h"
#include "joulecast/units/time_stamp.h"

namespace joulecast {
namespace {

constexpr int most_losses = 3;

/// Start and a random part: two sweeps that start in the same second stay apart.
std::string new_session(const std::string& started) {
    std::random_device random;
    constexpr char digits[] = "0123456789abcdef";
    std::string id = started + "-";
    for (int i = 0; i < 8; ++i) id += digits[random() % 16];
    return id;
}

/// Empty where a worker of ours is of this release, or is not ours.
std::string other_release(const std::string& worker) {
    const auto blank = worker.find(' ');
    if (!worker.starts_with("joulecast-") || blank == std::string::npos) return "";
    if (worker.substr(blank + 1) == JOULECAST_VERSION) return "";
    return "the worker is " + printable(worker, 80) +
           ", this is joulecast " JOULECAST_VERSION
           ": they may measure differently. Install both from one release (for a board: joulecast pack-worker).";
}

/// What the driver lists, each once.
std::vector<double> ascending(std::vector<double> clocks) {
    std::erase_if(clocks, [](double clock) { return !(clock > 0); });
    std::ranges::sort(clocks);
    clocks.erase(std::unique(clocks.begin(), clocks.end()), clocks.end());
    return clocks;
}

}  // namespace

WorkerSession::WorkerSession(Supervisor& supervisor, Dataset& dataset, const SweepSettings& settings,
                             SweepProgress& progress)
    : supervisor_(supervisor),
      dataset_(dataset),
      settings_(settings),
      progress_(progress),
      how_(settings.measure),
      point_(settings.point) {
    renew();
    reference_ = reference_operation(supervisor_.capabilities().device.kind);
}

void WorkerSession::measure_by(const MeasureSettings& how) {
    how_ = how;
    renew();
}

void WorkerSession::enter(const OperatingPoint& point) {
    point_ = point;
    be_ready();
    prepare();
}

/// A new session for every start of the worker.
void WorkerSession::renew() {
    const protocol::Capabilities& worker = supervisor_.capabilities();
    if (worker.device.id != settings_.point.device)
        throw Error("the worker measures " + worker.device.id + " now, not " + settings_.point.device +
                    " as before. Its results would be stored under the wrong device.");
    if (worker.engine != settings_.point.engine)
        throw Error("the worker runs engine " + worker.engine + " now, not " + settings_.point.engine +
                    " as before. Its results would be stored under the wrong engine.");
    if (const std::string remark = other_release(worker.provenance.worker);
        !remark.empty() && remark != release_remark_) {
        progress_.note(remark);
        release_remark_ = remark;
    }
    Device device = with_known_figures(worker.device);
    device.core_clocks_mhz = ascending(worker.sm_clocks_mhz);
    if (worker.power_limit_low_w > 0) device.min_power_limit_w = worker.power_limit_low_w;
    if (worker.power_limit_high_w > 0) device.max_power_limit_w = worker.power_limit_high_w;
    for (const Device& stored : dataset_.devices())
        if (const std::string changed = stored.id == device.id ? changed_figures(stored, device) : ""; !changed.empty())
            progress_.note(device.id + " differs from the database: " + changed +
                           ". Both will be learned as one device. If this is another machine, measure it into another "
                           "database.");
    dataset_.insert(device);
    provenance_ = worker.provenance;
    if (!settings_.card.empty()) provenance_.machine = with_card(provenance_.machine, settings_.card);
    provenance_.started = utc_time_stamp(utc_now_s());
    provenance_.session = new_session(provenance_.started);
    provenance_.method = name(how_.method);
    auto json = nlohmann::json::parse(protocol::settings_to_json(how_));
    json["order_seed"] = settings_.order_seed;
    const double network_s = network_settings(how_).time_budget_s;
    if (network_s != how_.time_budget_s) json["network_time_budget_s"] = network_s;
    provenance_.settings = json.dump();
    restarts_ = supervisor_.restarts();
}

void WorkerSession::prepare() {
    const auto prepared = supervisor_.prepare({point_, settings_.measure}, preparing_patience());
    if (!prepared) return;
    // Once, and not what hello has said already: a worker that is started again says the same again.
    const bool is_new =
        prepared->message != remark_ && prepared->message != supervisor_.capabilities().energy_missing_reason;
    if (is_new && !prepared->message.empty()) progress_.note(prepared->message);
    remark_ = prepared->message;
    if (!prepared->settled)
        progress_.note("the device's temperature has not settled" +
                       (std::isnan(prepared->temperature_c)
                            ? std::string()
                            : " (" + std::to_string(std::lround(prepared->temperature_c)) + " C)") +
                       "; measuring anyway");
}

/// A worker that runs, at the point; one that was started again prepares again.
void WorkerSession::be_ready() {
    supervisor_.capabilities();
    if (supervisor_.restarts() == restarts_) return;
    renew();
    prepare();
}

void WorkerSession::count_loss(const std::string& why) {
    if (++losses_ < most_losses) return;
    throw Error("the worker was lost " + std::to_string(losses_) + " times in a row. The last time: " + why +
                ". All results so far are kept. When the worker and the connection work again, the same command "
                "goes on from there.");
}

template <class Ask>
auto WorkerSession::stamped(Ask ask) {
    be_ready();
    const std::string started_at = utc_time_stamp(utc_now_s());
    auto answer = ask();
    answer.started_at = started_at;
    answer.ended_at = utc_time_stamp(utc_now_s());
    if (answer.outcome != Outcome::crashed) losses_ = 0;
    return answer;
}

template <class Ask>
auto WorkerSession::persistently(Ask ask) {
    auto answer = stamped(ask);
    if (answer.outcome != Outcome::crashed || settings_.interrupted()) return answer;
    count_loss(answer.message);
    progress_.note(answer.message + "; asking a fresh worker");
    answer = stamped(ask);
    if (answer.outcome != Outcome::crashed || settings_.interrupted()) return answer;
    if (supervisor_.lost_without_blame())
        throw Error("the worker's machine or the line to it was lost twice: " + answer.message +
                    ". Nothing is stored of what was being measured; all results before are kept. When it works again, "
                    "the same command goes on from there.");
    count_loss(answer.message);
    answer.message = "twice, the second time like this: " + answer.message;
    measure_reference();
    return answer;
}

Measurement WorkerSession::measure(const PlannedOperation& planned) {
    const auto timeout = settings_.patience(how_, planned.call_s, false);
    return persistently(
        [&] { return supervisor_.measure(protocol::Measure{planned.operation, planned.point, how_}, timeout); });
}

NetworkMeasurement WorkerSession::measure(const PlannedNetwork& planned) {
    MeasureSettings how = network_settings(how_);
    how.measure_energy = settings_.measure.measure_energy;  // so few have it even in a first pass
    const protocol::MeasureGraph request{planned.variation.graph, planned.point, how, planned.optimizer};
    const auto timeout = settings_.patience(how, planned.call_s, true);
    return persistently([&] { return supervisor_.measure(request, timeout); });
}

PlannedOperation WorkerSession::reference() const {
    PlannedOperation planned;
    planned.operation = reference_;
    planned.point = point_;
    planned.call_s = reference_cost_s;
    return planned;
}

Measurement WorkerSession::measure_reference() {
    return time_once(reference(), reference_settings(how_));
}

Measurement WorkerSession::measure_pace() {
    return time_once(reference(), pace_settings(how_));
}

Measurement WorkerSession::measure_light() {
    PlannedOperation planned = reference();
    planned.operation = light_operation();
    return time_once(planned, reference_settings(how_));
}

Measurement WorkerSession::repeat(const PlannedOperation& planned) {
    return time_once(planned, reference_settings(how_));
}

Measurement WorkerSession::time_once(const PlannedOperation& planned, const MeasureSettings& how) {
    const auto timeout = settings_.patience(how, planned.call_s, false);
    Measurement answer =
        stamped([&] { return supervisor_.measure(protocol::Measure{planned.operation, planned.point, how}, timeout); });
    answer.operation = planned.operation;
    answer.asked = planned.point;
    if (answer.outcome == Outcome::crashed && !settings_.interrupted()) count_loss(answer.message);
    return answer;
}

}  // namespace joulecast
