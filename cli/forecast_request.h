#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "cli/forecast_setting.h"
#include "joulecast/device/device.h"
#include "joulecast/graph/expression.h"

namespace joulecast::cli {

/// Longest line that is read as a request; a graph of 10 000 calls has about 4 MB.
inline constexpr std::size_t longest_request = std::size_t{16} << 20U;

/// One request of `predict --stdin`.
struct ForecastRequest {
    std::string id = "null";           ///< as JSON: echoed with the answer
    std::string model;                 ///< what a user names; empty where there is a graph
    std::optional<std::string> graph;  ///< the text of a .graph.json
    std::string device;                ///< may be empty: the one of the command line
    std::string host_cpu;              ///< that issues to the device; empty: the one that was measured
    SymbolValues symbols;
    ForecastSetting setting;
    OperatingPoint asked;    ///< clocks and power limit; NaN where the device's own are meant
    bool operations = true;  ///< whether the answer lists them
};

/// Throws FormatError, which names the key, for anything but one JSON object of known keys with values of their kinds;
/// depth and sizes are bounded.
ForecastRequest parse_forecast_request(std::string_view line);

/// The request's id as JSON, whatever else is wrong with the line; "null" where none can be found.
std::string request_id(std::string_view line);

}  // namespace joulecast::cli
