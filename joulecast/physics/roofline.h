#pragma once

#include <array>

#include "joulecast/device/device.h"
#include "joulecast/graph/operation.h"
#include "joulecast/graph/record.h"

namespace joulecast {

/// The type the arithmetic is done in: that of the first floating tensor, else of the first tensor, else float32.
Dtype compute_dtype(const Operation& operation);

/// The two times no implementation can beat, from the operation's own counts (forward, plus backward when training)
/// and the device's data sheet.
struct Roofline {
    double flop_s = 0;  ///< all arithmetic / peak
    double byte_s = 0;  ///< all bytes, each once / bandwidth
    /// How many times as long a product's arithmetic takes in square tiles of each of `tilings`; 1 for what is none.
    std::array<float, 4> tiled = {1, 1, 1, 1};
};

/// How a device may cut the result of a matrix product: edge of the square tiles, and how many of them a unit computes
/// at once.
struct Tiling {
    int edge = 128;
    int at_once = 1;
};
inline constexpr std::array<Tiling, 4> tilings{{{128, 1}, {128, 2}, {64, 1}, {64, 2}}};

/// batch products of m x n results: overhang of the tiles, and units that are idle in the last wave of them. 1 for
/// sizes that are not known.
double tile_factor(const Tiling& tiling, double batch, double m, double n, int units);

/// `math`: how products of float32 are computed. Throws Error when the data sheet lacks the peak rate or the bandwidth.
Roofline roofline(const Counts& counts, Dtype dtype, const Device& device, Math math = Math::ieee);
Roofline roofline(const Operation& operation, const Device& device, Math math = Math::ieee);

/// The larger of the two (Williams, Waterman, Patterson 2009).
double seconds(const Roofline& roofline);

}  // namespace joulecast
