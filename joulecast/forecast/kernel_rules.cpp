#include "joulecast/forecast/kernel_rules.h"

#include <algorithm>
#include <array>

#include "joulecast/forecast/batch_statistics.h"
#include "joulecast/forecast/depthwise_convolution.h"
#include "joulecast/forecast/float32_attention.h"
#include "joulecast/forecast/grouped_convolution.h"
#include "joulecast/forecast/split_attention.h"

namespace joulecast {
namespace {

bool is_split(const PreparedOperation& operation, const Device& device) {
    return runs_split_attention(operation.operation, device);
}

/// Of wider convolutions a law says nothing of depthwise ones.
bool is_of_wider(const TrainedLaw& law) {
    return !is_depthwise_law_key(law.key);
}

/// Of other normalizations no law tells what those of a batch take.
bool is_of_family(const TrainedLaw& law) {
    return is_family_law_key(law.key);
}

bool is_of_any(const TrainedLaw&) {
    return true;
}

constexpr std::array rules{
    KernelRule{runs_depthwise_kernel, is_of_wider, depthwise_forward_s, depthwise_backward_s},
    KernelRule{runs_depthwise_with_channels_last, is_of_wider, depthwise_with_channels_last_s,
               depthwise_backward_with_channels_last_s},
    KernelRule{runs_grouped_kernel, is_of_any, grouped_forward_s, grouped_backward_s},
    KernelRule{runs_batch_statistics, is_of_family, batch_statistics_forward_s, batch_statistics_backward_s},
    KernelRule{is_split, is_of_any, split_attention_forward_s, split_attention_backward_s},
    KernelRule{runs_float32_attention, is_of_any, float32_attention_s, nullptr},
};

}  // namespace

const KernelRule* kernel_rule(const PreparedOperation& operation, const Device& device) {
    const auto found =
        std::ranges::find_if(rules, [&](const KernelRule& rule) { return rule.applies(operation, device); });
    return found == rules.end() ? nullptr : &*found;
}

}  // namespace joulecast
