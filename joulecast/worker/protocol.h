#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "joulecast/graph/graph.h"
#include "joulecast/measure/measurement.h"
#include "joulecast/measure/proportionality.h"

namespace joulecast::protocol {

/// Both sides refuse another version. docs/worker-protocol.md gives every field.
inline constexpr int version = 1;
/// Longest line either side accepts; a longer one is garbage.
inline constexpr std::size_t max_line_bytes = std::size_t{64} << 20;

struct Hello {
    std::string device;  ///< one of device_names that the facts shall be of; empty: the worker's first
};
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
/// Before the first measurement at a point: lock its clocks and limit, calibrate the meter, keep the device busy until
/// its temperature has settled.
struct Prepare {
    OperatingPoint point;
    MeasureSettings settings;
};
/// How long given numbers of calls take, one run each, in this order: for `study`. Nothing is judged or averaged.
struct TimeRuns {
    Operation operation;
    OperatingPoint point;
    MeasureSettings settings;
    std::vector<std::int64_t> calls;  ///< 1 to most_calls each
};
inline constexpr std::size_t most_runs = 10'000;
inline constexpr std::int64_t most_calls = 1'000'000'000;
struct Quit {};
struct Request {
    std::string id;
    std::variant<Hello, Measure, MeasureGraph, Prepare, TimeRuns, Quit> body;
};

struct Capabilities {
    Provenance provenance;
    std::string
        engine;  ///< what OperatingPoint::engine may be; empty: engine_of(provenance.framework), never when read
    Device device;
    std::vector<std::string> device_names;  ///< "cpu", "cuda:0"
    std::vector<Dtype> dtypes;
    std::vector<Mode> modes;
    bool measures_graphs = false;
    bool measures_energy = false;
    std::string energy_missing_reason;
    bool locks_clocks = false;  ///< and power limits
    std::string clocks_missing_reason;
    std::vector<double> sm_clocks_mhz;  ///< that can be locked
    std::vector<Host> hosts = {Host::cpp};
    std::string boot_id;  ///< of the machine it runs on, the same for all its programs; empty: not known
    double power_limit_low_w = std::numeric_limits<double>::quiet_NaN();
    double power_limit_high_w = std::numeric_limits<double>::quiet_NaN();
};
/// What preparing found; NaN or empty: there is no such thing on this device.
struct Prepared {
    OperatingPoint real;
    double soak_s = std::numeric_limits<double>::quiet_NaN();         ///< kept busy for
    double temperature_c = std::numeric_limits<double>::quiet_NaN();  ///< at the end of it
    bool settled = true;  ///< temperature rose by less than 1 C in 10 s at the end
    double idle_power_w = std::numeric_limits<double>::quiet_NaN();    ///< context alive, nothing running
    std::string meter;                                                 ///< MeterFacts::name
    double meter_period_s = std::numeric_limits<double>::quiet_NaN();  ///< found by calibration
    bool suspect = false;  ///< the meter's energy and its integrated power lie more than 3 % apart
    std::string message;   ///< a remark for the user
};
struct TimedRuns {
    std::vector<Runtime> runs;
};
/// The request could not be carried out at all (unknown field values, wrong version); not a failed trial.
struct Failure {
    std::string message;
};
struct Response {
    std::string id;
    std::variant<Capabilities, Measurement, NetworkMeasurement, Prepared, TimedRuns, Failure> body;
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
