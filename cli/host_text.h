#pragma once

#include <string>

#include "joulecast/model/predictor.h"

namespace joulecast::cli {

/// "python inference + 7.6 µs a call (11 networks)".
std::string host_text(const HostExtra& extra);

}  // namespace joulecast::cli
