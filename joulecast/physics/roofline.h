#pragma once

#include "joulecast/device/device.h"
#include "joulecast/graph/operation.h"
#include "joulecast/graph/record.h"
#include "joulecast/physics/tiles.h"

namespace joulecast {

/// The type the arithmetic is done in: that of the first floating tensor, else of the first tensor, else float32.
Dtype compute_dtype(const Operation& operation);

/// The two times no implementation can beat, from the operation's own counts (forward, plus backward when training)
/// and the device's data sheet.
struct Roofline {
    double flop_s = 0;       ///< all arithmetic / peak
    double byte_s = 0;       ///< all bytes, each once / bandwidth
    Products products = {};  ///< that the arithmetic is for; none unless a law is to know their tiles
};

/// `math`: how products of float32 are computed. Throws Error when the data sheet lacks the peak rate or the bandwidth.
Roofline roofline(const Counts& counts, Dtype dtype, const Device& device, Math math = Math::ieee);
Roofline roofline(const Operation& operation, const Device& device, Math math = Math::ieee);

/// What a setting means for that operation: ieee or tf32.
Math math_of(const Operation& operation, Math setting);

/// The larger of the two (Williams, Waterman, Patterson 2009).
double seconds(const Roofline& roofline);

}  // namespace joulecast
