#pragma once

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/graph/readers/pt2_terms.h"

/// Reading checked values out of a .pt2's JSON. Private to the .cpp files of this room: the door of simdjson.
namespace joulecast::pt2 {

namespace dom = simdjson::dom;
using simdjson::error_code;

template <class T>
T as(dom::element element, const char* kind) {
    T value;
    if (element.get(value) != error_code::SUCCESS) throw FormatError(std::string("expected ") + kind);
    return value;
}

inline dom::object object_of(dom::element element) {
    return as<dom::object>(element, "an object");
}
inline dom::array array_of(dom::element element) {
    return as<dom::array>(element, "a list");
}
inline bool bool_of(dom::element element) {
    return as<bool>(element, "true or false");
}
inline std::string text_of(dom::element element) {
    return std::string(as<std::string_view>(element, "a text"));
}
inline std::int64_t int_of(dom::element element) {
    return as<std::int64_t>(element, "an integer of 64 bits");
}
/// A float; the values JSON lacks come as texts.
double float_of(dom::element element);

/// The field, or absent: null counts as absent, so that files of any minor version read alike.
inline std::optional<dom::element> field(dom::object object, std::string_view key) {
    dom::element element;
    if (object.at_key(key).get(element) != error_code::SUCCESS || element.is_null()) return std::nullopt;
    return element;
}

/// Runs `read` and says where it was when it fails.
template <class F>
auto within(std::string_view place, const F& read) {
    try {
        return read();
    } catch (const FormatError& error) {
        throw FormatError(shown(place) + ": " + error.what());
    }
}

template <class F>
auto required(dom::object object, const char* key, const F& read) {
    const auto element = field(object, key);
    if (!element) throw FormatError(std::string("there is no \"") + key + "\"");
    return within(std::string_view(key), [&] { return read(*element); });
}

template <class F>
auto list_of(dom::element element, const F& read) {
    std::vector<decltype(read(element))> values;
    for (const dom::element item : array_of(element)) values.push_back(read(item));
    return values;
}

template <class F>
auto map_of(dom::element element, const F& read) {
    std::unordered_map<std::string, decltype(read(element))> values;
    const dom::object object = object_of(element);
    values.reserve(object.size());
    for (const auto [key, value] : object) {
        auto entry = within(key, [&, v = value] { return read(v); });
        // Of a key given twice the last holds, as in Python.
        values.insert_or_assign(std::string(key), std::move(entry));
    }
    return values;
}

/// torch's unions are objects with one key that names the variant.
inline std::pair<std::string_view, dom::element> union_of(dom::element element) {
    const dom::object object = object_of(element);
    if (object.size() != 1) throw FormatError("expected an object with one key");
    const auto only = *object.begin();
    return {only.key, only.value};
}

/// Keeps the parser alive as long as its document. Depth is bounded.
class Document {
  public:
    explicit Document(std::string json);
    dom::object root() const { return root_; }

  private:
    dom::parser parser_;
    dom::object root_;
};

}  // namespace joulecast::pt2
