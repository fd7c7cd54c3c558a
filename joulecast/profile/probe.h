#pragma once

#include <vector>

#include "joulecast/graph/operation.h"

namespace joulecast {

/// Thirty-two operations that tell what a device is like, the same for every device: each family, from those that only
/// take the time of a call to those that keep every unit busy, none larger than 100 MB. A device of which only these
/// are known can be compared with others of which more is. In training mode fourteen of them, those that most of a
/// training step is made of, with their backward passes. docs/guide/profile.md lists them.
std::vector<Operation> probe_operations(Mode mode = Mode::inference);

}  // namespace joulecast
