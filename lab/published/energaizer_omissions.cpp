#include "lab/published/energaizer_omissions.h"

#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

/// Channels that the first stage of a ResNet starts with; there alone the projection keeps the size, and looks like the
/// end of a block.
constexpr std::int64_t channels_of_first_stage = 64;

Operation batch_normalisation(const TensorType& of) {
    const TensorType by_channel{of.dtype, {of.sizes.at(1)}};
    return {"aten::batch_norm",
            {{"input", of},
             {"weight", by_channel},
             {"bias", by_channel},
             {"running_mean", by_channel},
             {"running_var", by_channel},
             {"training", false},
             {"momentum", 0.1},
             {"eps", 1e-5},
             {"cudnn_enabled", true}}};
}

std::int64_t sums_behind(const Sizes& weight, std::int64_t count) {
    if (weight.at(2) != 1 || weight.at(0) != 4 * weight.at(1)) return 0;
    return weight.at(1) == channels_of_first_stage ? count - 1 : count;
}

}  // namespace

std::vector<CalledKernel> energaizer_omissions(std::string_view model, const Operation& convolution,
                                               std::int64_t count) {
    const bool is_resnet = model.starts_with("energaizer:resnet");
    if (!is_resnet && !model.starts_with("energaizer:mobilevit")) return {};
    const TensorType output = find_record(convolution.target)->outputs(convolution).at(0);
    std::vector<CalledKernel> omitted{{batch_normalisation(output), count}};
    const std::int64_t sums =
        is_resnet ? sums_behind(std::get<TensorType>(*find_argument(convolution, "weight")).sizes, count) : 0;
    if (sums > 0) omitted.push_back({{"aten::add.Tensor", {{"self", output}, {"other", output}}}, sums});
    return omitted;
}

}  // namespace joulecast
