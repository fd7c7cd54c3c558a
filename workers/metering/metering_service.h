#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

namespace joulecast::metering {

/// Where meters and sensors are looked for, and where calibrations are kept (empty: nowhere).
struct Places {
    std::filesystem::path root = "/";
    std::string calibration_folder;
};

/// Answers line after line until the end of input: docs/energy.md, "The program joulecast-meter". A line that cannot be
/// carried out is answered by {"error": "..."}; the service goes on.
void serve_meter(std::istream& in, std::ostream& out, const Places& places);

}  // namespace joulecast::metering
