#include "joulecast/graph/readers/onnx_window.h"

#include <algorithm>

namespace joulecast::onnx {

namespace {

/// So that products of two, and of one with a spatial size, fit into 64 bits.
constexpr std::int64_t largest_number = std::int64_t{1} << 30;
constexpr std::int64_t largest_size = std::int64_t{1} << 31;

void check_length(const Call& call, const Sizes& list, std::size_t length, const char* name) {
    if (list.size() != length)
        call.refuse(std::string(name) + " has " + std::to_string(list.size()) + " numbers where the kernel has " +
                    std::to_string(length));
    for (const std::int64_t number : list)
        if (number < -largest_number || number > largest_number)
            call.refuse(std::string(name) + " has a number beyond 2^30");
}

/// SAME: as many outputs as strides fit into the input, the odd row of padding at the end (UPPER) or the start.
void pad_to_same(const Call& call, Window& window, bool upper) {
    for (std::size_t i = 0; i < window.rank(); ++i) {
        const std::int64_t size = call.type(0).sizes[i + 2];
        const std::int64_t outputs = (size + window.strides[i] - 1) / window.strides[i];
        const std::int64_t span = (window.kernel[i] - 1) * window.dilations[i] + 1;
        const std::int64_t total = std::max<std::int64_t>(0, (outputs - 1) * window.strides[i] + span - size);
        window.begins[i] = upper ? total / 2 : total - total / 2;
        window.ends[i] = total - window.begins[i];
    }
}

}  // namespace

Window window_of(const Call& call, Sizes kernel) {
    Window window;
    window.kernel = call.list("kernel_shape", std::move(kernel));
    const std::size_t rank = window.kernel.size();
    if (call.type(0).sizes.size() != rank + 2 || rank == 0 || rank > 3)
        call.refuse("its input has " + std::to_string(call.type(0).sizes.size()) + " dimensions, its kernel " +
                    std::to_string(rank));
    window.strides = call.list("strides", Sizes(rank, 1));
    window.dilations = call.list("dilations", Sizes(rank, 1));
    const Sizes pads = call.list("pads", Sizes(2 * rank, 0));
    check_length(call, window.kernel, rank, "kernel_shape");
    check_length(call, window.strides, rank, "strides");
    check_length(call, window.dilations, rank, "dilations");
    check_length(call, pads, 2 * rank, "pads");
    for (std::size_t i = 0; i < rank; ++i)
        if (window.kernel[i] < 1 || window.strides[i] < 1 || window.dilations[i] < 1)
            call.refuse("kernel, strides and dilations must be positive");
    for (std::size_t i = 0; i < rank; ++i)
        if (call.type(0).sizes[i + 2] > largest_size) call.refuse("its input has a spatial size beyond 2^31");
    window.begins.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
    window.ends.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
    const std::string mode = call.text("auto_pad", "NOTSET");
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") pad_to_same(call, window, mode == "SAME_UPPER");
    if (mode == "VALID") window.begins = window.ends = Sizes(rank, 0);
    return window;
}

Operand padded(Call& call, Window& window, double value) {
    Operand input = call.tensor(0);
    if (window.is_symmetric()) return input;
    Sizes pad;
    for (std::size_t i = window.rank(); i-- > 0;) {
        pad.push_back(window.begins[i]);
        pad.push_back(window.ends[i]);
    }
    window.begins = window.ends = Sizes(window.rank(), 0);
    std::vector<Given> given{{"self", input}, {"pad", Value(pad)}};
    if (value != 0.0) given.emplace_back("value", Value(value));
    return call.emit("aten::constant_pad_nd", std::move(given));
}

}  // namespace joulecast::onnx
