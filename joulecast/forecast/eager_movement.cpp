#include "joulecast/forecast/eager_movement.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "joulecast/forecast/eager_kernels.h"
#include "joulecast/graph/record.h"
#include "joulecast/physics/stacked_memory.h"

namespace joulecast {
namespace {

// Cycles of a unit for each result, place of a window, element or row, as eager_kernels.h lists them.
constexpr double of_pooled = 9 / 4.2, of_pooled_place = 1 / 4.2, of_max_gradient = 3.1;
constexpr double of_averaged = 2.9, of_averaged_place = 0.045, of_average_gradient = 4.7;
constexpr double of_adapted = 13;
constexpr double of_row = 47, of_row_element = 0.15, of_column_element = 0.265;
constexpr double of_joined_element = 1.1;
constexpr double across = 1.75;
constexpr double of_rolled_element = 1.15, of_padded_element = 0.88;
constexpr double of_widened_element = 0.72, of_narrowed_element = 0.37;
constexpr double of_spread_element = 0.6;

constexpr double of_enlarged = 0.62;
// Of the clock, for each plane that a thread takes: it waits for the places around its own, and a unit's warps take
// turns.
constexpr double of_waiting = 460, of_interpolating_warp = 10.5;
constexpr double threads_of_interpolation = 1024, threads_of_warp = 32;

/// Of the planes one after the other, by a thread for each place of the result. What enlarges to the nearest place has
/// a thread for each result.
bool is_interpolation(std::string_view target) {
    return target.starts_with("aten::upsample_") && !target.starts_with("aten::upsample_nearest");
}

bool is_training(const Operation& operation) {
    return mode(operation) == Mode::training;
}

/// Rows that lie together are summed by groups of threads.
double row_cycles(double rows, double elements_of_row) {
    return rows * std::max(of_row, of_row_element * elements_of_row);
}

double max_pool_cycles(const Operation& operation, const Dimensions& size) {
    const bool shows_indices = operation.target == "aten::max_pool2d_with_indices";
    const double results = shows_indices ? size.elements_out / 2 : size.elements_out;
    const double forward = results * (of_pooled + of_pooled_place * size.kernel_h * size.kernel_w);
    return is_training(operation) ? forward + size.elements_in * of_max_gradient : forward;
}

double average_pool_cycles(const Operation& operation, const Dimensions& size) {
    const double forward = size.elements_out * (of_averaged + of_averaged_place * size.kernel_h * size.kernel_w);
    return is_training(operation) ? forward + size.elements_in * of_average_gradient : forward;
}

/// What is read lies across what is written: neighbours there are far from each other here.
bool lies_across(const TensorType& tensor) {
    constexpr std::int64_t short_run = 8;
    if (tensor.sizes.empty() || is_contiguous(tensor)) return false;
    return tensor.sizes.back() > 1 && tensor.strides.back() >= short_run;
}

double joining_cycles(const Operation& operation, const Dimensions& size) {
    bool is_plain = true;
    double of_element = of_joined_element;
    for (const TensorType* part : tensors(operation)) {
        if (element_count(*part) <= 1 || is_contiguous(*part)) continue;
        is_plain = false;
        if (lies_across(*part)) of_element = across;
    }
    return is_plain ? 0 : of_element * size.elements_out;
}

double rolling_cycles(const Operation& operation, const Dimensions& size) {
    const Value* const shifts = find_argument(operation, "shifts");
    const auto* const list = shifts ? std::get_if<Integers>(shifts) : nullptr;
    const double dimensions = list ? static_cast<double>(list->size()) : 1;  // each is a pass of its own
    return of_rolled_element * dimensions * size.elements_out;
}

/// A cast to more bytes loads one element at a time; in training one of the two passes is such a cast.
double casting_cycles(const Operation& operation, const Dimensions& size) {
    const TensorType& from = *tensors(operation).front();
    const double from_bytes = static_cast<double>(element_bytes(from.dtype));
    const double to_bytes = size.output_bytes / std::max(1.0, size.elements_out);
    if (to_bytes == from_bytes) return 0;
    const bool widens = to_bytes > from_bytes;
    if (is_training(operation)) return (of_widened_element + of_narrowed_element) * size.elements_out;
    return widens ? of_widened_element * size.elements_out : 0;
}

bool is_of_last_dimension(const Operation& operation) {
    const TensorType& input = *tensors(operation).front();
    const auto last = static_cast<std::int64_t>(input.sizes.size()) - 1;
    const auto is_last = [&](std::int64_t dimension) { return dimension == -1 || dimension == last; };
    const Value* const given = find_argument(operation, "dim");
    if (!given) return true;  // all of them
    if (const auto* const one = std::get_if<std::int64_t>(given)) return is_last(*one);
    const auto* const list = std::get_if<Integers>(given);
    return !list || list->empty() || std::ranges::any_of(*list, is_last);
}

}  // namespace

double cycles_of_ordered_element(const TensorType& from) {
    return lies_across(from) ? across : cycles_of_element_alone;
}

bool is_mean_of_planes(const Operation& operation, const Dimensions& size) {
    return operation.target == "aten::adaptive_avg_pool2d" && size.oh == 1 && size.ow == 1;
}

double pooling_cycles(const Operation& operation, const Dimensions& size) {
    const std::string& target = operation.target;
    if (target == "aten::max_pool2d" || target == "aten::max_pool2d_with_indices")
        return max_pool_cycles(operation, size);
    if (target == "aten::avg_pool2d") return average_pool_cycles(operation, size);
    if (is_channels_last(*tensors(operation).front())) return 0;
    if (target.starts_with("aten::upsample_")) return is_interpolation(target) ? 0 : of_enlarged * size.elements_out;
    if (target != "aten::adaptive_avg_pool2d") return 0;
    if (is_mean_of_planes(operation, size)) {
        const double forward = row_cycles(size.elements_out, size.elements_in / size.elements_out);
        return is_training(operation) ? forward + of_spread_element * size.elements_in : forward;
    }
    return of_adapted * size.elements_out;
}

std::optional<Interpolation> interpolation(const Operation& operation, const Dimensions& size) {
    if (!is_interpolation(operation.target)) return std::nullopt;
    const TensorType& images = *tensors(operation).front();
    constexpr std::size_t batch_and_channels = 2;
    if (images.sizes.size() <= batch_and_channels || is_channels_last(images)) return std::nullopt;
    const double planes = static_cast<double>(images.sizes[0]) * static_cast<double>(images.sizes[1]);
    if (!(planes > 0)) return std::nullopt;
    const double places = size.elements_out / planes;
    return Interpolation{planes, places, std::ceil(places / threads_of_interpolation)};
}

double interpolation_cycles_in_turn(const Operation& operation, const Dimensions& size, const Device& device) {
    const auto found = interpolation(operation, size);
    if (!found || !(device.units > 0)) return 0;
    const double blocks_of_unit = std::ceil(found->blocks / device.units);
    const double blocks_at_once = has_stacked_memory(device) ? 2 : 1;  // 2,048 threads, elsewhere 1,536
    const double warps =
        blocks_of_unit * std::ceil(std::min(found->places, threads_of_interpolation) / threads_of_warp);
    return found->planes * (of_waiting * std::ceil(blocks_of_unit / blocks_at_once) + of_interpolating_warp * warps);
}

double copy_cycles(const Operation& operation, const Dimensions& size) {
    const std::string& target = operation.target;
    if (size.forward.bytes_written == 0 || tensors(operation).empty()) return 0;
    const TensorType& from = *tensors(operation).front();
    if (target == "aten::cat") return joining_cycles(operation, size);
    if (target == "aten::roll") return rolling_cycles(operation, size);
    if (target == "aten::pad" || target == "aten::constant_pad_nd") return of_padded_element * size.elements_out;
    const bool is_ordering = target == "aten::contiguous" || target == "aten::reshape" || target == "aten::flatten";
    const bool is_cast = target.starts_with("aten::to.") || target == "aten::_to_copy";
    const Value* const format = find_argument(operation, "memory_format");
    const auto* const asked = format ? std::get_if<std::string>(format) : nullptr;
    const bool is_ordered = target == "aten::clone" && asked && *asked == "contiguous_format" && !is_contiguous(from);
    const bool is_reordered = is_ordering || is_ordered || ((is_cast || target == "aten::clone") && !is_dense(from));
    const double ordering = is_reordered ? cycles_of_ordered_element(from) * size.elements_out : 0;
    return is_cast ? std::max(ordering, casting_cycles(operation, size)) : ordering;
}

double reduction_cycles(const Operation& operation, const Dimensions& size) {
    if (tensors(operation).empty() || !is_contiguous(*tensors(operation).front())) return 0;
    if (operation.target == "aten::cumsum" || !(size.elements_out > 1)) return 0;
    return is_of_last_dimension(operation) ? row_cycles(size.elements_out, size.elements_in / size.elements_out)
                                           : of_column_element * size.elements_in;
}

}  // namespace joulecast
