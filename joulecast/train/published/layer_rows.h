#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "joulecast/forecast/published/subject.h"
#include "joulecast/learn/model.h"

namespace joulecast {

/// What one regression of a published method is fitted to.
struct LayerRows {
    Samples samples;
    std::vector<double> targets;
    std::vector<std::size_t> groups;  ///< numbers, equal for rows of one group

    /// What the samples hold of a row.
    std::vector<float> features(std::size_t row) const;
};

/// The observations with the columns that the method gives them; at least one observation.
LayerRows layer_rows(std::span<const Observation* const> rows,
                     const std::function<std::vector<float>(const Subject&)>& columns);
/// Rows of the chosen places.
LayerRows rows_at(const LayerRows& rows, std::span<const std::size_t> places);

/// The learner on the raw values of every row. Throws Error for values that are not finite.
Model fit_layer_model(Learner learner, const LayerRows& rows, LearnerSettings settings);

}  // namespace joulecast
