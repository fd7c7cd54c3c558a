#pragma once

#include <cstddef>
#include <string>

#include "cli/verb.h"
#include "joulecast/fleet/fleet_merge.h"
#include "joulecast/fleet/fleet_status.h"

namespace joulecast::cli {

/// Both return the exit status: parts_unknown where shards are not finished.
int print_fleet_status(const Output& output, const FleetFolder& fleet, const FleetStatus& status);
/// `unfinished`: shards of all the fleets.
int print_fleet_merge(const Output& output, const std::string& database, const FleetMerge& merged,
                      std::size_t unfinished);

}  // namespace joulecast::cli
