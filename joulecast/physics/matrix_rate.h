#pragma once

#include "joulecast/device/device.h"

namespace joulecast {

/// Cycles of all units in a second, at the clock that the data sheet's rates hold at.
double cycles_per_s(const Device& device);

/// Multiply-adds of such products that a unit begins in a cycle, by the data sheet's rate and clock. NaN where the
/// sheet lacks one of them.
double matrix_rate(const Device& device, Dtype dtype, Math math);

/// Whether 16-bit products are added in float32 at half the rate that the units have for them, as on NVIDIA's graphics
/// cards since Turing (white papers on TU102, GA102 and AD102): there int8 runs at four times the sheet's rate for
/// 16 bits, elsewhere at twice. No other part of such a card is halved.
bool adds_at_half_rate(const Device& device);

}  // namespace joulecast
