#include "joulecast/features/dimensions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "joulecast/features/causal_attention.h"

namespace joulecast {
namespace {

double product(const Sizes& sizes, std::size_t begin, std::size_t end) {
    double product = 1;
    for (std::size_t i = begin; i < end && i < sizes.size(); ++i) product *= static_cast<double>(sizes[i]);
    return product;
}

/// Item `index` of an integer list (its last one, if the list is shorter), or a plain integer; else the fallback.
double integer(const Operation& operation, std::string_view name, std::size_t index, double fallback) {
    const Value* value = find_argument(operation, name);
    if (!value) return fallback;
    if (const auto* single = std::get_if<std::int64_t>(value)) return static_cast<double>(*single);
    const auto* list = std::get_if<Sizes>(value);
    if (!list || list->empty()) return fallback;
    return static_cast<double>((*list)[std::min(index, list->size() - 1)]);
}

void set_input(Dimensions& d, const TensorType& input) {
    const Sizes& s = input.sizes;
    d.rank = static_cast<double>(s.size());
    if (s.empty()) return;
    d.n = static_cast<double>(s.front());
    d.last = static_cast<double>(s.back());
    if (s.size() == 4) {
        d.c = static_cast<double>(s[1]);
        d.h = static_cast<double>(s[2]);
        d.w = static_cast<double>(s[3]);
    } else if (s.size() > 1) {
        d.c = d.last;
        if (s.size() > 2) d.h = product(s, 1, s.size() - 1);
    }
}

void set_output(Dimensions& d, const TensorType& output) {
    const Sizes& s = output.sizes;
    if (s.empty()) return;
    if (s.size() == 4) {
        d.k = static_cast<double>(s[1]);
        d.oh = static_cast<double>(s[2]);
        d.ow = static_cast<double>(s[3]);
    } else {
        d.k = static_cast<double>(s.back());
    }
}

void set_window(Dimensions& d, const Operation& operation) {
    d.stride = integer(operation, "stride", 0, 1);
    d.padding = integer(operation, "padding", 0, 0);
    d.dilation = integer(operation, "dilation", 0, 1);
    if (find_argument(operation, "kernel_size")) {
        d.kernel_h = integer(operation, "kernel_size", 0, 1);
        d.kernel_w = integer(operation, "kernel_size", 1, d.kernel_h);
        if (!find_argument(operation, "stride")) d.stride = d.kernel_h;  // pooling's default
    }
}

void set_convolution(Dimensions& d, const Operation& operation) {
    set_window(d, operation);
    d.groups = integer(operation, "groups", 0, 1);
    const TensorType* weight = find_tensor(operation, "weight");
    if (!weight || weight->sizes.size() < 3) return;
    d.kernel_h = static_cast<double>(weight->sizes[2]);
    d.kernel_w = weight->sizes.size() > 3 ? static_cast<double>(weight->sizes[3]) : 1;
}

void set_product(Dimensions& d, const Operation& operation) {
    const auto product = matrix_product(operation);
    if (!product) return;
    d.gemm_b = static_cast<double>(product->batch);
    d.gemm_m = static_cast<double>(product->rows);
    d.gemm_n = static_cast<double>(product->columns);
    d.gemm_k = static_cast<double>(product->depth);
}

void set_bytes(Dimensions& d, const Operation& operation, std::span<const TensorType* const> inputs,
               const std::vector<TensorType>& outputs) {
    const TensorType* weight = find_tensor(operation, "weight");
    for (const TensorType* input : inputs) {
        d.elements_in += static_cast<double>(element_count(*input));
        (input == weight ? d.weight_bytes : d.input_bytes) += static_cast<double>(byte_count(*input));
    }
    for (const TensorType& output : outputs) {
        d.elements_out += static_cast<double>(element_count(output));
        d.output_bytes += static_cast<double>(byte_count(output));
    }
}

void leave_out(Counts& counts, double share) {
    counts.flop = std::llround(share * static_cast<double>(counts.flop));
    counts.other_flop = std::llround(share * static_cast<double>(counts.other_flop));
}

}  // namespace

Dimensions dimensions(const Operation& operation) {
    Dimensions d;
    const Record* record = find_record(operation.target);
    const auto inputs = tensors(operation);
    const auto outputs = record && record->outputs ? record->outputs(operation) : std::vector<TensorType>{};
    d.family = family(operation);
    d.inputs = static_cast<double>(inputs.size());
    d.forward = forward_counts(operation);
    d.backward = backward_counts(operation);
    if (d.family == Family::attention) {
        constexpr double edge_of_tile = 128;
        const double share = share_below_diagonal(operation, edge_of_tile);
        leave_out(d.forward, share);
        leave_out(d.backward, share);
    }
    if (!inputs.empty()) set_input(d, *inputs.front());
    if (!outputs.empty()) set_output(d, outputs.front());
    set_bytes(d, operation, inputs, outputs);
    set_product(d, operation);
    if (d.family == Family::convolution) set_convolution(d, operation);
    if (d.family == Family::pooling) set_window(d, operation);
    if (d.family == Family::softmax) d.reduced = integer(operation, "dim", 0, -1) == 1 && d.rank == 4 ? d.c : d.last;
    if (d.family == Family::reduction || d.family == Family::pooling || d.family == Family::normalization) {
        d.reduced = d.family == Family::normalization ? d.last : d.elements_in / std::max(1.0, d.elements_out);
    }
    return d;
}

}  // namespace joulecast
