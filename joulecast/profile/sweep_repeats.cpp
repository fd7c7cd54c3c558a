// What a sweep measures again: the reference operation, drawn pairs, and what heat or drift has touched.
#include <algorithm>
#include <cmath>
#include <utility>

#include "joulecast/profile/other_machine.h"
#include "joulecast/profile/sweep_run.h"
#include "joulecast/units/time_stamp.h"

namespace joulecast {
namespace {

std::string percent(double share) {
    return std::to_string(std::lround(100 * std::abs(share))) + " % " + (share < 0 ? "less" : "more");
}

}  // namespace

void SweepRun::look_at_pace() {
    if (reference_missing_) return;
    const Measurement answer = believable(session_.measure_pace());
    looked_at_pace_s_ = settings_.now_s();
    if (!is_timed(answer.outcome) || settings_.interrupted()) return;
    store_reference(answer, false);
    ++result_.references;
}

void SweepRun::follow_pace(const PlannedOperation&) {
    look_at_pace_unless_within(settings_.pace_interval_s);
}

void SweepRun::follow_pace(const PlannedNetwork&) {
    constexpr double fresh_s = 1;
    if (settings_.pace_interval_s) look_at_pace_unless_within(fresh_s);
}

void SweepRun::look_at_pace_unless_within(std::optional<double> interval_s) {
    if (interval_s && settings_.now_s() - looked_at_pace_s_ >= *interval_s && !ended(0)) look_at_pace();
}

void SweepRun::repeat_reference() {
    const Measurement answer = believable(session_.measure_reference());
    if (answer.outcome == Outcome::crashed || settings_.interrupted()) return watch_.skip(settings_.now_s());
    if (!is_timed(answer.outcome)) {
        if (result_.references == 0 && !reference_missing_)
            progress_.note("the worker cannot measure the reference operation: " + answer.message +
                           ". The spread between repeats stays unknown.");
        reference_missing_ = true;
        return watch_.skip(settings_.now_s());
    }
    const auto verdict = watch_.add(answer.time.mean_s, answer.time.half_width_s, settings_.now_s());
    looked_at_pace_s_ = settings_.now_s();
    if (result_.references == 0) compare_with_earlier_sessions(reference_row(answer));
    store_reference(answer, verdict != ReferenceWatch::Verdict::good);
    ++result_.references;
    if (verdict != ReferenceWatch::Verdict::good) {
        doubt(verdict);
    } else {
        for (const Doubtful& doubtful : since_good_)
            if (doubtful.operation != nullptr) good_.push_back(doubtful);
    }
    since_good_.clear();
}

void SweepRun::compare_with_earlier_sessions(const ReferenceRow& now) {
    const std::string& device = settings_.point.device;
    const double ratio = reference_ratio(dataset_.references(device), dataset_.operations(device), now);
    if (std::isnan(ratio) || (ratio < other_machine_ratio && ratio > 1 / other_machine_ratio)) return;
    progress_.note("the reference operation takes " + percent(ratio - 1) + " time than in earlier sessions on " +
                   device +
                   ". If this is another machine of the same name, measure it into another database: the rows of both "
                   "would be learned as one device.");
}

void SweepRun::repeat_drawn() {
    if (good_.empty() || settings_.measure.method != Method::joulecast) return;
    std::swap(good_[random_() % good_.size()], good_.back());
    const Doubtful drawn = good_.back();
    good_.pop_back();
    const Measurement answer = believable(session_.repeat(*drawn.operation));
    if (!is_timed(answer.outcome) || settings_.interrupted()) return;
    if (drawn.first.provenance.session != session_.provenance().session) return;  // another worker since
    dataset_.insert_missing({}, {}, {}, {drawn.first, reference_row(answer)});
}

ReferenceRow SweepRun::reference_row(const Measurement& answer) const {
    ReferenceRow row;
    row.operation = signature(answer.operation);
    row.asked = answer.asked;
    row.real = answer.real;
    row.asked.device = row.real.device = settings_.point.device;
    row.asked.engine = row.real.engine = settings_.point.engine;
    row.started_at = answer.started_at;
    row.time_mean_s = answer.time.mean_s;
    row.time_half_width_s = answer.time.half_width_s;
    row.temperature_c = answer.conditions.temperature_c;
    row.provenance = session_.provenance();
    return row;
}

void SweepRun::store_reference(const Measurement& answer, bool drifted) {
    ReferenceRow row = reference_row(answer);
    // Told apart by the millisecond; only a worker that computes its answers is quicker.
    while (row.started_at == last_reference_at_) row.started_at = utc_time_stamp(utc_now_s());
    last_reference_at_ = row.started_at;
    row.drifted = drifted;
    dataset_.insert_missing({}, {}, {}, {row});
}

void SweepRun::doubt(ReferenceWatch::Verdict verdict) {
    const std::string excess = percent(watch_.excess());
    if (settings_.budget_s && settings_.pace_interval_s) {
        if (!alarmed_)
            progress_.note("the machine's speed changes: the reference operation takes " + excess +
                           " time than at the start. Times are corrected for this when they are read.");
        alarmed_ = true;
        return;
    }
    if (!alarmed_)
        progress_.note("the machine drifts: the reference operation takes " + excess +
                       " time than at the start. The rows since then are marked, and measured again at the end "
                       "if there is time.");
    alarmed_ = true;
    if (verdict == ReferenceWatch::Verdict::settled)
        progress_.note("the machine keeps its new speed: the reference operation takes " + excess +
                       " time than at the start.");
    for (Doubtful& doubtful : since_good_) {
        doubtful.why = "the reference operation took " + excess + " time than at the start";
        if (doubtful.operation != nullptr)
            dataset_.remark_operation(doubtful.row, doubtful.why);
        else
            dataset_.remark_network(doubtful.row, doubtful.why);
        doubtful_.push_back(std::move(doubtful));
    }
}

void SweepRun::repeat_doubtful(double reserved_s) {
    std::vector<Doubtful> list = std::exchange(doubtful_, {});
    since_good_.clear();
    if (list.empty() || ended(reserved_s)) return;
    progress_.note("measuring once more: " + std::to_string(list.size()));
    for (const Doubtful& doubtful : list) {
        if (ended(reserved_s)) return;
        const bool done =
            doubtful.operation != nullptr ? repeat(*doubtful.operation, doubtful) : repeat(*doubtful.network, doubtful);
        if (done) ++result_.repeated;
    }
}

template <class Planned>
bool SweepRun::repeat(const Planned& planned, const Doubtful& doubtful) {
    follow_pace(planned);
    auto answer = ask(planned);
    if (!is_timed(answer.outcome)) return false;
    answer.message += (answer.message.empty() ? "" : "; ") + ("measured once more: " + doubtful.why);
    dataset_.replace(doubtful.row, answer, session_.provenance());
    return true;
}

}  // namespace joulecast
