#include "joulecast/profile/sweep.h"

#include <array>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "joulecast/dataset/columns.h"
#include "joulecast/error.h"

namespace joulecast {
namespace {

std::string utc_now() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return {text.data(), length};
}

/// Start and a random part: two sweeps that start in the same second stay apart.
std::string new_session(const std::string& started) {
    std::random_device random;
    constexpr char digits[] = "0123456789abcdef";
    std::string id = started + "-";
    for (int i = 0; i < 8; ++i) id += digits[random() % 16];
    return id;
}

bool is_timed(Outcome outcome) {
    return outcome == Outcome::ok || outcome == Outcome::unstable;
}

/// What a failed trial keeps: that it was tried, and why it failed.
template <class Result>
void forget_numbers(Result& result) {
    result.time = {};
    result.forward.reset();
    result.issue.reset();
    result.energy.reset();
    result.peak_memory_bytes = result.workspace_bytes = std::numeric_limits<double>::quiet_NaN();
    result.block_s.clear();
    result.wall_s = 0;
    if constexpr (requires { result.hot; }) {
        result.hot.reset();
        result.working_set_bytes = 0;
        result.rotation = 1;
    } else {
        result.resident_bytes = std::numeric_limits<double>::quiet_NaN();
    }
}

template <class Result>
void refuse_impossible(Result& result) {
    if (const auto why = impossible(result)) {
        result.outcome = Outcome::crashed;
        result.message = "the worker answered with numbers that cannot be: " + *why;
        forget_numbers(result);
    }
}

NetworkMeasurement checked(NetworkMeasurement answer, const NetworkMeasurement& asked) {
    answer.model = asked.model;
    answer.symbols = asked.symbols;
    answer.mode = asked.mode;
    answer.precision = asked.precision;
    answer.asked = asked.asked;
    refuse_impossible(answer);
    return answer;
}

class Sweep {
  public:
    Sweep(const Plan& plan, Supervisor& supervisor, Dataset& dataset, const SweepSettings& settings, Progress& progress)
        : plan_(plan), supervisor_(supervisor), dataset_(dataset), settings_(settings), progress_(progress) {}

    SweepResult run() {
        const auto total = static_cast<std::int64_t>(plan_.operations.size() + plan_.networks.size());
        progress_.start(total, plan_.cost_s);
        started_s_ = settings_.now_s();
        new_provenance();
        for (const OperationRow& row : dataset_.operations(settings_.point.device))
            if (row.measurement.outcome == Outcome::out_of_memory) too_large_.push_back(row.measurement.operation);
        for (const NetworkRow& row : dataset_.networks(settings_.point.device))
            if (row.measurement.outcome == Outcome::out_of_memory) too_large_networks_.push_back(row.measurement);
        for (std::size_t stage = 0; stage < plan_.stages.size(); ++stage) run_stage(stage);
        progress_.stop();
        result_.left = total - handled_;
        result_.interrupted = settings_.interrupted();
        return result_;
    }

  private:
    /// Networks come after the operations; what they will take is kept for them.
    void run_stage(std::size_t stage) {
        const double for_networks_s = plan_.networks_cost_s(stage);
        for (std::size_t i = 0; i < plan_.operations.size(); ++i)
            if (plan_.operations[i].stage == stage && !ended(for_networks_s) && affordable(i, for_networks_s))
                measure(plan_.operations[i]);
        for (const PlannedNetwork& planned : plan_.networks)
            if (planned.stage == stage && !ended(0)) measure(planned);
    }

    bool ended(double reserved_s) const {
        if (settings_.interrupted()) return true;
        return settings_.budget_s && settings_.now_s() - started_s_ + reserved_s >= *settings_.budget_s;
    }

    /// When operations take longer than planned, those with the smallest shares are left: the order is random, and
    /// the end of the budget would else hit any of them.
    bool affordable(std::size_t index, double reserved_s) const {
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
            if (plan_.operations[i].share_s > plan_.operations[index].share_s) ++larger;
        return larger < fitting;
    }

    /// A new session for every start of the worker.
    void new_provenance() {
        const protocol::Capabilities& worker = supervisor_.capabilities();
        if (worker.device.id != settings_.point.device)
            throw Error("the worker measures " + worker.device.id + " now, not " + settings_.point.device +
                        " as before. Its results would be stored under the wrong device.");
        dataset_.insert(worker.device);
        provenance_ = worker.provenance;
        provenance_.started = utc_now();
        provenance_.session = new_session(provenance_.started);
        auto json = nlohmann::json::parse(protocol::settings_to_json(settings_.measure));
        json["order_seed"] = settings_.order_seed;
        provenance_.settings = json.dump();
        restarts_ = supervisor_.restarts();
    }

    template <class Result>
    void store(const Result& result) {
        if (supervisor_.restarts() != restarts_) new_provenance();
        dataset_.insert(result, provenance_);
        ++handled_;
        if (result.outcome == Outcome::inferred) {
            ++result_.inferred;
        } else {
            ++(is_timed(result.outcome) ? result_.measured : result_.failed);
        }
        progress_.finished(is_timed(result.outcome) ? "" : std::string(name(result.outcome)) + ": " + result.message);
    }

    /// The user's Ctrl-C reaches the worker too: its death is then no result.
    bool abandoned(Outcome outcome) const { return settings_.interrupted() && outcome == Outcome::crashed; }

    void skip() {
        ++handled_;
        progress_.finished("");
    }

    void measure(const PlannedOperation& planned) {
        const Operation& operation = planned.operation;
        progress_.working_on(signature(operation), planned.cost_s);
        if (dataset_.contains(key_of(operation, planned.point, settings_.measure.method))) return skip();
        for (const Operation& smaller : too_large_)
            if (is_larger_batch(smaller, operation)) {
                Measurement inferred;
                inferred.operation = operation;
                inferred.asked = inferred.real = planned.point;
                inferred.outcome = Outcome::inferred;
                inferred.message = "a smaller batch ran out of memory: " + signature(smaller);
                return store(inferred);
            }
        const Measurement answer =
            checked(supervisor_.measure(protocol::Measure{operation, planned.point, settings_.measure}), operation,
                    planned.point);
        if (abandoned(answer.outcome)) return;
        if (answer.outcome == Outcome::out_of_memory) too_large_.push_back(operation);
        store(answer);
    }

    void measure(const PlannedNetwork& planned) {
        const NetworkMeasurement asked = describe(planned);
        progress_.working_on(asked.model + " " + symbols_text(asked.symbols) + " " + std::string(name(asked.mode)) +
                                 " " + asked.precision,
                             planned.cost_s);
        if (dataset_.contains(asked, settings_.measure.method)) return skip();
        for (const NetworkMeasurement& smaller : too_large_networks_)
            if (is_larger_batch(smaller, asked)) {
                NetworkMeasurement inferred = asked;
                inferred.outcome = Outcome::inferred;
                inferred.message = "ran out of memory at " + symbols_text(smaller.symbols);
                return store(inferred);
            }
        const NetworkMeasurement answer =
            checked(supervisor_.measure(protocol::MeasureGraph{planned.variation.graph, planned.point,
                                                               settings_.measure, planned.optimizer}),
                    asked);
        if (abandoned(answer.outcome)) return;
        if (answer.outcome == Outcome::out_of_memory) too_large_networks_.push_back(answer);
        store(answer);
    }

    const Plan& plan_;
    Supervisor& supervisor_;
    Dataset& dataset_;
    const SweepSettings& settings_;
    Progress& progress_;
    Provenance provenance_;
    int restarts_ = 0;
    double started_s_ = 0;
    std::int64_t handled_ = 0;
    std::vector<Operation> too_large_;
    std::vector<NetworkMeasurement> too_large_networks_;
    SweepResult result_;
};

}  // namespace

Measurement checked(Measurement answer, const Operation& operation, const OperatingPoint& point) {
    answer.operation = operation;
    answer.asked = point;
    refuse_impossible(answer);
    return answer;
}

SweepResult sweep(const Plan& plan, Supervisor& supervisor, Dataset& dataset, const SweepSettings& settings,
                  Progress& progress) {
    return Sweep(plan, supervisor, dataset, settings, progress).run();
}

}  // namespace joulecast
