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

struct Swept {
    const Plan& plan;
    const Device& device;
    const SweepResult& result;
};
int print_result(const Output& output, const std::string& database, const Swept& swept);

}  // namespace joulecast::cli
