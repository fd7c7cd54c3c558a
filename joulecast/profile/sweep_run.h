#pragma once

#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "joulecast/profile/checked_answer.h"
#include "joulecast/profile/first_pass.h"
#include "joulecast/profile/reference_watch.h"
#include "joulecast/profile/sweep.h"
#include "joulecast/profile/worker_session.h"

namespace joulecast {

/// A row that is to be measured once more.
struct Doubtful {
    std::int64_t row = 0;
    const PlannedOperation* operation = nullptr;  ///< one of the two
    const PlannedNetwork* network = nullptr;
    std::string why;
    ReferenceRow first;  ///< of an operation: its time, should it be drawn for a repeat
};

/// One sweep from its first measurement to its last: what is measured by the plan (sweep.cpp), and what is measured
/// again (sweep_repeats.cpp).
class SweepRun {
  public:
    SweepRun(const Plan& plan, Supervisor& supervisor, Dataset& dataset, const SweepSettings& settings,
             SweepProgress& progress)
        : plan_(plan),
          dataset_(dataset),
          settings_(settings),
          progress_(progress),
          session_(supervisor, dataset, settings, progress) {}

    SweepResult run();

  private:
    /// What another engine could not hold tells nothing.
    bool ran_out_of_memory(const auto& measurement) const;
    void run_stage(std::size_t stage);
    /// Networks come after the operations, with a budget between them: both then meet the same machine. What they will
    /// take is kept for them.
    void measure_by_plan(std::size_t stage);
    /// The part of the budget that belongs to the stages behind it.
    double for_later_s(std::size_t stage) const;
    /// The second pass: what is left of this stage's part of the budget goes to the operations whose error weighs most.
    void refine(std::size_t stage);
    bool ended(double reserved_s) const;
    /// When operations take longer than planned, those with the smallest shares are left: the order is random, and
    /// the end of the budget would else hit any of them.
    bool affordable(std::size_t index, double reserved_s) const;
    /// The worker stands at the point of what comes next, and the machine has been looked at lately.
    template <class Planned>
    void get_ready(const Planned& planned);
    /// How fast the machine is now: stored beside the rows, for joulecast/dataset/pace.h.
    void look_at_pace();
    /// The same where the last look is too old for what comes next: a network counts for much, and is measured between
    /// two looks of its own.
    void follow_pace(const PlannedOperation& next);
    void follow_pace(const PlannedNetwork& next);
    void look_at_pace_unless_within(std::optional<double> interval_s);
    /// Once in each session, so that its rows tell what the device was let run at.
    template <class Planned>
    void look_at_clocks(const Planned& planned);
    void repeat_reference();
    void compare_with_earlier_sessions(const ReferenceRow& now);
    Measurement believable(const Measurement& answer) const {
        return dataset_.judged(checked(answer, answer.operation, answer.asked));
    }
    /// One of what was measured well, a second time: a pair tells how far repeats of such operations lie apart.
    void repeat_drawn();
    ReferenceRow reference_row(const Measurement& answer) const;
    void store_reference(const Measurement& answer, bool drifted);
    /// Marks what was measured since the last good repeat.
    void doubt(ReferenceWatch::Verdict verdict);
    /// Once more what heat or drift has touched; this time it is kept as it is.
    void repeat_doubtful(double reserved_s);
    template <class Planned>
    bool repeat(const Planned& planned, const Doubtful& doubtful);
    Measurement ask(const PlannedOperation& planned);
    NetworkMeasurement ask(const PlannedNetwork& planned);
    template <class Result>
    std::int64_t store(const Result& result);
    template <class Result>
    void store(const Result& result, Doubtful row);
    /// The user's Ctrl-C reaches the worker too: its death is then no result.
    bool abandoned(Outcome outcome) const;
    bool is_stored(const PlannedOperation& planned) const;
    bool is_stored(const PlannedNetwork& planned) const;
    void skip();
    void measure(const PlannedOperation& planned);
    void measure(const PlannedNetwork& planned);

    const Plan& plan_;
    Dataset& dataset_;
    const SweepSettings& settings_;
    SweepProgress& progress_;
    WorkerSession session_;
    ReferenceWatch watch_;
    std::optional<std::size_t> stage_;  ///< that the worker stands at
    double started_s_ = 0;
    double measured_s_ = 0;  ///< when the last measurement ended
    double looked_at_pace_s_ = -std::numeric_limits<double>::infinity();
    double networks_left_s_ = 0;  ///< what those still to be measured will take
    std::vector<RoughOperation> rough_;
    std::int64_t handled_ = 0;
    std::string last_reference_at_;
    std::string looked_in_;  ///< session whose clocks have been looked at
    bool alarmed_ = false;
    bool told_heat_ = false;
    bool reference_missing_ = false;
    std::vector<Doubtful> since_good_;  ///< measured since the last good repeat
    std::vector<Doubtful> doubtful_;
    std::vector<Doubtful> good_;  ///< operations of this stage that a good repeat of the reference has followed
    std::mt19937_64 random_{settings_.order_seed};
    std::vector<Operation> too_large_;
    std::vector<NetworkMeasurement> too_large_networks_;
    SweepResult result_;
};

}  // namespace joulecast
