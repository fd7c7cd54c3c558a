#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "joulecast/device/device.h"
#include "joulecast/graph/operation.h"
#include "joulecast/record/description.h"
#include "joulecast/worker/json_field.h"

// Private to the .cpp files of this room: described structs (joulecast/record) as JSON objects and back.
namespace joulecast::protocol {

template <record::Described Struct>
Json object_of(const Struct& value);

// How a member is written.

inline Json json_of(double value) {
    return number_or_null(value);
}
template <class Value>
    requires(std::integral<Value> || std::convertible_to<Value, std::string>)
Json json_of(const Value& value) {
    return value;
}
template <class Word>
    requires std::is_enum_v<Word>
Json json_of(Word word) {
    return name(word);
}
inline Json json_of(const Operation& operation) {
    return signature(operation);
}
/// By its figures (measurement_json.cpp).
Json json_of(const Device& device);
inline Json json_of(const std::map<std::string, std::int64_t>& symbols) {
    return symbols;
}
template <record::Described Struct>
Json json_of(const Struct& value) {
    return object_of(value);
}
template <class Value>
Json json_of(const std::optional<Value>& value) {
    if (!value) return nullptr;
    return json_of(*value);
}
template <class Value>
Json json_of(const std::vector<Value>& values) {
    Json list = Json::array();
    for (const Value& value : values) list.push_back(json_of(value));
    return list;
}

template <record::Described Struct>
Json object_of(const Struct& value) {
    Json json = Json::object();
    record::visit_fields<Struct>([&](const auto& field) {
        if (field.rules.where != record::Where::database) json[field.name] = json_of(value.*field.member);
    });
    return json;
}

template <record::Described Struct>
Struct from_json(const Fields& fields);

/// For what fields cannot tell one by one, an overload in the .cpp file. Throws FormatError.
template <class Struct>
void check(const Fields& /*fields*/, const Struct& /*value*/) {}

// How a member is read; `field` is its description. All throw FormatError that names the field.

template <class Struct>
void take(const Fields& from, const record::Field<Struct, double>& field, double& to) {
    to = field.is_always_known() ? from.number_or(field.name, to, field.rules.range.low, field.rules.range.high)
                                 : from.number(field.name);
}

template <class Struct>
void take(const Fields& from, const record::Field<Struct, bool>& field, bool& to) {
    to = from.flag_or(field.name, to);
}

template <class Struct, std::integral Number>
void take(const Fields& from, const record::Field<Struct, Number>& field, Number& to) {
    constexpr std::int64_t most = sizeof(Number) < sizeof(std::int64_t)
                                      ? static_cast<std::int64_t>(std::numeric_limits<Number>::max())
                                      : INT64_MAX;
    const bool is_bounded = field.is_always_known() && field.rules.range.high < static_cast<double>(most);
    to = static_cast<Number>(
        from.integer_or(field.name, static_cast<std::int64_t>(to),
                        field.is_always_known() ? static_cast<std::int64_t>(field.rules.range.low) : 0,
                        is_bounded ? static_cast<std::int64_t>(field.rules.range.high) : most));
}

template <class Struct>
void take(const Fields& from, const record::Field<Struct, std::string>& field, std::string& to) {
    to = field.rules.absent == record::Absent::refuse ? from.text(field.name) : from.text_or(field.name, to);
}

template <class Struct, class Word>
    requires std::is_enum_v<Word>
void take(const Fields& from, const record::Field<Struct, Word>& field, Word& to) {
    if (field.rules.absent == record::Absent::refuse || from.find(field.name) != nullptr)
        to = from.word(field.name, record::Words<Word>::parse, record::Words<Word>::kind);
}

template <class Struct>
void take(const Fields& from, const record::Field<Struct, Operation>& field, Operation& to) {
    const std::string text = from.text(field.name);
    try {
        to = parse_operation(text);
    } catch (const FormatError& error) {
        from.fault(field.name, std::string("cannot be read: ") + error.what());
    }
}

template <class Struct>
void take(const Fields& from, const record::Field<Struct, std::map<std::string, std::int64_t>>& field,
          std::map<std::string, std::int64_t>& to) {
    const Fields symbols = from.object(field.name);
    for (const auto& [symbol, value] : from.require(field.name).items()) {
        if (to.size() == 4096) from.fault(field.name, "has more than 4096 entries");
        to[symbol] = symbols.integer_or(symbol.c_str(), 0, INT64_MIN, INT64_MAX);
    }
}

/// By its figures (measurement_json.cpp).
Device device_from(const Fields& fields);

template <class Struct>
void take(const Fields& from, const record::Field<Struct, Device>& field, Device& to) {
    to = device_from(from.object(field.name));
}

template <class Struct, record::Described Part>
void take(const Fields& from, const record::Field<Struct, Part>& field, Part& to) {
    if (field.rules.absent == record::Absent::refuse) {
        to = from_json<Part>(from.object(field.name));
    } else if (const auto object = from.optional_object(field.name)) {
        to = from_json<Part>(*object);
    }
}

template <class Struct, record::Described Part>
void take(const Fields& from, const record::Field<Struct, std::optional<Part>>& field, std::optional<Part>& to) {
    if (const auto object = from.optional_object(field.name)) to = from_json<Part>(*object);
}

template <class Struct, class Item>
void take(const Fields& from, const record::Field<Struct, std::vector<Item>>& field, std::vector<Item>& to) {
    if (from.find(field.name) == nullptr) return;
    to.clear();
    for (const Json& item : from.list(field.name)) {
        if constexpr (record::Described<Item>) {
            to.push_back(from_json<Item>(Fields(item, field.name)));
        } else if constexpr (std::integral<Item>) {
            if (!item.is_number_integer() || item < 0 || item > std::numeric_limits<Item>::max())
                from.fault(field.name, "has an item that is no whole number in range");
            to.push_back(item.template get<Item>());
        } else if constexpr (std::is_same_v<Item, double>) {
            if (!item.is_number()) from.fault(field.name, "has an item that is not a number");
            to.push_back(item.get<double>());
        } else {
            if (!item.is_string()) from.fault(field.name, "has an item that is not a string");
            const auto& text = item.get_ref<const std::string&>();
            if constexpr (std::is_enum_v<Item>) {
                const auto word = record::Words<Item>::parse(text);
                if (!word)
                    from.fault(field.name,
                               "has \"" + text.substr(0, 80) + "\", which is no " + record::Words<Item>::kind);
                to.push_back(*word);
            } else {
                to.push_back(text);
            }
        }
    }
}

template <record::Described Struct>
Struct from_json(const Fields& fields) {
    Struct value;
    record::visit_fields<Struct>([&](const auto& field) {
        if (field.rules.where != record::Where::database) take(fields, field, value.*field.member);
    });
    check(fields, value);
    return value;
}

}  // namespace joulecast::protocol
