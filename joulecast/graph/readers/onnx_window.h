#pragma once

#include "joulecast/graph/readers/onnx_call.h"

namespace joulecast::onnx {

/// The attributes that convolution and pooling share, one number for each spatial dimension.
struct Window {
    Sizes kernel;
    Sizes strides;
    Sizes dilations;
    /// Before and after.
    Sizes begins;
    Sizes ends;

    bool is_symmetric() const { return begins == ends; }
    std::size_t rank() const { return kernel.size(); }
};

/// Reads kernel_shape (or takes `kernel`), strides, dilations, pads and auto_pad for input number 0, whose first two
/// dimensions are batch and channels. Refuses lists of another length, and strides or dilations that are not positive.
Window window_of(const Call& call, Sizes kernel = {});

/// The input with the padding of `window` around it, by `value`, where ATen has no padding of two different sides;
/// `window` has none then.
Operand padded(Call& call, Window& window, double value);

}  // namespace joulecast::onnx
