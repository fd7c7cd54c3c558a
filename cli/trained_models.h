#pragma once

#include "joulecast/model/predictor.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {

/// A line for each learned model of the predictor: of a published method for each of its regressions.
Table trained_models(const Predictor& predictor);

}  // namespace joulecast::cli
