#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "joulecast/report/table.h"
#include "joulecast/units/quantity.h"

// Answers as trees of JSON, with numbers that need not be known.
namespace joulecast::cli {

/// NaN and infinity are null: JSON has no other way to say them.
nlohmann::ordered_json number_or_null(double value);

/// {"value", "low", "high"}, each of them null where it is not known.
nlohmann::ordered_json interval_json(double value, double low, double high);

template <class Unit>
nlohmann::ordered_json estimate_json(const Estimate<Unit>& estimate) {
    return interval_json(estimate.value.value(), estimate.low.value(), estimate.high.value());
}

/// An object for each row; keys in the order of the columns.
nlohmann::ordered_json rows_json(const Table& table);

/// As it is printed. Bytes that are no UTF-8 (names out of damaged files) become U+FFFD instead of an exception.
std::string printed(const nlohmann::ordered_json& json);

}  // namespace joulecast::cli
