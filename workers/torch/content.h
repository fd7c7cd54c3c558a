#pragma once

#include <cstdint>
#include <vector>

#include "joulecast/graph/graph.h"
#include "joulecast/graph/operation.h"

namespace joulecast::torch_worker {

/// What to fill a tensor with, so that the operation does its usual work on it: never zeros (a matrix product of
/// zeros runs faster and cooler), nothing out of range.
struct Content {
    enum class Kind {
        normal,     ///< floats: scale x normal + offset
        positive,   ///< floats: |normal| + 0.5, for variances and arguments of roots and logarithms
        sign,       ///< floats: -1 or 1, for factors applied in place again and again
        unit,       ///< floats: uniform in [0.05, 0.95], for probabilities
        index,      ///< integers: uniform in [low, high); booleans: fair coin
        ascending,  ///< integers: from 0 in even steps towards `high`, for where bags of embeddings begin
        shares      ///< integers: `high` split as evenly as possible, larger shares first, for lengths and repeats
    };
    Kind kind = Kind::normal;
    float scale = 1.0F;
    float offset = 0.0F;
    std::int64_t low = 0;
    std::int64_t high = 2;
    /// `high` follows from a table that is indexed, so it binds; otherwise it is a mere habit.
    bool bound = false;
};

/// One for each of tensors(operation), in that order. Indices lie within the table that the operation looks up.
std::vector<Content> contents(const Operation& operation);

/// One for each of graph.inputs. Integers are followed through views and copies to the tables they index; weights are
/// scaled by their fan-in, and running means lie around zero, so that values neither grow nor die on the way through
/// the network.
std::vector<Content> input_contents(const Graph& graph);

}  // namespace joulecast::torch_worker
