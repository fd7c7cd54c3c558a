#include "joulecast/dataset/kernels_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "joulecast/error.h"

namespace joulecast {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_kernels = 100'000;
constexpr std::size_t longest_name = 200;
constexpr std::size_t most_values = 1'000'000;

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20;
}

[[noreturn]] void refuse(const std::string& why) {
    throw FormatError("is no list of kernels: " + why);
}

/// Without lists of the library: these ask for memory when they are given back, and where there is none the program
/// ends.
class Reader final : public nlohmann::json_sax<Json> {
  public:
    std::vector<NetworkKernel> take() {
        if (!has_names_ || !has_kernels_) refuse("it is no object of names and kernels");
        for (std::size_t i = 0; i < kernels_.size(); ++i) {
            if (places_[i] >= names_.size()) refuse("a name's place is out of range");
            kernels_[i].kernel = names_[places_[i]];
        }
        return std::move(kernels_);
    }

    bool start_object(std::size_t /*elements*/) override { return level_++ == 0 || unexpected(); }
    bool end_object() override { return true; }
    bool key(std::string& key) override {
        bool& seen = key == "names" ? has_names_ : has_kernels_;
        if (seen || (key != "names" && key != "kernels")) unexpected();
        seen = true;
        in_names_ = key == "names";
        return true;
    }
    bool start_array(std::size_t /*elements*/) override {
        if (level_ != 1 && (level_ != 2 || in_names_)) unexpected();
        if (level_++ == 2) kernels_.emplace_back();
        return true;
    }
    bool end_array() override {
        if (level_-- == 3 && places_.size() < kernels_.size()) refuse("a kernel has no name");
        return true;
    }
    bool string(std::string& value) override {
        if (level_ != 2 || !in_names_) unexpected();
        count();
        names_.push_back(value);
        return true;
    }
    bool number_unsigned(std::uint64_t value) override {
        if (level_ != 3) unexpected();
        count();
        if (places_.size() < kernels_.size()) {
            places_.push_back(value);
        } else {
            if (value >= std::numeric_limits<std::int32_t>::max()) refuse("a node is out of range");
            kernels_.back().operations.push_back(static_cast<std::int32_t>(value));
        }
        return true;
    }
    bool number_integer(std::int64_t /*value*/) override { return unexpected(); }  // below zero
    bool number_float(double /*value*/, const std::string& /*text*/) override { return unexpected(); }
    bool null() override { return unexpected(); }
    bool boolean(bool /*value*/) override { return unexpected(); }
    bool binary(Json::binary_t& /*value*/) override { return unexpected(); }
    bool parse_error(std::size_t position, const std::string& /*token*/, const Json::exception& /*error*/) override {
        refuse("no JSON at byte " + std::to_string(position));
    }

  private:
    static bool unexpected() { refuse("it is no object of names and kernels"); }
    void count() {
        if (++values_ > most_values) refuse("more than " + std::to_string(most_values) + " values");
    }

    std::vector<std::string> names_;
    std::vector<std::uint64_t> places_;  ///< of the names of kernels_
    std::vector<NetworkKernel> kernels_;
    int level_ = 0;  ///< of what is open
    bool in_names_ = false;
    bool has_names_ = false;
    bool has_kernels_ = false;
    std::size_t values_ = 0;
};

/// Text that is no UTF-8 is mended.
std::string quoted(const std::string& text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string kernels_text(const std::vector<NetworkKernel>& kernels) {
    if (kernels.empty()) return "";
    std::map<std::string, std::size_t> places;
    std::string names, list;
    for (const NetworkKernel& kernel : kernels) {
        const auto [place, is_new] = places.try_emplace(kernel.kernel, places.size());
        if (is_new) names += (names.empty() ? "" : ",") + quoted(kernel.kernel);
        list += (list.empty() ? "[" : ",[") + std::to_string(place->second);
        for (const std::int32_t node : kernel.operations) list += "," + std::to_string(node);
        list += ']';
    }
    return R"({"names":[)" + names + R"(],"kernels":[)" + list + "]}";
}

std::vector<NetworkKernel> parse_kernels(std::string_view text) {
    std::vector<NetworkKernel> kernels;
    if (text.empty()) return kernels;
    Reader reader;
    Json::sax_parse(text, &reader);
    kernels = reader.take();
    if (const auto why = wrong_kernels(kernels)) refuse(*why);
    return kernels;
}

std::optional<std::string> wrong_kernels(const std::vector<NetworkKernel>& kernels) {
    if (kernels.size() > most_kernels) return "more than " + std::to_string(most_kernels) + " kernels";
    for (const NetworkKernel& kernel : kernels) {
        const bool is_name = !kernel.kernel.empty() && kernel.kernel.size() <= longest_name &&
                             std::ranges::none_of(kernel.kernel, is_control);
        if (!is_name) return "a kernel's name is none of 1 to " + std::to_string(longest_name) + " bytes";
        const auto& nodes = kernel.operations;
        if (std::ranges::adjacent_find(nodes, std::greater_equal{}) != nodes.end() ||
            (!nodes.empty() && nodes.front() < 0))
            return "the nodes of a kernel do not ascend from zero";
    }
    return {};
}

}  // namespace joulecast
