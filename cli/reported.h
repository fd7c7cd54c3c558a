#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/json_object.h"
#include "cli/known.h"
#include "cli/settings.h"
#include "joulecast/report/table.h"
#include "joulecast/units/quantity.h"

// What is reported of a thing: a std::tuple with a line for each number or word. JSON, CSV and Python follow it.
namespace joulecast::cli {

enum class In { json, csv, both };

/// `get` takes the thing and returns a text (which may be missing), a list of texts, a flag, a count, a double in SI
/// units (NaN: not known) or an Estimate. In JSON an estimate is an object of value, low and high; in CSV three
/// columns: time_s, time_low_s, time_high_s.
template <class Get>
struct Reported {
    const char* name;
    const char* unit;  ///< behind name and underscore; may be empty
    Get get;
    In in = In::both;

    std::string key(const char* end = "") const {
        std::string key = std::string(name) + end;
        return *unit == '\0' ? key : key + "_" + unit;
    }
};

template <class Get>
Reported(const char*, const char*, Get) -> Reported<Get>;
template <class Get>
Reported(const char*, const char*, Get, In) -> Reported<Get>;

/// What has lines of its own and may be missing: `get` returns a pointer. JSON has an object or null; CSV the columns,
/// each with the prefix.
template <class Get, class Lines>
struct ReportedPart {
    const char* name;
    const char* prefix;
    Get get;
    Lines lines;
};

/// What objects alone can hold, no columns: `write` takes a JsonObject, or what has its functions, and the thing.
template <class Write>
struct ReportedInObject {
    Write write;
};

template <class Object, class Row, class... Line>
void add_reported(Object& to, const Row& row, const std::tuple<Line...>& lines);

template <class Object, class Row, class Get>
void add_line(Object& to, const Row& row, const Reported<Get>& line) {
    if (line.in == In::csv) return;
    to.add(line.key(), line.get(row));
}

template <class Object, class Row, class Get, class Lines>
void add_line(Object& to, const Row& row, const ReportedPart<Get, Lines>& part) {
    const auto* value = part.get(row);
    if (value == nullptr) return to.add_null(part.name);
    Object object = to.object(part.name);
    add_reported(object, *value, part.lines);
    object.end();
}

template <class Object, class Row, class Write>
void add_line(Object& to, const Row& row, const ReportedInObject<Write>& line) {
    line.write(to, row);
}

/// Adds all lines to the object, in order.
template <class Object, class Row, class... Line>
void add_reported(Object& to, const Row& row, const std::tuple<Line...>& lines) {
    std::apply([&](const auto&... line) { (add_line(to, row, line), ...); }, lines);
}

template <class Value>
Cell cell_of(const Value& value) {
    if constexpr (std::is_same_v<Value, double>) {
        return known(value);
    } else if constexpr (std::is_same_v<Value, bool>) {
        return value;
    } else if constexpr (std::is_integral_v<Value>) {
        return std::int64_t{value};
    } else if constexpr (std::is_same_v<Value, std::optional<std::string>>) {
        return value ? Cell(*value) : Cell();
    } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
        return joined(value, "; ");
    } else {
        return std::string(value);
    }
}

template <class Value>
inline constexpr bool is_estimate = false;
template <class Unit>
inline constexpr bool is_estimate<Estimate<Unit>> = true;

template <class Row, class Access, class Get>
void append_columns(std::vector<Column<Row>>& to, const std::string& prefix, Access access, const Reported<Get>& line) {
    using Thing = std::remove_pointer_t<decltype(access(std::declval<const Row&>()))>;
    using Value = std::decay_t<decltype(line.get(std::declval<Thing&>()))>;
    if (line.in == In::json) return;
    const auto append = [&](const char* end, auto read) {
        to.push_back({prefix + line.key(end), "", Show::text, [access, read](const Row& row) {
                          const auto* thing = access(row);
                          return thing == nullptr ? Cell() : read(*thing);
                      }});
    };
    if constexpr (is_estimate<Value>) {
        append("", [get = line.get](const Thing& thing) { return known(get(thing).value.value()); });
        append("_low", [get = line.get](const Thing& thing) { return known(get(thing).low.value()); });
        append("_high", [get = line.get](const Thing& thing) { return known(get(thing).high.value()); });
    } else {
        append("", [get = line.get](const Thing& thing) { return cell_of<Value>(get(thing)); });
    }
}

template <class Row, class Access, class... Line>
void append_all_columns(std::vector<Column<Row>>& to, const std::string& prefix, Access access,
                        const std::tuple<Line...>& lines);

template <class Row, class Access, class Get, class Lines>
void append_columns(std::vector<Column<Row>>& to, const std::string& prefix, Access access,
                    const ReportedPart<Get, Lines>& part) {
    const auto inner = [access, get = part.get](const Row& row) {
        const auto* thing = access(row);
        return thing == nullptr ? nullptr : get(*thing);
    };
    append_all_columns(to, prefix + part.prefix, inner, part.lines);
}

template <class Row, class Access, class Write>
void append_columns(std::vector<Column<Row>>& /*to*/, const std::string& /*prefix*/, Access /*access*/,
                    const ReportedInObject<Write>& /*line*/) {}

template <class Row, class Access, class... Line>
void append_all_columns(std::vector<Column<Row>>& to, const std::string& prefix, Access access,
                        const std::tuple<Line...>& lines) {
    std::apply([&](const auto&... line) { (append_columns(to, prefix, access, line), ...); }, lines);
}

/// The columns of CSV: `access` takes a row to the pointer of the thing that the lines are of.
template <class Row, class Access, class... Line>
std::vector<Column<Row>> csv_columns(Access access, const std::tuple<Line...>& lines) {
    std::vector<Column<Row>> columns;
    append_all_columns(columns, "", access, lines);
    return columns;
}

}  // namespace joulecast::cli
