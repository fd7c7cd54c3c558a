#pragma once

#include <span>
#include <string>

#include "joulecast/evaluate/composition.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {

/// How far each way from calls to networks is off; empty without networks.
std::string compositions_text(std::span<const CompositionSample> samples);
/// The same as a JSON array.
Table compositions_table(std::span<const CompositionSample> samples);

}  // namespace joulecast::cli
