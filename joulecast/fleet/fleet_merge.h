#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/fleet/card_spread.h"
#include "joulecast/fleet/fleet_folder.h"

namespace joulecast {

/// How cards of one device compare.
struct DeviceSpread {
    std::vector<CardComparison> time;
    std::vector<CardComparison> power;
};

struct FleetMerge {
    std::int64_t databases = 0;
    std::int64_t rows = 0;                       ///< operations, networks and repeats of the reference that were added
    std::int64_t left_out = 0;                   ///< operations and networks that are there already, from another task
    std::vector<std::string> unreadable;         ///< which, and why
    std::map<std::string, DeviceSpread> spread;  ///< by device
};

/// Adds what all tasks have copied back. Of what several tasks measured alike (an array that was submitted twice, a
/// task that was lost and done again) one row is taken: the first that has a time, or else the first. What every card
/// measured so that cards can be compared is kept once for each card. A clock that was not asked for tells rows apart
/// as it does when a sweep goes on (Dataset::contains).
FleetMerge merge_fleets(std::span<const FleetFolder> fleets, Dataset& into);

}  // namespace joulecast
