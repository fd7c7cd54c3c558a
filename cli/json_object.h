#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/units/digits.h"
#include "joulecast/units/quantity.h"

namespace joulecast::cli {

/// In quotes, as JSON writes it; what is no UTF-8 becomes U+FFFD.
void append_quoted(std::string& text, std::string_view value);

/// Writes an object of JSON as text. A tree of JSON takes ten times as long; the bytes are those that nlohmann-json
/// would write of one.
class JsonObject {
  public:
    enum class Layout { one_line, lines };

    /// Begins the object at the end of the text; `depth` is how many objects it lies in.
    JsonObject(std::string& text, Layout layout, std::size_t depth = 0);

    void add(std::string_view key, std::string_view value) { append_quoted(entry(key), value); }
    void add(std::string_view key, std::same_as<bool> auto value) { entry(key) += value ? "true" : "false"; }
    void add(std::string_view key, std::signed_integral auto value) { append_digits(entry(key), std::int64_t{value}); }
    /// NaN and infinity are null.
    void add(std::string_view key, double value);
    void add(std::string_view key, const std::vector<std::string>& texts);
    void add(std::string_view key, const std::same_as<std::optional<std::string>> auto& text) {
        text ? append_quoted(entry(key), *text) : add_null(key);
    }
    void add(std::string_view key, const std::same_as<std::optional<bool>> auto& flag) {
        flag ? add(key, *flag) : add_null(key);
    }
    template <class Unit>
    void add(std::string_view key, const Estimate<Unit>& estimate) {
        JsonObject interval = object(key);
        interval.add("value", estimate.value.value());
        interval.add("low", estimate.low.value());
        interval.add("high", estimate.high.value());
        interval.end();
    }
    void add_null(std::string_view key) { entry(key) += "null"; }
    /// An object in this one: to be ended before anything is added here.
    JsonObject object(std::string_view key) { return {entry(key), layout_, depth_ + 1}; }
    /// Likewise, in one line.
    JsonObject line(std::string_view key) { return {entry(key), Layout::one_line, depth_ + 1}; }
    /// The text, to which the value of that key is to be appended.
    std::string& entry(std::string_view key);

    void end();

  private:
    void new_line(std::size_t depth);

    std::string& text_;
    Layout layout_;
    std::size_t depth_;
    bool is_empty_ = true;
};

}  // namespace joulecast::cli
