#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "joulecast/answer/answer.h"
#include "joulecast/device/device.h"
#include "joulecast/recommend/candidate.h"
#include "joulecast/recommend/grid.h"

namespace joulecast::cli {

/// Prices of an hour by device; "" is that of all others.
using DevicePrices = std::map<std::string, double>;

/// What the devices can do, and what could not be had.
struct Survey {
    std::vector<Candidate> candidates;
    std::vector<std::string> left_out;
    std::optional<std::string> first_refusal;  ///< where no device took what was asked for
    std::size_t asked = 0;                     ///< points beside the defaults
    std::size_t taken = 0;                     ///< of these, those that the devices have
    std::map<std::string, Device> devices;
    std::set<std::string> unknown;     ///< operations without a record, or a forecast by the method
    std::string method = "joulecast";  ///< that forecast, or a published one
    std::vector<std::string> notes;
    std::vector<std::string> predictors;
};

/// What was forecast on all devices, in their order, at every point of the grid. Throws UsageError where nothing that
/// was asked for could be had.
Survey survey_devices(const Answer& answer, const Grid& grid, const DevicePrices& prices);

}  // namespace joulecast::cli
