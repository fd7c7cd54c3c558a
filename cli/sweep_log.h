#pragma once

#include <memory>
#include <string>

#include "joulecast/meter/power_log.h"
#include "joulecast/worker/protocol.h"

namespace joulecast::cli {

/// What `--power-log FILE` starts: power, clocks and temperature of the worker's device all along the sweep, with the
/// time stamps of the rows. Throws Error where the worker runs on another machine: its meters cannot be read from here.
/// A missing meter is told on standard error; the rest is logged all the same.
std::unique_ptr<PowerLog> start_power_log(const std::string& file, const std::string& meter, const std::string& device,
                                          const protocol::Capabilities& worker);

}  // namespace joulecast::cli
