#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "joulecast/error.h"
#include "joulecast/units/bounded_json.h"

// Private to the .cpp files of this room: reading JSON objects whose every fault names the field.
namespace joulecast::protocol {

using Json = nlohmann::json;

/// Longest list of plain values in one field (raw blocks: 1 ms each would be 17 minutes).
inline constexpr std::size_t max_list = 1'000'000;

/// An object with the path that led to it, so that an error can say "settings.seed: ...".
class Fields {
  public:
    Fields(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
        if (!object_.is_object()) fault("", "is no JSON object");
    }

    /// nullptr where the field is missing.
    const Json* find(const char* key) const {
        const auto found = object_.find(key);
        return found == object_.end() ? nullptr : &*found;
    }
    const Json& require(const char* key) const {
        const Json* field = find(key);
        if (field == nullptr) fault(key, "is missing");
        return *field;
    }

    std::string text(const char* key) const { return as_text(key, require(key)); }
    std::string text_or(const char* key, std::string fallback) const {
        const Json* field = find(key);
        return field == nullptr ? std::move(fallback) : as_text(key, *field);
    }
    /// Finite number, or null for NaN; NaN too where the field is missing.
    double number(const char* key) const {
        const Json* field = find(key);
        if (field == nullptr || field->is_null()) return std::numeric_limits<double>::quiet_NaN();
        return as_number(key, *field);
    }
    /// A number within bounds, or the fallback where the field is missing; null is refused.
    double number_or(const char* key, double fallback, double low, double high) const {
        const Json* field = find(key);
        if (field == nullptr) return fallback;
        const double value = as_number(key, *field);
        if (value < low || value > high) {
            fault(key, "must lie between " + Json(low).dump() + " and " + Json(high).dump());
        }
        return value;
    }
    std::int64_t integer_or(const char* key, std::int64_t fallback, std::int64_t low, std::int64_t high) const {
        const Json* field = find(key);
        if (field == nullptr) return fallback;
        if (!field->is_number_integer()) fault(key, "is no integer");
        if (field->is_number_unsigned() && field->get<std::uint64_t>() > std::uint64_t{INT64_MAX}) {
            fault(key, "is too large");
        }
        const auto value = field->get<std::int64_t>();
        if (value < low || value > high) {
            fault(key, "must lie between " + std::to_string(low) + " and " + std::to_string(high));
        }
        return value;
    }
    bool flag_or(const char* key, bool fallback) const {
        const Json* field = find(key);
        if (field == nullptr) return fallback;
        if (!field->is_boolean()) fault(key, "is neither true nor false");
        return field->get<bool>();
    }
    /// The list, empty where the field is missing; longer than max_list is refused.
    const Json& list(const char* key) const {
        static const Json none = Json::array();
        const Json* field = find(key);
        if (field == nullptr) return none;
        if (!field->is_array()) fault(key, "is no list");
        if (field->size() > max_list) fault(key, "has more than " + std::to_string(max_list) + " items");
        return *field;
    }
    Fields object(const char* key) const { return {require(key), field_path(key)}; }
    /// Absent where the field is missing or null.
    std::optional<Fields> optional_object(const char* key) const {
        const Json* field = find(key);
        if (field == nullptr || field->is_null()) return std::nullopt;
        return Fields(*field, field_path(key));
    }

    /// The value that `parse` makes of a text field; `what` names the kind in the error.
    template <class Parse>
    auto word(const char* key, Parse parse, const char* what) const {
        const std::string value = text(key);
        const auto result = parse(value);
        if (!result) fault(key, "\"" + value.substr(0, 80) + "\" is no " + what);
        return *result;
    }

    [[noreturn]] void fault(const char* key, const std::string& what) const {
        throw FormatError("field " + field_path(key) + " " + what);
    }

  private:
    std::string field_path(const char* key) const {
        if (path_.empty()) return *key == '\0' ? "(line)" : key;
        return *key == '\0' ? path_ : path_ + "." + key;
    }
    std::string as_text(const char* key, const Json& field) const {
        if (!field.is_string()) fault(key, "is no text");
        return field.get<std::string>();
    }
    double as_number(const char* key, const Json& field) const {
        if (!field.is_number()) fault(key, "is no number");
        return field.get<double>();
    }

    const Json& object_;
    std::string path_;
};

}  // namespace joulecast::protocol
