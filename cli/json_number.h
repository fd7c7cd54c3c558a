#pragma once

#include <nlohmann/json.hpp>

#include "joulecast/units/quantity.h"

// For the .cpp files of this folder only: numbers in JSON that need not be known.
namespace joulecast::cli {

/// NaN and infinity are null: JSON has no other way to say them.
nlohmann::ordered_json number_or_null(double value);

/// {"value", "low", "high"}, each of them null where it is not known.
nlohmann::ordered_json interval_json(double value, double low, double high);

template <class Unit>
nlohmann::ordered_json estimate_json(const Estimate<Unit>& estimate) {
    return interval_json(estimate.value.value(), estimate.low.value(), estimate.high.value());
}

}  // namespace joulecast::cli
