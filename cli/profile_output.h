#pragma once

#include <string>

#include "cli/verb.h"
#include "joulecast/profile/plan.h"
#include "joulecast/profile/sweep.h"

namespace joulecast::cli {

/// On standard error: how much is there already, and what the rest takes.
void announce(const Plan& plan, const Device& device);

/// What --dry-run prints. Both return the exit status.
int print_plan(const Output& output, const Plan& plan, const Device& device);

/// Writes what is planned, and what came of it when the sweep has ended, to that file; nothing where it has no name. So
/// who looks on knows how much was wanted, even of a sweep that was killed.
void write_counts(const std::string& file, const Plan& plan, const Device& device, const SweepResult* result);

struct Swept {
    const Plan& plan;
    const Device& device;
    const SweepResult& result;
};
int print_result(const Output& output, const std::string& database, const Swept& swept);

}  // namespace joulecast::cli
