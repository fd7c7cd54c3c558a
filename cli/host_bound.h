#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "joulecast/device/device.h"
#include "joulecast/forecast/forecast.h"

namespace joulecast::cli {

/// A run whose time its host decides.
struct HostBound {
    std::string device;
    Host host = Host::python;
    double guessed_pace = std::numeric_limits<double>::quiet_NaN();  ///< NetworkForecast::guessed_host_pace
};

/// "Python", "C++", "CUDA graph".
std::string host_word(Host host);

/// Adds the forecast to those whose time their hosts decide, if it is one.
void add_host_bound(const NetworkForecast& forecast, std::vector<HostBound>& runs);

/// What would help there, and whether differences between devices may be those of guessed CPUs. Empty: no such run.
std::string host_bound_words(std::span<const HostBound> runs);

}  // namespace joulecast::cli
