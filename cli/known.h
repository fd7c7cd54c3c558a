#pragma once

#include <cmath>

#include "joulecast/report/table.h"

namespace joulecast::cli {

/// The number, or "not known" where it is not finite.
inline Cell known(double value) {
    return std::isfinite(value) ? Cell(value) : Cell();
}

}  // namespace joulecast::cli
