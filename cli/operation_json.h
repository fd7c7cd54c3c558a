#pragma once

#include <span>
#include <string>
#include <string_view>

#include "joulecast/forecast/forecast.h"

namespace joulecast::cli {

/// The objects of "operations" of a prediction, one behind the other. Written as text: a tree of JSON takes ten times
/// as long, and these are most of an answer.
void append_operations(std::string& text, std::span<const OperationForecast> operations, std::string_view separator);

}  // namespace joulecast::cli
