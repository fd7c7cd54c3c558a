#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/loaded_device.h"
#include "joulecast/device/device.h"
#include "joulecast/graph/graph.h"
#include "joulecast/recommend/candidate.h"
#include "joulecast/recommend/grid.h"

namespace joulecast::cli {

/// Prices of an hour by device; "" is that of all others.
using DevicePrices = std::map<std::string, double>;

/// A device of the command line.
struct SurveyedDevice {
    std::string named;  ///< as there
    LoadedDevice loaded;
};

/// How a network may run on it.
struct SurveyWish {
    std::vector<std::string> precisions;
    Host host = Host::python;
    TrainingSetup training;  ///< of graphs that train
    Grid grid;
    DevicePrices device_prices;
};

/// A graph to be forecast, the sizes that were asked for in it.
struct Opened {
    Mode mode = Mode::inference;
    Graph graph;
};

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

/// On all devices, in their order. Throws UsageError where nothing that was asked for could be had.
Survey survey_devices(const std::vector<SurveyedDevice>& devices, const SurveyWish& wish,
                      const std::vector<Opened>& graphs);

}  // namespace joulecast::cli
