#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/dataset/dataset.h"

namespace joulecast {

/// sigma_between: how far measurements of the same thing lie apart within a session, as a share (one standard
/// deviation). The larger of two: of the reference operation, repeated all along, and of operations that were drawn at
/// random and measured a second time, since small ones are touched by what a large product does not feel.
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
    };
    struct Pools {
        Pool along;  ///< groups of three and more
        Pool drawn;  ///< pairs
        double sigma() const;
        double degrees() const { return along.degrees + drawn.degrees; }
    };
    std::map<std::pair<std::string, std::string>, Pools> sessions_;
    std::map<std::string, Pools> devices_;
};

}  // namespace joulecast
