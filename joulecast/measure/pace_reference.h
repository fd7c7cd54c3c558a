#pragma once

#include <string>

namespace joulecast {

/// What a machine's pace is told by (docs/method.md, "Pace"): an operation, and what it usually took while rows were
/// measured.
struct PaceReference {
    std::string operation;  ///< signature
    double usual_s = 0;
    friend bool operator==(const PaceReference&, const PaceReference&) = default;
};

}  // namespace joulecast
