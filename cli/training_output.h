#pragma once

#include <cstdint>
#include <string>

#include "cli/json_tree.h"
#include "cli/measured_rows.h"
#include "joulecast/model/predictor.h"

namespace joulecast::cli {

/// What a training made: `bytes` of a file at `path`.
nlohmann::ordered_json training_to_json(const Predictor& predictor, const std::string& path, std::uintmax_t bytes);
std::string training_to_text(const Predictor& predictor, const std::string& path, std::uintmax_t bytes);

/// Says a large correction, which is a finding, with its likely cause.
void tell_corrections(const DeviceModel& device, const MeasuredRows& rows);

/// Says what a machine that drifted told of its networks, and is not believed.
void tell_refused(const DeviceModel& device, const MeasuredRows& rows);

}  // namespace joulecast::cli
