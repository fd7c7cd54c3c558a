#include "joulecast/forecast/row_kernels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "joulecast/physics/matrix_rate.h"
#include "joulecast/physics/roofline.h"
#include "joulecast/units/one_of.h"

namespace joulecast {
namespace {

/// A row of so many elements and fewer is held by one warp, which takes many of them.
constexpr double longest_in_a_warp = 1024;
/// Sums of more numbers than this are of two stages.
constexpr double most_of_one_stage = 16384;

double softmax_cycles_of_element(const PreparedOperation& call) {
    const bool is_narrow_log =
        call.operation.target == "aten::log_softmax.int" && element_bytes(compute_dtype(call.operation)) == 2;
    return is_narrow_log ? 0.36 : 0.53;
}

double softmax_s(const PreparedOperation& call, const Device& device) {
    const Dimensions& size = call.dimensions;
    if (!(size.reduced > longest_in_a_warp)) return 0;
    const double of_element = softmax_cycles_of_element(call);
    return std::max(seconds_in_turn(2500 + of_element * size.reduced, device),
                    seconds_of_cycles(of_element * size.elements_out, device));
}

/// Numbers that a cumulative sum adds one after the other; 0 where its arguments do not say.
double summed_length(const Operation& operation) {
    const Value* const given = find_argument(operation, "dim");
    const auto* const dim = given ? std::get_if<std::int64_t>(given) : nullptr;
    const auto operands = tensors(operation);
    if (dim == nullptr || operands.empty()) return 0;
    const auto rank = static_cast<std::int64_t>(operands.front()->sizes.size());
    const std::int64_t at = *dim < 0 ? *dim + rank : *dim;
    return at >= 0 && at < rank ? static_cast<double>(operands.front()->sizes[static_cast<std::size_t>(at)]) : 0;
}

double reduction_cycles_in_turn(const PreparedOperation& call) {
    const Dimensions& size = call.dimensions;
    const std::string_view target = call.operation.target;
    if (is_one_of(target, {"aten::argmax", "aten::argmin"}))
        return 4000 + 0.6 * size.elements_in / std::max(1.0, size.elements_out);
    if (target == "aten::cumsum") return 7500 + 9.5 * summed_length(call.operation);
    return size.elements_out == 1 && size.elements_in > most_of_one_stage ? 16000 : 0;
}

}  // namespace

double row_in_turn_s(const PreparedOperation& call, const Device& device) {
    if (device.vendor != "nvidia") return 0;
    const std::string_view target = call.operation.target;
    const double row = call.dimensions.reduced;
    if (target == "aten::layer_norm") return seconds_in_turn(4800 + 3.4 * row, device);
    if (target == "aten::rms_norm") return seconds_in_turn(4800 + 1.6 * row, device);
    if (is_one_of(target, {"aten::softmax.int", "aten::_softmax", "aten::log_softmax.int"}))
        return softmax_s(call, device);
    const bool is_reduction = call.family() == Family::reduction;
    return is_reduction ? seconds_in_turn(reduction_cycles_in_turn(call), device) : 0;
}

std::optional<Operation> in_three_dimensions(const Operation& operation) {
    const TensorType* const input = find_tensor(operation, "input");
    if (operation.target != "aten::layer_norm" || input == nullptr || input->sizes.size() <= 3) return std::nullopt;
    const Value* const shape = find_argument(operation, "normalized_shape");
    const auto* const normalized = shape == nullptr ? nullptr : std::get_if<Integers>(shape);
    if (normalized == nullptr || normalized->size() != 1 || element_count(*input) == 0) return std::nullopt;
    const std::int64_t images = input->sizes.front(), row = input->sizes.back();
    Operation rows = operation;
    TensorType& flat = *find_tensor(rows, "input");
    flat.sizes = {images, element_count(*input) / images / row, row};
    flat.strides = {};
    return rows;
}

}  // namespace joulecast
