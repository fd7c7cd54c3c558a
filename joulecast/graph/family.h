#pragma once

#include "joulecast/graph/record.h"

namespace joulecast {

/// Products of matrices under whatever name: what matrix units compute, and what decides the time of most networks.
inline bool multiplies_matrices(Family family) {
    return family == Family::matmul || family == Family::convolution || family == Family::attention;
}

/// Views and shape arithmetic: no kernel runs for them.
inline bool costs_nothing(Family family) {
    return family == Family::view || family == Family::symbolic;
}

/// As its record has it, whatever its sizes: family() but for copies that move nothing, and views that copy.
Family recorded_family(const Operation& operation);

}  // namespace joulecast
