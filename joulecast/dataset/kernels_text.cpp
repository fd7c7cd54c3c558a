#include "joulecast/dataset/kernels_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>

#include <nlohmann/json.hpp>

#include "joulecast/error.h"
#include "joulecast/units/bounded_json.h"

namespace joulecast {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_kernels = 100'000;
constexpr std::size_t longest_name = 200;
constexpr JsonLimits limits{.depth = 3, .values = 1'000'000, .refuses_nul = true};

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20;
}

[[noreturn]] void refuse(const std::string& why) {
    throw FormatError("is no list of kernels: " + why);
}

std::int64_t number_below(const Json& value, std::int64_t end, const char* what) {
    if (!value.is_number_integer() || value < 0 || value >= end) refuse(std::string(what) + " is out of range");
    return value.get<std::int64_t>();
}

std::vector<std::string> names_in(const Json& list) {
    if (!list.is_array()) refuse("names is no list");
    std::vector<std::string> names;
    for (const Json& item : list) {
        if (!item.is_string()) refuse("a name is no text");
        names.push_back(item.get<std::string>());
    }
    return names;
}

NetworkKernel kernel_in(const Json& item, const std::vector<std::string>& names) {
    if (!item.is_array() || item.empty()) refuse("a kernel is no list that begins with its name's place");
    NetworkKernel kernel;
    const auto place = number_below(item[0], static_cast<std::int64_t>(names.size()), "a name's place");
    kernel.kernel = names[static_cast<std::size_t>(place)];
    for (std::size_t i = 1; i < item.size(); ++i) {
        const auto node = number_below(item[i], std::numeric_limits<std::int32_t>::max(), "a node");
        kernel.operations.push_back(static_cast<std::int32_t>(node));
    }
    return kernel;
}

}  // namespace

std::string kernels_text(const std::vector<NetworkKernel>& kernels) {
    if (kernels.empty()) return "";
    std::map<std::string, std::size_t> places;
    Json names = Json::array(), list = Json::array();
    for (const NetworkKernel& kernel : kernels) {
        const auto [place, is_new] = places.try_emplace(kernel.kernel, places.size());
        if (is_new) names.push_back(kernel.kernel);
        Json item = Json::array({place->second});
        for (const std::int32_t node : kernel.operations) item.push_back(node);
        list.push_back(std::move(item));
    }
    // Names first, which an object of the library would not keep; text that is no UTF-8 is mended.
    const auto text = [](const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); };
    return R"({"names":)" + text(names) + R"(,"kernels":)" + text(list) + "}";
}

std::vector<NetworkKernel> parse_kernels(std::string_view text) {
    std::vector<NetworkKernel> kernels;
    if (text.empty()) return kernels;
    const Json json = parse_bounded(text, limits);
    if (!json.is_object() || json.size() != 2 || !json.contains("names") || !json.contains("kernels"))
        refuse("it is no object of names and kernels");
    const std::vector<std::string> names = names_in(json["names"]);
    const Json& list = json["kernels"];
    if (!list.is_array()) refuse("kernels is no list");
    for (const Json& item : list) kernels.push_back(kernel_in(item, names));
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
