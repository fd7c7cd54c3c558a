#include "cli/host_text.h"

#include <cmath>

#include "joulecast/forecast/compose.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {

std::string host_text(const HostExtra& extra) {
    const std::string sign = extra.seconds_per_call < 0 ? " - " : " + ";
    const std::string networks = std::to_string(extra.networks) + (extra.networks == 1 ? " network" : " networks");
    return std::string(name(extra.host)) + " " + std::string(name(extra.mode)) + sign +
           show(std::abs(extra.seconds_per_call), Show::seconds) + " a call (" + networks + ")";
}

std::string issuer_text(const Issuer& issuer, const std::string& measured_from) {
    const double factor = issuer.pace.factor, spread = spread_90(issuer.pace.sigma);
    const std::string range = show(factor / spread, Show::number) + " to " + show(factor * spread, Show::number);
    return issuer.cpu + " issues the calls: it takes " + show(factor, Show::number) + " times as long as " +
           (measured_from.empty() ? "the unknown CPU of the measurements" : measured_from) + " (90 %: " + range + ")";
}

}  // namespace joulecast::cli
