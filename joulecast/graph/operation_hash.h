#pragma once

#include <cstddef>

#include "joulecast/graph/operation.h"

namespace joulecast {

/// For tables in memory: equal operations have equal hashes. Not stable between programs, so never stored.
std::size_t hash(const Operation& operation);

}  // namespace joulecast
