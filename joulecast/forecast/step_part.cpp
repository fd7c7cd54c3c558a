#include "joulecast/forecast/step_part.h"

#include <array>
#include <utility>

namespace joulecast {
namespace {

constexpr std::array<std::pair<UpdateForm, std::string_view>, 3> update_forms{
    {{UpdateForm::loop, "loop"}, {UpdateForm::foreach, "foreach"}, {UpdateForm::fused, "fused"}}};

}  // namespace

std::string_view name(UpdateForm form) {
    for (const auto& [known, word] : update_forms) {
        if (known == form) return word;
    }
    return "";
}

std::optional<UpdateForm> parse_update_form(std::string_view text) {
    for (const auto& [known, word] : update_forms) {
        if (word == text) return known;
    }
    return std::nullopt;
}

UpdateForm default_form(Device::Kind kind) {
    return kind == Device::Kind::gpu ? UpdateForm::foreach : UpdateForm::loop;
}

std::string_view name(StepPart part) {
    switch (part) {
        case StepPart::forward:
            return "forward";
        case StepPart::backward:
            return "backward";
        case StepPart::gradient_sum:
            return "gradient sum";
        case StepPart::accumulation:
            return "accumulation";
        case StepPart::update:
            return "update";
    }
    return "";
}

}  // namespace joulecast
