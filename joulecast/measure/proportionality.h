#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "joulecast/measure/block_timer.h"

namespace joulecast {

// Is the time of n calls proportional to n? Figure 3.1 of the thesis "On Energy Modeling of Deep Neural Network
// Operations".

struct Runtime {
    std::int64_t calls = 0;
    double runtime_s = 0.0;
};

struct Proportionality {
    double call_s = std::numeric_limits<double>::quiet_NaN();  ///< slope of the fit
    double offset_s = std::numeric_limits<double>::quiet_NaN();
    double sigma_s = std::numeric_limits<double>::quiet_NaN();  ///< of the residuals of the points fitted to
    std::size_t fitted = 0;                                     ///< points, those with most calls
    std::vector<double> residual_s;                             ///< of all points, in the order of calls
    /// The longest run that lies five sigma or more beside the line: measure longer than that.
    std::optional<Runtime> largest_outlier;
};

/// A line through the 6/7 of the points with most calls, by least squares; outliers are looked for among all. Sorts the
/// points by calls. With fewer than three points to fit to, all is NaN.
Proportionality fit_proportionality(std::vector<Runtime>& runtimes);

/// Numbers of calls, evenly apart in their logarithm, from one to as many as last `longest_s`.
std::vector<std::int64_t> numbers_of_calls(double call_s, double longest_s, std::size_t points);

/// Times each number of calls once, after a warm-up of three calls.
std::vector<Runtime> time_numbers_of_calls(Workload& workload, BlockTimer& timer,
                                           const std::vector<std::int64_t>& numbers);

}  // namespace joulecast
