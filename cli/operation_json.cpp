#include "cli/operation_json.h"

#include <cmath>

#include "cli/json_object.h"
#include "joulecast/units/digits.h"

namespace joulecast::cli {
namespace {

/// NaN and infinity are null: JSON has no other way to say them.
void append(std::string& text, double value) {
    if (std::isfinite(value)) {
        append_digits(text, value);
    } else {
        text += "null";
    }
}

template <class Unit>
void append(std::string& text, std::string_view key, const Estimate<Unit>& estimate) {
    text += ",\"";
    text += key;
    text += "\":{\"value\":";
    append(text, estimate.value.value());
    text += ",\"low\":";
    append(text, estimate.low.value());
    text += ",\"high\":";
    append(text, estimate.high.value());
    text += '}';
}

void append(std::string& text, std::string_view key, std::string_view value) {
    text += ",\"";
    text += key;
    text += "\":";
    append_quoted(text, value);
}

}  // namespace

void append_operations(std::string& text, std::span<const OperationForecast> operations, std::string_view separator) {
    for (const OperationForecast& operation : operations) {
        if (&operation != &operations.front()) text += separator;
        text += "{\"op\":";
        append_quoted(text, operation.operation.target);
        append(text, "signature", signature(operation.operation));
        text += ",\"count\":";
        append_digits(text, operation.count);
        append(text, "time_s", operation.cost.device_time);
        append(text, "energy_j", operation.energy);
        append(text, "power_w", operation.power);
        append(text, "part", name(operation.part));
        append(text, "evidence", name(operation.evidence));
        append(text, "power_evidence", name(operation.power_evidence));
        text += '}';
    }
}

}  // namespace joulecast::cli
