// What torch.autocast does to operations that have no record: facts of torch 2.13, as in Record::autocast.
#include <algorithm>
#include <array>

#include "joulecast/graph/autocast.h"

namespace joulecast {
namespace {

using enum AutocastPolicy;

struct Entry {
    std::string_view target;
    AutocastPolicies policies;
};

constexpr auto untouched = std::nullopt;

constexpr auto without_record = std::to_array<Entry>({
    {"aten::_addmm_activation", {lower, untouched}},
    {"aten::_convolution.deprecated", {lower, lower}},
    {"aten::_cudnn_rnn", {untouched, lower}},
    {"aten::_grid_sampler_2d_cpu_fallback", {f32, untouched}},
    {"aten::_lu_with_info", {f32, untouched}},
    {"aten::_native_multi_head_attention", {lower, untouched}},
    {"aten::_thnn_fused_gru_cell", {untouched, lower}},
    {"aten::_thnn_fused_lstm_cell", {untouched, lower}},
    {"aten::cholesky_solve", {f32, untouched}},
    {"aten::conv_tbc", {lower, lower}},
    {"aten::cudnn_convolution", {untouched, lower}},
    {"aten::cudnn_convolution_transpose", {untouched, lower}},
    {"aten::fake_quantize_per_tensor_affine", {f32, untouched}},
    {"aten::geqrf", {f32, untouched}},
    {"aten::linalg_cond", {f32, untouched}},
    {"aten::linalg_cond.p_str", {f32, untouched}},
    {"aten::linalg_householder_product", {f32, untouched}},
    {"aten::linalg_lstsq", {f32, untouched}},
    {"aten::linalg_matrix_rank", {f32, untouched}},
    {"aten::linalg_matrix_rank.atol_rtol_float", {f32, untouched}},
    {"aten::linalg_matrix_rank.atol_rtol_tensor", {f32, untouched}},
    {"aten::linalg_matrix_rank.tol_tensor", {f32, untouched}},
    {"aten::linalg_tensorinv", {f32, untouched}},
    {"aten::linalg_tensorsolve", {f32, untouched}},
    {"aten::lu_solve", {f32, untouched}},
    {"aten::mkldnn_rnn_layer", {lower, untouched}},
    {"aten::multilabel_margin_loss_forward", {f32, untouched}},
    {"aten::nuclear_norm", {untouched, f32}},
    {"aten::nuclear_norm.dim", {untouched, f32}},
    {"aten::orgqr", {f32, untouched}},
    {"aten::ormqr", {f32, untouched}},
    {"aten::pdist", {untouched, f32}},
    {"aten::qr", {f32, untouched}},
    {"aten::svd", {f32, untouched}},
    {"aten::triangular_solve", {f32, untouched}},
    {"aten::view_as_complex", {f32, untouched}},
});

AutocastPolicies policies(std::string_view target) {
    if (const Record* record = find_record(target)) return record->autocast;
    const auto found = std::ranges::find(without_record, target, &Entry::target);
    return found == without_record.end() ? AutocastPolicies{} : found->policies;
}

const std::optional<AutocastPolicy>& on(AutocastDevice device, const AutocastPolicies& policies) {
    return device == AutocastDevice::cpu ? policies.cpu : policies.cuda;
}

}  // namespace

std::optional<AutocastPolicy> autocast_policy(std::string_view target, AutocastDevice device) {
    return on(device, policies(target));
}

std::vector<std::string_view> autocast_targets(AutocastDevice device) {
    std::vector<std::string_view> targets;
    for (const Record* record : all_records())
        if (on(device, record->autocast)) targets.push_back(record->target);
    for (const Entry& entry : without_record)
        if (on(device, entry.policies)) targets.push_back(entry.target);
    std::ranges::sort(targets);
    return targets;
}

}  // namespace joulecast
