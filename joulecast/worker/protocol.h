#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "joulecast/graph/graph.h"
#include "joulecast/measure/measurement.h"

namespace joulecast::protocol {

/// Both sides refuse another version. docs/worker-protocol.md gives every field.
inline constexpr int version = 1;
/// Longest line either side accepts; a longer one is garbage.
inline constexpr std::size_t max_line_bytes = std::size_t{64} << 20;

struct Hello {};
struct Measure {
    Operation operation;
    OperatingPoint point;
    MeasureSettings settings;
};
struct MeasureGraph {
    Graph graph;  ///< with edges; in training mode already transformed by to_training
    OperatingPoint point;
    MeasureSettings settings;
    Optimizer optimizer = Optimizer::none;  ///< training mode: updates the weights at the end of each step
};
struct Quit {};
struct Request {
    std::string id;
    std::variant<Hello, Measure, MeasureGraph, Quit> body;
};

struct Capabilities {
    Provenance provenance;
    Device device;
    std::vector<std::string> device_names;  ///< "cpu", "cuda:0"
    std::vector<Dtype> dtypes;
    std::vector<Mode> modes;
    bool measures_graphs = false;
    bool measures_energy = false;
    std::string energy_missing_reason;
};
/// The request could not be carried out at all (unknown field values, wrong version); not a failed trial.
struct Failure {
    std::string message;
};
struct Response {
    std::string id;
    std::variant<Capabilities, Measurement, NetworkMeasurement, Failure> body;
};

/// One line of JSON without the newline.
std::string to_line(const Request& request);
std::string to_line(const Response& response);
/// Throws FormatError saying which field is wrong; never reads beyond the line, bounds every list.
Request parse_request(std::string_view line);
Response parse_response(std::string_view line);

/// The settings as a JSON object, as Provenance::settings stores them.
std::string settings_to_json(const MeasureSettings& settings);

}  // namespace joulecast::protocol
