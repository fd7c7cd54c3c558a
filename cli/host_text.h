#pragma once

#include <string>

#include "joulecast/predict/model.h"

namespace joulecast::cli {

/// "python inference + 7.6 µs a call (11 networks)".
std::string host_text(const HostExtra& extra);

/// "calls are issued by epyc-7763, in 0.98 of the time that an unknown CPU took (0.51 to 1.90)". `measured_from` is
/// OperatingPoint::host_cpu.
std::string issuer_text(const Issuer& issuer, const std::string& measured_from);

}  // namespace joulecast::cli
