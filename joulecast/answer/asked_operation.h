#pragma once

#include <string>
#include <vector>

#include "joulecast/answer/question.h"
#include "joulecast/graph/graph.h"

namespace joulecast {

/// The operation of a signature, as extract prints it, in canonical form. Throws UsageError that says what is missing
/// or wrong: syntax, arguments that its record has no default for, arguments it does not know, sizes that do not fit.
/// An operation without a record is returned as it is.
Operation asked_operation(const std::string& signature);

/// That joulecast knows nothing of it, and which targets are meant perhaps.
std::string no_forecast_text(const Operation& operation, const std::string& method);

/// A bag of one call of it, in the mode that its gradient marks tell.
Graph graph_of(const Operation& operation);

/// Executions to forecast it in: in the precisions of the question for f32, which they tell the arithmetic of, else in
/// the one that its types tell; by precision, then by host. Throws UsageError for modes and precisions that its types
/// or its gradient marks contradict.
std::vector<Execution> executions(const Operation& operation, const Question& question);

}  // namespace joulecast
