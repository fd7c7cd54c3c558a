#include "cli/host_text.h"

#include <cmath>

#include "joulecast/report/table.h"

namespace joulecast::cli {

std::string host_text(const HostExtra& extra) {
    const std::string sign = extra.seconds_per_call < 0 ? " - " : " + ";
    const std::string networks = std::to_string(extra.networks) + (extra.networks == 1 ? " network" : " networks");
    return std::string(name(extra.host)) + " " + std::string(name(extra.mode)) + sign +
           show(std::abs(extra.seconds_per_call), Show::seconds) + " a call (" + networks + ")";
}

}  // namespace joulecast::cli
