#include "joulecast/model/published_method.h"

#include <algorithm>
#include <array>

namespace joulecast {
namespace {

struct Known {
    PublishedMethod method;
    std::string_view name;
    std::string_view paper;
};

constexpr std::array known{Known{PublishedMethod::thesis, "thesis", "Nicolai 2025"},
                           Known{PublishedMethod::sponner, "sponner", "Sponner et al. 2022"}};

const Known& of(PublishedMethod method) {
    return *std::ranges::find(known, method, &Known::method);
}

}  // namespace

std::string_view name(PublishedMethod method) {
    return of(method).name;
}

std::optional<PublishedMethod> parse_published_method(std::string_view text) {
    const auto found = std::ranges::find(known, text, &Known::name);
    return found == known.end() ? std::nullopt : std::optional(found->method);
}

std::string_view paper(PublishedMethod method) {
    return of(method).paper;
}

std::string description(PublishedMethod method) {
    return std::string(name(method)) + " (" + std::string(paper(method)) + ")";
}

std::string_view method_name(const Predictor& predictor) {
    const bool is_published = !predictor.devices.empty() && predictor.devices.front().published;
    return is_published ? name(predictor.devices.front().published->method) : "joulecast";
}

std::string_view method_paper(const Predictor& predictor) {
    const bool is_published = !predictor.devices.empty() && predictor.devices.front().published;
    return is_published ? paper(predictor.devices.front().published->method) : "";
}

std::size_t column_count(PublishedMethod method, std::size_t layers) {
    if (method == PublishedMethod::sponner) return sponner_columns;
    return 2 * thesis_attribute_count + layers + 1;  // each attribute with its flag; the clock
}

}  // namespace joulecast
