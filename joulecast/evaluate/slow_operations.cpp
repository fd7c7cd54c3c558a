#include "joulecast/evaluate/slow_operations.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "joulecast/graph/record.h"
#include "joulecast/physics/roofline.h"

namespace joulecast {
namespace {

/// Below this a kernel's work is less than what starting one takes: a few microseconds on GPUs (CUDA's launch latency)
/// and in eager dispatch on CPUs alike.
constexpr double tiny_work_s = 5e-6;
/// Vector loads of GPUs and matrix units want rows of whole 16 bytes.
constexpr std::int64_t aligned_bytes = 16;
constexpr double few_channels = 4;

std::string whole(double value) {
    return std::to_string(std::llround(value));
}

bool is_known(double value) {
    return std::isfinite(value);
}

void add_if_tiny(const PreparedOperation& operation, std::vector<std::string>& reasons) {
    const double work_s = seconds(operation.roofline);
    if (!(work_s < tiny_work_s)) return;
    const double microseconds = std::max(0.01, std::round(work_s * 1e8) / 100);
    std::string digits = std::to_string(microseconds);
    digits.resize(digits.find('.') + 3);
    reasons.push_back("tiny: its work takes " + digits + " us at the data sheet's rates, so launching decides");
}

void add_if_grouped(const Dimensions& d, std::vector<std::string>& reasons) {
    if (!(d.groups > 1)) return;
    const bool depthwise = d.groups == d.c;
    reasons.push_back(depthwise ? "depthwise: each channel by itself, little arithmetic for its bytes"
                                : "grouped: " + whole(d.groups) + " groups share no arithmetic");
}

void add_if_strided(const Operation& operation, std::vector<std::string>& reasons) {
    for (const TensorType* tensor : tensors(operation)) {
        const Layout lies = layout(*tensor);
        if (lies == Layout::permuted || lies == Layout::gapped) {
            reasons.push_back(lies == Layout::permuted ? "strided: an input lies transposed in memory"
                                                       : "strided: an input has gaps between its rows");
            return;
        }
    }
}

void add_if_unaligned(const Operation& operation, const Dimensions& d, std::vector<std::string>& reasons) {
    const std::int64_t step = std::max<std::int64_t>(1, aligned_bytes / element_bytes(compute_dtype(operation)));
    std::string sizes;
    const auto look = [&](const char* what, double size) {
        if (!is_known(size) || std::llround(size) % step == 0) return;
        sizes += (sizes.empty() ? "" : ", ") + std::string(what) + " = " + whole(size);
    };
    if (d.family == Family::convolution) {
        look("input channels", d.c);
        look("output channels", d.k);
    } else {
        // The rows of inputs, weights and results; how many there are does not matter.
        look("n", d.gemm_n);
        look("k", d.gemm_k);
    }
    if (!sizes.empty()) reasons.push_back("unaligned: " + sizes + ", no multiple of " + std::to_string(step));
}

void add_if_off_matrix_units(const Operation& operation, const Device& device, Math math,
                             std::vector<std::string>& reasons) {
    if (device.kind != Device::Kind::gpu) return;
    const Dtype dtype = compute_dtype(operation);
    const double rate = peak_flop_per_s(device, dtype, math);
    const double tf32 = device.peak_flop_per_s_tf32;
    if (dtype == Dtype::f32 && math == Math::ieee && tf32 > rate)
        reasons.push_back("not on matrix units: f32 with tf32 off, a " + whole(tf32 / rate) +
                          " times lower rate than tf32's");
    else if (dtype == Dtype::f64)
        reasons.push_back("double precision");
}

}  // namespace

std::vector<std::string> likely_reasons(const PreparedOperation& operation, const Device& device, Math math) {
    const Dimensions& d = operation.dimensions;
    const Operation& op = operation.operation;
    std::vector<std::string> reasons;
    add_if_tiny(operation, reasons);
    add_if_strided(op, reasons);
    if (d.family != Family::convolution && d.family != Family::matmul && d.family != Family::attention) return reasons;
    add_if_grouped(d, reasons);
    add_if_unaligned(op, d, reasons);
    if (d.family == Family::convolution && d.c <= few_channels) reasons.push_back("few input channels: " + whole(d.c));
    add_if_off_matrix_units(op, device, math, reasons);
    return reasons;
}

std::vector<SlowOperation> slow_operations(std::span<const OutOfFoldRow> held_out, std::span<const TrainingRow> rows,
                                           const Device& device, Math math, const SlowSettings& settings) {
    std::map<std::pair<std::string, double>, const TrainingRow*> by_group_and_time;
    for (const TrainingRow& row : rows) by_group_and_time.emplace(std::pair(row.group, row.time_s), &row);
    std::vector<SlowOperation> slow;
    for (const OutOfFoldRow& row : held_out) {
        if (row.model != "joulecast" || row.metric != "time_s" || row.device != device.id || row.math != name(math))
            continue;
        const bool far = row.measured > row.high && row.measured > settings.least_factor * row.predicted;
        const auto found = by_group_and_time.find({row.group, row.measured});
        if (!far || found == by_group_and_time.end()) continue;
        const PreparedOperation& operation = found->second->operation;
        SlowOperation result{operation.operation, device.id, math, row.measured,
                             row.predicted,       row.high,  1,    likely_reasons(operation, device, math)};
        if (!settings.calls.empty()) {
            const auto calls = settings.calls.find(operation.signature);
            if (calls == settings.calls.end()) continue;
            result.calls = calls->second;
        }
        slow.push_back(std::move(result));
    }
    std::ranges::stable_sort(slow,
                             [](const SlowOperation& a, const SlowOperation& b) { return a.lost_s() > b.lost_s(); });
    return slow;
}

}  // namespace joulecast
