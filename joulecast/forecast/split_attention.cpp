#include "joulecast/forecast/split_attention.h"

#include <algorithm>
#include <cstddef>
#include <variant>

#include "joulecast/forecast/eager_kernels.h"
#include "joulecast/physics/law.h"
#include "joulecast/physics/matrix_rate.h"

namespace joulecast {
namespace {

constexpr double share_of_peak = 0.7;  // of products as small as a head's; a judgement
constexpr double cycles_across = 2;
constexpr double backward_share = 0.7;

constexpr double float_bytes = 4;
constexpr std::size_t rank_of_fused = 4;

bool is_apart_in_its_last(const TensorType* type) {
    return type != nullptr && !type->strides.empty() && type->sizes.back() > 1 && type->strides.back() != 1;
}

bool has_dropout(const Operation& attention) {
    const auto* share = std::get_if<double>(find_argument(attention, "dropout_p"));
    return share != nullptr && *share > 0;
}

double count(const TensorType* type) {
    return static_cast<double>(element_count(*type));
}

struct Operands {
    const TensorType* query = nullptr;
    const TensorType* key = nullptr;
    const TensorType* value = nullptr;

    double rows() const { return count(query) / static_cast<double>(query->sizes.back()); }
    double scores() const { return rows() * static_cast<double>(key->sizes[key->sizes.size() - 2]); }
    double results() const { return rows() * static_cast<double>(value->sizes.back()); }
    /// Of all three: they are computed in float32.
    double converted() const { return element_bytes(query->dtype) == 2 ? count(query) + count(key) + count(value) : 0; }
};

Operands operands_of(const Operation& attention) {
    return {find_tensor(attention, "query"), find_tensor(attention, "key"), find_tensor(attention, "value")};
}

/// What all kernels of a pass do together.
struct Work {
    double alone = 0;   ///< elements whose operands lie apart
    double across = 0;  ///< elements read across
    double bytes = 0;
    double kernels = 0;
};

Work forward_work(const Operation& attention) {
    const Operands given = operands_of(attention);
    const double scores = given.scores();
    Work work;
    work.kernels = 2;  // the products
    if (given.converted() > 0) {
        work.alone += given.converted() + given.results() + scores;
        work.kernels += 5;
    }
    work.bytes += 2 * float_bytes * (count(given.query) + count(given.key));
    work.kernels += 2;
    for (const TensorType* operand : {given.query, given.key, given.value}) {
        if (is_contiguous(*operand)) continue;
        (operand == given.key ? work.across : work.alone) += count(operand);
        work.kernels += 1;
    }
    if (find_argument(attention, "attn_mask") != nullptr) {
        work.alone += scores;
        work.kernels += 1;
    }
    work.bytes += 2 * float_bytes * scores;        // softmax
    work.bytes += (float_bytes + 1 + 1) * scores;  // which are -inf, and rows of which all are
    work.alone += scores;                          // these rows cleared
    work.kernels += 4;
    if (has_dropout(attention)) {
        work.bytes += (2 * float_bytes + 1) * scores;
        work.kernels += 1;
    }
    return work;
}

}  // namespace

bool runs_split_attention(const Operation& attention, const Device& device) {
    if (device.vendor != "nvidia" || attention.target != "aten::scaled_dot_product_attention") return false;
    const auto [query, key, value] = operands_of(attention);
    for (const TensorType* operand : {query, key, value}) {
        if (operand == nullptr || operand->sizes.size() < 2 || operand->sizes.back() < 1) return false;
    }
    const auto has_rank_of_fused = [](const TensorType* operand) { return operand->sizes.size() == rank_of_fused; };
    if (!has_rank_of_fused(query) || !has_rank_of_fused(key) || !has_rank_of_fused(value)) return true;
    return is_apart_in_its_last(find_tensor(attention, "attn_mask")) || is_apart_in_its_last(query) ||
           is_apart_in_its_last(key) || is_apart_in_its_last(value);
}

double split_attention_forward_s(const PreparedOperation& attention, const Device& device) {
    const Work work = forward_work(attention.operation);
    const double cycles = cycles_of_element_alone * work.alone + cycles_across * work.across;
    const double peak = peak_flop_per_s(device, Dtype::f32, attention.math);
    return static_cast<double>(attention.dimensions.forward.flop) / (share_of_peak * peak) +
           seconds_of_cycles(cycles, device) + work.bytes / streamed_bytes_per_s(device) +
           work.kernels * device.kernel_latency_s;
}

double split_attention_backward_s(const PreparedOperation& attention, const Device& device) {
    return backward_share * split_attention_forward_s(attention, device);
}

double split_attention_scratch_bytes(const Operation& attention) {
    const Operands given = operands_of(attention);
    return float_bytes * (given.converted() + count(given.query)) + (2 * float_bytes + 1) * given.scores();
}

std::optional<KeptTensors> kept_by_split_attention(const Operation& attention, const Device& device) {
    if (mode(attention) != Mode::training || !runs_split_attention(attention, device)) return std::nullopt;
    const Operands given = operands_of(attention);
    KeptTensors kept;
    kept.hidden_bytes = float_bytes * (count(given.query) + count(given.key) + count(given.value) + given.scores());
    if (has_dropout(attention)) kept.hidden_bytes += (float_bytes + 1) * given.scores();
    return kept;
}

double split_attention_kernels(const Operation& attention) {
    return forward_work(attention).kernels;
}

}  // namespace joulecast
