#pragma once

#include <string>

#include "joulecast/model/predictor.h"

namespace joulecast::cli {

/// "python inference + 7.6 µs a call (11 networks)".
std::string host_text(const HostExtra& extra);

/// "epyc-7763 issues the calls: it takes 0.98 times as long as the unknown CPU of the measurements (90 %: 0.51
/// to 1.90)". `measured_from` is OperatingPoint::host_cpu.
std::string issuer_text(const Issuer& issuer, const std::string& measured_from);

}  // namespace joulecast::cli
