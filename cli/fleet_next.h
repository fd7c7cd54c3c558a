#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "cli/what_next.h"

namespace joulecast::cli {

/// `joulecast fleet what-next`.
struct FleetNextOptions {
    std::string database;
    std::string folder = "next";
    double node_hours = 0;
    std::vector<std::string> devices;
    WhatNextWish wish;
    Output output;
};

/// Adds its options. The FleetNextOptions must outlive the parse.
void declare_fleet_next(CLI::App& command, FleetNextOptions& options);
/// Writes a plan for each device that some of the hours go to.
int run_fleet_next(const FleetNextOptions& options);

/// What a device gets: the first lines of its plan.
struct Allotment {
    std::vector<NextLine> lines;
    double cost_s = 0;
    double removed = 0;  ///< of the device's weighted uncertainty, in log
};

/// Seconds of all devices together, to whatever removes most uncertainty per second next; each device counts the same.
/// A device's lines are taken in their order, since a gain is what is left behind those before it. One for each plan.
std::vector<Allotment> allot(std::span<const NextPlan> plans, double seconds);

}  // namespace joulecast::cli
