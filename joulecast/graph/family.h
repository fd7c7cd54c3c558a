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

}  // namespace joulecast
