#pragma once

#include <cmath>
#include <optional>

#include "joulecast/report/table.h"

namespace joulecast::cli {

/// The number, or "not known" where it is not finite.
inline Cell known(double value) {
    return std::isfinite(value) ? Cell(value) : Cell();
}

/// Yes or no, or "not known".
inline Cell known(const std::optional<bool>& value) {
    return value ? Cell(*value) : Cell();
}

}  // namespace joulecast::cli
