#pragma once

#include <map>
#include <vector>

#include "joulecast/model/residual_process.h"

namespace joulecast {

/// Log errors on one device while it was left out.
using ErrorsByWidth = std::map<NumberWidth, std::vector<double>>;
using ErrorsByFamily = std::map<Family, ErrorsByWidth>;

/// Standard deviations of the parts of errors on devices left out in turn, by their moments, none below 3 %. `devices`
/// has one entry for each.
ResidualPrior prior_of(const std::vector<ErrorsByFamily>& devices);

}  // namespace joulecast
