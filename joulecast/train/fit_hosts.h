#pragma once

#include <span>
#include <string>
#include <vector>

#include "joulecast/forecast/hosts.h"

namespace joulecast {

/// A network measured from another host than the one that its operations were measured with.
struct HostSample {
    std::string model;
    Host host = Host::python;
    Mode mode = Mode::inference;
    NetworkParts parts;     ///< from the host of the operations, corrections included
    double measured_s = 0;  ///< from the other host
    double sigma = 0;       ///< of log(measured_s) over the parts, as far as known beforehand
};

/// Seconds per call that bring the times nearest to the measured ones, of samples of one host and mode. Least squares
/// of log(time) over its standard deviation, beyond two of which a square grows like a line; batches of a model count
/// as one; the default pulls as one measurement would that is as uncertain as it. That deviation has three parts: what
/// the sample tells of itself, a noise that all share, and networks that differ in their seconds per call. The latter
/// two are means over what is likely of the errors that models have while left out, under Student's t with 4 degrees of
/// freedom and the default's uncertainty as prior. `sigma` holds for a network never measured.
HostExtra fit_host_extra(std::span<const HostSample> samples, const DeviceModel& device);

/// For each host and mode that there are samples of; graphs have nothing to fit.
std::vector<HostExtra> fit_hosts(std::span<const HostSample> samples, const DeviceModel& device);

}  // namespace joulecast
