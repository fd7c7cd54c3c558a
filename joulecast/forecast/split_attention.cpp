#include "joulecast/forecast/split_attention.h"

#include <algorithm>
#include <cstddef>
#include <variant>
#include <vector>

#include "joulecast/forecast/eager_kernels.h"
#include "joulecast/physics/law.h"
#include "joulecast/physics/matrix_rate.h"

namespace joulecast {
namespace {

constexpr double share_of_peak = 0.7;  // of products as small as a head's; a judgement
constexpr double cycles_across = 2;
constexpr double backward_share = 0.7;

constexpr double float_bytes = 4, narrow_bytes = 2, flag_bytes = 1;
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

/// One of those of a pass.
struct Kernel {
    double cycles = 0;  ///< of a unit
    double bytes = 0;   ///< that it moves
    double flop = 0;
};

Kernel product(double left, double right, double result, double flop) {
    return {0, float_bytes * (left + right + result), flop};
}

/// Of elements that are not loaded several at a time.
Kernel alone(double elements, double bytes_of_element) {
    return {cycles_of_element_alone * elements, bytes_of_element * elements, 0};
}

std::vector<Kernel> forward_kernels(const Operation& attention, double flop) {
    const Operands given = operands_of(attention);
    const double query = count(given.query), key = count(given.key), value = count(given.value);
    const double scores = given.scores();
    std::vector<Kernel> kernels{product(query, key, scores, flop / 2),
                                product(scores, value, given.results(), flop / 2)};
    if (given.converted() > 0) {
        for (const double elements : {query, key, value, given.results(), scores})
            kernels.push_back(alone(elements, float_bytes + narrow_bytes));
    }
    for (const double scaled : {query, key}) kernels.push_back({0, 2 * float_bytes * scaled, 0});
    for (const TensorType* operand : {given.query, given.key, given.value}) {
        if (is_contiguous(*operand)) continue;
        const double cycles = operand == given.key ? cycles_across : cycles_of_element_alone;
        kernels.push_back({cycles * count(operand), 2 * float_bytes * count(operand), 0});
    }
    if (find_argument(attention, "attn_mask") != nullptr)
        kernels.push_back(alone(scores, 2 * float_bytes + flag_bytes));
    kernels.push_back({0, 2 * float_bytes * scores, 0});             // softmax
    kernels.push_back({0, (float_bytes + flag_bytes) * scores, 0});  // which are -inf
    kernels.push_back({0, flag_bytes * scores, 0});                  // rows of which all are
    kernels.push_back(alone(scores, 2 * float_bytes));               // these rows cleared
    if (has_dropout(attention)) kernels.push_back({0, (2 * float_bytes + flag_bytes) * scores, 0});
    return kernels;
}

double flop_of(const PreparedOperation& attention) {
    return static_cast<double>(attention.dimensions.forward.flop);
}

double seconds_of(const std::vector<Kernel>& kernels, const PreparedOperation& attention, const Device& device) {
    const double peak = share_of_peak * peak_flop_per_s(device, Dtype::f32, attention.math);
    double seconds = 0;
    for (const Kernel& kernel : kernels) {
        const double moving = kernel.bytes / streamed_bytes_per_s(device);
        seconds +=
            std::max({moving, seconds_of_cycles(kernel.cycles, device), kernel.flop / peak}) + device.kernel_latency_s;
    }
    return seconds;
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
    return seconds_of(forward_kernels(attention.operation, flop_of(attention)), attention, device);
}

double compiled_split_attention_s(const PreparedOperation& attention, const Device& device) {
    const Operands given = operands_of(attention.operation);
    const double query = count(given.query), key = count(given.key), value = count(given.value);
    const double scores = given.scores(), flop = flop_of(attention) / 2;
    const double read = given.converted() > 0 ? narrow_bytes : float_bytes;
    std::vector<Kernel> kernels{product(query, key, scores, flop), product(scores, value, given.results(), flop)};
    for (const double elements : {query, key, value}) kernels.push_back({0, (read + float_bytes) * elements, 0});
    kernels.push_back({0, 2 * float_bytes * scores, 0});
    return seconds_of(kernels, attention, device);
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
    return static_cast<double>(forward_kernels(attention, 0).size());
}

}  // namespace joulecast
