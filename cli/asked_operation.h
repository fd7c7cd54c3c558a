#pragma once

#include <string>
#include <vector>

#include "cli/setting_options.h"
#include "joulecast/graph/graph.h"

namespace joulecast::cli {

/// The operation of a signature, as extract prints it, in canonical form. Throws UsageError that says what is missing
/// or wrong: syntax, arguments that its record has no default for, arguments it does not know, sizes that do not fit.
/// An operation without a record is returned as it is.
Operation asked_operation(const std::string& signature);

/// That joulecast knows nothing of it, and which targets are meant perhaps.
std::string no_forecast_text(const Operation& operation, const std::string& method);

/// A bag of one call of it, in the mode that its gradient marks tell.
Graph graph_of(const Operation& operation);

/// Precisions to forecast it in: those of `options` for f32, which they tell the arithmetic of; else the one that its
/// types tell. Throws UsageError for options that its types or its gradient marks contradict.
std::vector<std::string> precisions_of(const Operation& operation, const SettingOptions& options);

}  // namespace joulecast::cli
