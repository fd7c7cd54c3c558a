#pragma once

#include <optional>
#include <string>

#include "joulecast/forecast/compose.h"
#include "joulecast/forecast/forecast.h"
#include "joulecast/model/predictor.h"

namespace joulecast {

/// Who issues the operations is part of the operating point. A model holds for one host, that of its operations'
/// measurements; what another one takes more for each call is fitted to networks measured from it (fit_hosts.h), or
/// carried over from other machines. On a CPU, which computes where it issues, it adds to the sum; on a GPU it stands
/// on the host's timeline, hidden where the device is the slower of the two.

/// Standard deviation of the logarithm of what issuing takes on one machine and on another: within a factor of 2.3
/// either way in nine of ten. A guess (hosts.cpp), which published networks that wait for their host do not contradict.
inline constexpr double sigma_of_other_machines = 0.5;

/// The same of machines with a GPU that was never measured, whose calls are told by their kind and by the age of the
/// card (issue_cost.h): within a factor of 1.9. Networks that wait for their host on six such machines:
/// docs/decisions/0051.
inline constexpr double sigma_of_gpu_hosts = 0.4;

/// Of what one host takes more than another on the same machine, which sigma_of_gpu_hosts moves along: within a factor
/// of 1.6. There, too.
inline constexpr double sigma_between_hosts = 0.3;

/// Why nothing can be said of networks that `host` issues on a device whose operations were measured from `measured`,
/// and what to ask for; absent where something can.
std::optional<std::string> refusal(Host host, const Device& device, Host measured);

/// The fitted one, else the default: on a GPU a graph issues nothing, C++ takes 5 us for every kernel (those of the
/// backward pass too), and Python takes python_call_s() more than C++ (issue_cost.h), at the pace
/// that the calls of a card never measured are told with (pace_of_hosts()). All zero for the host that the
/// operations were measured with. Throws Error for what is refused.
HostExtra host_extra(const DeviceModel& device, Host host, Mode mode);
HostExtra default_extra(const DeviceModel& device, Host host, Mode mode);

/// The pace that a GPU's calls are told with where nobody measured it (issue_cost.h); 1 of a device that was measured.
double pace_of_hosts(const DeviceModel& device);

/// The parts with `seconds_per_call` more for each call, on the timeline where such a device issues.
NetworkParts with_extra(NetworkParts parts, double seconds_per_call, const DeviceModel& device);

/// Makes the forecasts of a GPU's model those of calls that `cpu` issues: its host's times at another pace
/// (issue_pace.h). The CPU that they were measured from is known where its data sheet's id stands in the model's
/// OperatingPoint::host_cpu. Throws Error for a device that is a CPU, for a `cpu` that is none, and what issue_pace()
/// throws.
void issue_from(DeviceModel& device, const Device& cpu);

/// The parts as `host` issues them, from the model's issuer. A captured graph is one launch; its kernels follow each
/// other at once, and one whose time is not known apart from its issuing takes 2 us more than what is known of it.
NetworkParts issued_from(Host host, Mode mode, const DeviceModel& device, NetworkParts parts);

/// The same for a single call, in a loop of it.
OperationForecast issued_from(Host host, const DeviceModel& device, OperationForecast operation);

}  // namespace joulecast
