#include "joulecast/units/bounded_json.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/error.h"

namespace joulecast {
namespace {

using Json = nlohmann::json;

std::string shown(const std::string& text) {
    return "\"" + text.substr(0, 40) + "\"";
}

/// Puts together what the parser comes across. Only what is open is pointed to: it stays where it is until it is
/// closed.
class Builder final : public nlohmann::json_sax<Json> {
  public:
    explicit Builder(const JsonLimits& limits) : limits_(limits) {}

    Json take() { return std::move(root_); }

    bool null() override { return add(nullptr) != nullptr; }
    bool boolean(bool value) override { return add(value) != nullptr; }
    bool number_integer(std::int64_t value) override { return add(value) != nullptr; }
    bool number_unsigned(std::uint64_t value) override { return add(value) != nullptr; }
    bool number_float(double value, const std::string& /*text*/) override { return add(value) != nullptr; }
    bool string(std::string& value) override {
        check(value);
        return add(std::move(value)) != nullptr;
    }
    bool binary(Json::binary_t& value) override { return add(std::move(value)) != nullptr; }

    bool start_object(std::size_t /*elements*/) override { return open(Json::object()); }
    bool start_array(std::size_t /*elements*/) override { return open(Json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(std::string& key) override {
        check(key);
        const auto [place, is_new] = open_.back()->get_ref<Json::object_t&>().try_emplace(key);
        if (!is_new) throw FormatError("the key " + shown(key) + " is twice in one object");
        of_key_ = &place->second;
        return true;
    }

    bool parse_error(std::size_t /*position*/, const std::string& /*token*/, const Json::exception& error) override {
        // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
        const std::string what = error.what();
        const std::size_t start = what.find("] ");
        throw FormatError("it is not JSON: " + what.substr(start == std::string::npos ? 0 : start + 2, 200));
    }

  private:
    Json* add(Json value) {
        if (++values_ > limits_.values)
            throw FormatError("it holds more than " + std::to_string(limits_.values) + " values");
        if (open_.empty()) {
            root_ = std::move(value);
            return &root_;
        }
        if (open_.back()->is_array()) return &open_.back()->get_ref<Json::array_t&>().emplace_back(std::move(value));
        *of_key_ = std::move(value);
        return of_key_;
    }

    bool open(Json container) {
        if (open_.size() == limits_.depth)
            throw FormatError("it nests deeper than " + std::to_string(limits_.depth) + " levels");
        open_.push_back(add(std::move(container)));
        return true;
    }

    bool close() {
        open_.pop_back();
        return true;
    }

    void check(const std::string& text) const {
        if (!limits_.refuses_nul) return;
        if (const std::size_t nul = text.find('\0'); nul != std::string::npos)
            throw FormatError("there is a NUL character after " + shown(text.substr(0, nul)));
    }

    const JsonLimits& limits_;
    Json root_;
    std::vector<Json*> open_;
    Json* of_key_ = nullptr;  ///< the value of the key that was read last
    std::size_t values_ = 0;
};

}  // namespace

Json parse_bounded(std::string_view text, const JsonLimits& limits) {
    Builder builder(limits);
    Json::sax_parse(text, &builder);
    return builder.take();
}

Json parse_bounded_or_null(std::string_view text, const JsonLimits& limits) {
    try {
        return parse_bounded(text, limits);
    } catch (const FormatError&) {
        return nullptr;
    }
}

nlohmann::json number_or_null(double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

}  // namespace joulecast
