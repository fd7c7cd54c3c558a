#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/dataset/dataset.h"

namespace joulecast {

/// sigma_between: how far measurements of the same thing lie apart within a session, as a share (one standard
/// deviation), from the repeats of its reference operation.
class RepeatSpread {
  public:
    explicit RepeatSpread(const std::vector<ReferenceRow>& references);

    /// Of that session; with fewer than four repeats at the same clocks, of all sessions on that device together. NaN
    /// without any.
    double of(const std::string& device, const std::string& session) const;

  private:
    /// Sum of squared relative deviations from the mean of their group, over what is left of the counts.
    struct Pool {
        double squares = 0;
        double degrees = 0;
        double sigma() const;
    };
    std::map<std::pair<std::string, std::string>, Pool> sessions_;
    std::map<std::string, Pool> devices_;
};

}  // namespace joulecast
