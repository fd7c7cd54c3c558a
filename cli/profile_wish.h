#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/profile_options.h"
#include "joulecast/profile/augment.h"
#include "joulecast/profile/clock_settings.h"
#include "joulecast/profile/request.h"
#include "joulecast/worker/protocol.h"

namespace joulecast::cli {

/// What is to be measured, by the command line and the plan files that it names.
struct ProfileWish {
    std::vector<Variation> variations;
    std::vector<Sample> named;             ///< operations that plan files name
    std::optional<double> budget_s;        ///< of the command line: for this run
    std::optional<double> whole_budget_s;  ///< of plan files: for all that they name
    std::int64_t augment = 0;              ///< variants in all
    std::set<Mode> probe;                  ///< modes that the probe is measured in
    HowToMeasure how;

    Host host() const { return how.host.value_or(Host::cpp); }
    std::string meter() const { return how.meter.value_or("auto"); }
    /// Hello tells of `auto` alone: whether a meter that is named can be read is seen when it is opened.
    bool may_measure_energy(const protocol::Capabilities& worker) const {
        return meter() != "none" && (worker.measures_energy || meter() != "auto");
    }
    ClockWish clocks() const {
        return parse_clock_wish(how.clocks.value_or("current"), how.power_limits.value_or("current"),
                                how.memory_clocks.value_or("current"));
    }
};

/// Opens the plan files and the models. Throws what these throw, and UsageError where nothing is left to measure.
ProfileWish profile_wish(const ProfileOptions& options);

/// A plan file by its path, or else by its name among the shipped ones. Throws Error where there is none.
std::filesystem::path plan_file(const std::string& name);

/// Without a worker's word for it, cpu is this machine, a device that is known by name is as its data sheet says, and
/// any other a GPU of which nothing is known.
protocol::Capabilities assumed_worker(const ProfileOptions& options, const ProfileWish& wish);

/// How a plan is made for that worker. Throws UsageError for a shard that is none, and for clocks that it cannot set.
PlanSettings plan_settings(const ProfileOptions& options, const ProfileWish& wish,
                           const protocol::Capabilities& worker);

}  // namespace joulecast::cli
