#pragma once

#include "cli/predict_service.h"

namespace joulecast::cli {

/// Reads one JSON request a line from standard input until it ends and writes one line of JSON for each, flushed, in
/// their order (docs/guide/predict.md); blank lines get nothing. Returns the exit status: parts_unknown where a
/// forecast had operations without a record.
int answer_requests(RequestSource source);

}  // namespace joulecast::cli
