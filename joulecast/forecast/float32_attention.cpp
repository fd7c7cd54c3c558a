#include "joulecast/forecast/float32_attention.h"

#include <algorithm>
#include <cmath>

#include "joulecast/features/causal_attention.h"
#include "joulecast/forecast/split_attention.h"
#include "joulecast/graph/record.h"
#include "joulecast/physics/matrix_rate.h"

namespace joulecast {
namespace {

constexpr double edge = 64, cycles_of_tile = 14600, tiles_at_a_time = 1.7, latencies = 3;
constexpr double steps_of_tf32 = 3, most_of_peak = 0.8;

double size_at(const TensorType& tensor, std::size_t from_end) {
    return static_cast<double>(tensor.sizes[tensor.sizes.size() - from_end]);
}

/// Of a tile: scores, and their weighted sum of values.
double least_cycles(double width, const Device& device) {
    const double flop = 4 * edge * edge * width * steps_of_tf32;
    const double flop_per_cycle = most_of_peak * device.peak_flop_per_s_tf32 / cycles_per_s(device);
    return tiles_at_a_time * flop / flop_per_cycle;
}

}  // namespace

bool runs_float32_attention(const PreparedOperation& attention, const Device& device) {
    const TensorType* const query = find_tensor(attention.operation, "query");
    const TensorType* const key = find_tensor(attention.operation, "key");
    return attention.family() == Family::attention && device.vendor == "nvidia" && has_tf32(device) && query && key &&
           query->sizes.size() >= 3 && key->sizes.size() >= 3 && query->dtype == Dtype::f32 &&
           !runs_split_attention(attention.operation, device);
}

double float32_attention_s(const PreparedOperation& attention, const Device& device) {
    const TensorType& query = *find_tensor(attention.operation, "query");
    const TensorType& key = *find_tensor(attention.operation, "key");
    const double width = std::max(edge, size_at(query, 1));
    const double rows = std::ceil(size_at(query, 2) / edge), columns = std::ceil(size_at(key, 2) / edge);
    const double heads =
        static_cast<double>(element_count(query)) / std::max(1.0, size_at(query, 1) * size_at(query, 2));
    const double share = share_below_diagonal(attention.operation, edge);
    const double of_tile = std::max(cycles_of_tile * width / edge, least_cycles(width, device));
    const double all = seconds_of_cycles(heads * rows * columns * share * of_tile / tiles_at_a_time, device);
    return std::max(all, seconds_in_turn(columns * of_tile, device)) + latencies * device.kernel_latency_s;
}

}  // namespace joulecast
