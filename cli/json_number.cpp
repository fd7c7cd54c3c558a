#include "cli/json_number.h"

#include <cmath>

namespace joulecast::cli {

using Json = nlohmann::ordered_json;

Json number_or_null(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json interval_json(double value, double low, double high) {
    return {{"value", number_or_null(value)}, {"low", number_or_null(low)}, {"high", number_or_null(high)}};
}

}  // namespace joulecast::cli
