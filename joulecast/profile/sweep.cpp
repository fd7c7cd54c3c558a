#include "joulecast/profile/sweep.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "joulecast/dataset/columns.h"
#include "joulecast/dataset/repeat_spread.h"
#include "joulecast/error.h"
#include "joulecast/profile/found_clocks.h"
#include "joulecast/profile/larger_batch.h"
#include "joulecast/profile/sweep_run.h"

namespace joulecast {
namespace {

std::string label(const PlannedOperation& planned) {
    return signature(planned.operation);
}

std::string label(const PlannedNetwork& planned) {
    const NetworkMeasurement asked = describe(planned);
    return asked.model + " " + symbols_text(asked.symbols) + " " + std::string(name(asked.mode)) + " " +
           asked.precision;
}

std::string temperature_text(double temperature_c) {
    return std::isnan(temperature_c) ? "" : " (" + std::to_string(std::lround(temperature_c)) + " C)";
}

/// This sweep's, else that of the whole plan.
std::optional<double> budget_s_of(const PlanSettings& settings) {
    return settings.budget_s ? settings.budget_s : settings.whole_budget_s;
}

}  // namespace

SweepResult SweepRun::run() {
    const auto total = static_cast<std::int64_t>(plan_.operations.size() + plan_.networks.size());
    progress_.start(total, plan_.cost_s);
    started_s_ = settings_.now_s();
    if (const auto rows = dataset_.rows_without_clock(settings_.point.device); rows > 0)
        progress_.note(std::to_string(rows) + " stored measurements of " + settings_.point.device +
                       " have no clock, others have one. With --clocks current they count as measured at any clock. "
                       "joulecast info shows where they are from.");
    networks_left_s_ = plan_.networks_cost_s();
    rough_ = plan_.rough;
    for (const OperationRow& row : dataset_.operations(settings_.point.device))
        if (ran_out_of_memory(row.measurement)) too_large_.push_back(row.measurement.operation);
    for (const NetworkRow& row : dataset_.networks(settings_.point.device))
        if (ran_out_of_memory(row.measurement)) too_large_networks_.push_back(row.measurement);
    for (std::size_t stage = 0; stage < plan_.stages.size(); ++stage) run_stage(stage);
    progress_.stop();
    result_.left = total - handled_;
    result_.interrupted = settings_.interrupted();
    const RepeatSpread spread(dataset_.references(settings_.point.device));
    result_.sigma_between = spread.of(settings_.point.device, session_.provenance().session);
    return result_;
}

bool SweepRun::ran_out_of_memory(const auto& measurement) const {
    return measurement.outcome == Outcome::out_of_memory && measurement.asked.engine == settings_.point.engine;
}

void SweepRun::run_stage(std::size_t stage) {
    measure_by_plan(stage);
    const double networks_later_s = plan_.networks_cost_s(stage + 1);
    if (stage_) {
        // What came after the last repeat has none behind it yet.
        if (!settings_.interrupted() && watch_.unchecked_since(measured_s_)) repeat_reference();
        const std::size_t draws = std::min(most_drawn, good_.size() / 10);
        for (std::size_t i = 0; i < draws && !ended(networks_later_s); ++i) repeat_drawn();
        repeat_doubtful(networks_later_s);
    }
    refine(stage);
    if (stage_ && settings_.pace_interval_s && !settings_.interrupted()) look_at_pace();
    stage_.reset();
    good_.clear();
}

void SweepRun::measure_by_plan(std::size_t stage) {
    if (plan_.first_pass_s) session_.measure_by(first_pass_settings(settings_.measure, *plan_.first_pass_s));
    std::vector<const PlannedNetwork*> networks;
    for (const PlannedNetwork& planned : plan_.networks)
        if (planned.stage == stage) networks.push_back(&planned);
    const auto operations =
        static_cast<std::size_t>(std::ranges::count(plan_.operations, stage, &PlannedOperation::stage));
    std::vector<const PlannedOperation*> skipped;
    std::size_t done = 0, networks_done = 0;
    const auto measure_network = [&] {
        const PlannedNetwork& planned = *networks[networks_done++];
        networks_left_s_ -= planned.cost_s;
        if (!ended(0)) measure(planned);
    };
    for (std::size_t i = 0; i < plan_.operations.size(); ++i) {
        if (plan_.operations[i].stage != stage) continue;
        // The k-th of n in the middle of the k-th part of the operations.
        while (settings_.budget_s && networks_done < networks.size() &&
               (2 * networks_done + 1) * operations <= 2 * done * networks.size())
            measure_network();
        if (ended(networks_left_s_) || !affordable(i, networks_left_s_))
            skipped.push_back(&plan_.operations[i]);
        else
            measure(plan_.operations[i]);
        ++done;
    }
    while (networks_done < networks.size()) measure_network();
    // The pace was better than it looked.
    std::ranges::stable_sort(skipped, [](const auto* a, const auto* b) { return matters_more(*a, *b); });
    for (const PlannedOperation* planned : skipped)
        if (!ended(std::max(networks_left_s_, for_later_s(stage)))) measure(*planned);
}

double SweepRun::for_later_s(std::size_t stage) const {
    const double part = static_cast<double>(stage + 1) / static_cast<double>(plan_.stages.size());
    return settings_.budget_s.value_or(0) * (1 - part);
}

void SweepRun::refine(std::size_t stage) {
    std::vector<RoughOperation> list;
    for (const RoughOperation& rough : rough_)
        if (rough.planned.stage == stage) list.push_back(rough);
    if (list.empty() || ended(for_later_s(stage))) return;
    std::ranges::stable_sort(list, std::ranges::greater(), &RoughOperation::weight_s);
    progress_.note("measuring longer what errs most in the networks' time" +
                   (settings_.budget_s ? ", for " + duration_text(*settings_.budget_s - for_later_s(stage) -
                                                                  (settings_.now_s() - started_s_))
                                       : std::string()));
    session_.measure_by(settings_.measure);
    for (const RoughOperation& rough : list) {
        get_ready(rough.planned);
        if (ended(for_later_s(stage))) return;
        progress_.working_on(label(rough.planned), 0);
        const Measurement answer = ask(rough.planned);
        if (settings_.interrupted() && !is_timed(answer.outcome)) return;
        if (!is_timed(answer.outcome)) continue;  // the short one stays
        dataset_.replace(rough.row, answer, session_.provenance());
        ++result_.refined;
    }
}

bool SweepRun::ended(double reserved_s) const {
    if (settings_.interrupted()) return true;
    return settings_.budget_s && settings_.now_s() - started_s_ + reserved_s >= *settings_.budget_s;
}

bool SweepRun::affordable(std::size_t index, double reserved_s) const {
    constexpr std::int64_t enough_to_know = 10;
    if (!settings_.budget_s || handled_ < enough_to_know) return true;
    const double elapsed_s = settings_.now_s() - started_s_;
    const double mean_s = elapsed_s / static_cast<double>(handled_);
    const double left_s = *settings_.budget_s - reserved_s - elapsed_s;
    const std::size_t remaining = plan_.operations.size() - index;
    const auto fitting = static_cast<std::size_t>(std::max(0.0, left_s / mean_s));
    if (fitting >= remaining) return true;
    std::size_t larger = 0;
    for (std::size_t i = index; i < plan_.operations.size(); ++i)
        if (matters_more(plan_.operations[i], plan_.operations[index])) ++larger;
    return larger < fitting;
}

template <class Planned>
void SweepRun::get_ready(const Planned& planned) {
    if (stage_ != planned.stage) {
        OperatingPoint point = planned.point;
        point.math = settings_.point.math;  // the reference stays the same whatever comes first
        session_.enter(point);
        stage_ = planned.stage;
        watch_ = {};
        looked_in_.clear();
    }
    look_at_clocks(planned);
    while (watch_.due(settings_.now_s()) && !ended(0)) {
        repeat_reference();
        if (!ended(0)) repeat_drawn();
    }
    follow_pace(planned);
}

template <class Planned>
void SweepRun::look_at_clocks(const Planned& planned) {
    const FoundClocks& planned_at = plan_.stages[planned.stage].found;
    if (std::isnan(planned_at.sm_clock_mhz) || !std::isnan(planned.point.sm_clock_mhz)) return;
    if (looked_in_ == session_.provenance().session || settings_.interrupted()) return;
    looked_in_ = session_.provenance().session;
    const Measurement answer = believable(session_.measure_light());
    if (!is_timed(answer.outcome) || settings_.interrupted()) return;
    store_reference(answer, false);
    const FoundClocks now = found_clocks(answer);
    const bool limit_is_ours = !std::isnan(planned.point.power_limit_w);
    if (!limit_is_ours && !same_found_clock(now.sm_clock_mhz, planned_at.sm_clock_mhz))
        progress_.note("the device now runs at " + std::to_string(std::lround(now.sm_clock_mhz)) + " MHz, not " +
                       std::to_string(std::lround(planned_at.sm_clock_mhz)) +
                       " MHz as planned: another program sets its clock. Rows are stored with the clock that was read. "
                       "Run the same command again to measure what is missing at this clock.");
}

Measurement SweepRun::ask(const PlannedOperation& planned) {
    return dataset_.judged(checked(session_.measure(planned), planned.operation, planned.point));
}

NetworkMeasurement SweepRun::ask(const PlannedNetwork& planned) {
    return dataset_.judged(checked(session_.measure(planned), describe(planned), planned.variation.graph.nodes.size()));
}

template <class Result>
std::int64_t SweepRun::store(const Result& result) {
    const std::int64_t row = dataset_.insert(result, session_.provenance());
    ++handled_;
    if (result.outcome == Outcome::inferred) {
        ++result_.inferred;
    } else {
        ++(is_timed(result.outcome) ? result_.measured : result_.failed);
    }
    progress_.finished(is_timed(result.outcome) ? "" : std::string(name(result.outcome)) + ": " + result.message);
    return row;
}

template <class Result>
void SweepRun::store(const Result& result, Doubtful row) {
    if (settings_.require_energy && is_timed(result.outcome) && !result.energy)
        throw Error("energy could not be measured: " + result.energy_missing_reason +
                    ". Without --require-energy time and memory are measured.");
    row.row = store(result);
    if (!is_timed(result.outcome)) return;
    measured_s_ = settings_.now_s();
    if (result.conditions.limited_by == LimitedBy::thermal) {
        row.why = "heat throttled the first time";
        if (!told_heat_)
            progress_.note("heat throttles " + result.real.device + temperature_text(result.conditions.temperature_c) +
                           ". Such rows are measured again at the end; a fan, a lower clock or a pause helps");
        told_heat_ = true;
        doubtful_.push_back(row);
    } else {
        since_good_.push_back(row);
        if constexpr (std::is_same_v<Result, Measurement>) {
            if (plan_.first_pass_s && is_rough(result, plan_.energy_wanted))
                rough_.push_back({row.row, *row.operation, error_s(result, plan_.energy_wanted)});
        }
    }
}

bool SweepRun::abandoned(Outcome outcome) const {
    return settings_.interrupted() && outcome == Outcome::crashed;
}

bool SweepRun::is_stored(const PlannedOperation& planned) const {
    return dataset_.contains(
        key_of(planned.operation, planned.point, settings_.measure.method, plan_.stages[planned.stage].found));
}

bool SweepRun::is_stored(const PlannedNetwork& planned) const {
    return dataset_.contains(describe(planned), settings_.measure.method, plan_.stages[planned.stage].found);
}

void SweepRun::skip() {
    ++handled_;
    progress_.finished("");
}

void SweepRun::measure(const PlannedOperation& planned) {
    const Operation& operation = planned.operation;
    progress_.working_on(label(planned), planned.cost_s);
    if (is_stored(planned)) return skip();
    for (const Operation& smaller : too_large_)
        if (is_larger_batch(smaller, operation)) {
            Measurement inferred;
            inferred.operation = operation;
            inferred.asked = inferred.real = planned.point;
            inferred.outcome = Outcome::inferred;
            inferred.message = "a smaller batch ran out of memory: " + signature(smaller);
            store(inferred);
            return;
        }
    get_ready(planned);
    if (settings_.interrupted()) return;
    const Measurement answer = ask(planned);
    if (abandoned(answer.outcome)) return;
    if (answer.outcome == Outcome::out_of_memory) too_large_.push_back(operation);
    store(answer, {0, &planned, nullptr, "", reference_row(answer)});
}

void SweepRun::measure(const PlannedNetwork& planned) {
    const NetworkMeasurement asked = describe(planned);
    progress_.working_on(label(planned), planned.cost_s);
    if (is_stored(planned)) return skip();
    for (const NetworkMeasurement& smaller : too_large_networks_)
        if (is_larger_batch(smaller, asked)) {
            NetworkMeasurement inferred = asked;
            inferred.outcome = Outcome::inferred;
            inferred.message = "ran out of memory at " + symbols_text(smaller.symbols);
            store(inferred);
            return;
        }
    get_ready(planned);
    if (settings_.interrupted()) return;
    const NetworkMeasurement answer = ask(planned);
    if (abandoned(answer.outcome)) return;
    if (answer.outcome == Outcome::out_of_memory) too_large_networks_.push_back(answer);
    store(answer, {0, nullptr, &planned, "", {}});
}

double longest_soak_s(const PlanSettings& settings) {
    constexpr double share = 1.0 / 8;
    const auto budget_s = budget_s_of(settings);
    const double longest_s = MeasureSettings{}.longest_soak_s;
    if (!budget_s) return longest_s;
    return std::min(longest_s,
                    share * *budget_s / static_cast<double>(std::max<std::size_t>(1, settings.clocks.size())));
}

double overhead_s(const PlanSettings& settings) {
    constexpr double switch_s = 2;                                   // lock, three readings at target, 250 ms
    constexpr double calibration_s = 10;                             // once
    const double soak_s = std::min(15.0, longest_soak_s(settings));  // what it mostly takes
    const bool is_gpu = settings.device.kind == Device::Kind::gpu;
    double sum = is_gpu ? calibration_s : 0;
    for (const ClockSetting& clocks : settings.clocks) {
        sum += static_cast<double>(first_repeats + 1 + static_cast<std::int64_t>(most_drawn)) * reference_cost_s;
        if (is_gpu) sum += soak_s;
        if (!std::isnan(clocks.sm_clock_mhz) || !std::isnan(clocks.memory_clock_mhz) ||
            !std::isnan(clocks.power_limit_w))
            sum += switch_s;
    }
    const auto budget_s = budget_s_of(settings);
    const double along_s = 2 * reference_cost_s / reference_interval_s + pace_cost_s / pace_interval_s;
    return sum + budget_s.value_or(0) * along_s;
}

SweepResult sweep(const Plan& plan, Supervisor& supervisor, Dataset& dataset, const SweepSettings& settings,
                  SweepProgress& progress) {
    try {
        return SweepRun(plan, supervisor, dataset, settings, progress).run();
    } catch (...) {
        progress.stop();
        throw;
    }
}

}  // namespace joulecast
