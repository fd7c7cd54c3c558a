#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "joulecast/answer/question.h"
#include "joulecast/device/device.h"

namespace joulecast::cli {

/// Longest line that is read as a request; a graph of 10 000 calls has about 4 MB.
inline constexpr std::size_t longest_request = std::size_t{16} << 20U;

/// One request of `predict --stdin`.
struct PredictRequest {
    std::string id = "null";  ///< as JSON: echoed with the answer
    std::string device;       ///< may be empty: the one of the command line
    OperatingPoint asked;     ///< clocks and power limit beside the device's name; NaN where the device's own are meant
    Question question;        ///< of one network; no device yet
};

/// Throws FormatError, which names the key, for anything but one JSON object of known keys with values of their kinds;
/// depth and sizes are bounded.
PredictRequest parse_predict_request(std::string_view line);

/// The request's id as JSON, whatever else is wrong with the line; "null" where none can be found.
std::string request_id(std::string_view line);

}  // namespace joulecast::cli
