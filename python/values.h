#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>

#include "joulecast/units/quantity.h"

// What C++ reports, as Python has it.
namespace joulecast::python {

/// Names out of files may be no UTF-8.
inline nanobind::object text(std::string_view bytes) {
    return nanobind::steal(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

inline nanobind::list texts(const std::vector<std::string>& lines) {
    nanobind::list list;
    for (const std::string& line : lines) list.append(text(line));
    return list;
}

/// NaN and infinity are None.
inline nanobind::object number_or_none(double value) {
    return std::isfinite(value) ? nanobind::object(nanobind::float_(value)) : nanobind::none();
}

/// A dict, filled as cli::JsonObject is: for lists of what is reported.
class DictObject {
  public:
    nanobind::dict dict;

    void add(std::string_view key, std::string_view value) { dict[text(key)] = text(value); }
    void add(std::string_view key, std::same_as<bool> auto value) { dict[text(key)] = nanobind::bool_(value); }
    void add(std::string_view key, std::signed_integral auto value) {
        dict[text(key)] = nanobind::int_(std::int64_t{value});
    }
    void add(std::string_view key, double value) { dict[text(key)] = number_or_none(value); }
    void add(std::string_view key, const std::vector<std::string>& lines) { dict[text(key)] = texts(lines); }
    template <class Value>
    void add(std::string_view key, const std::optional<Value>& value) {
        value ? add(key, *value) : add_null(key);
    }
    template <class Unit>
    void add(std::string_view key, const Estimate<Unit>& estimate) {
        DictObject interval = object(key);
        interval.add("value", estimate.value.value());
        interval.add("low", estimate.low.value());
        interval.add("high", estimate.high.value());
    }
    void add_null(std::string_view key) { dict[text(key)] = nanobind::none(); }
    DictObject object(std::string_view key) {
        DictObject inner;
        dict[text(key)] = inner.dict;
        return inner;
    }
    DictObject line(std::string_view key) { return object(key); }
    void end() {}
};

}  // namespace joulecast::python
