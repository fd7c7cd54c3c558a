#pragma once

#include "joulecast/device/device.h"

namespace joulecast {

/// Cycles of all units in a second, at the clock that the data sheet's rates hold at.
double cycles_per_s(const Device& device);

/// What cycles of a unit take over all units; 0 where the sheet has no units or no clock.
double seconds_of_cycles(double cycles, const Device& device);
/// The same one after the other, however many units there are.
double seconds_in_turn(double cycles, const Device& device);

/// Multiply-adds of such products that a unit begins in a cycle, by the data sheet's rate and clock. NaN where the
/// sheet lacks one of them.
double matrix_rate(const Device& device, Dtype dtype, Math math);

/// Whether 16-bit products are added in float32 at half the rate that the units have for them, as on NVIDIA's graphics
/// cards since Turing (white papers on TU102, GA102 and AD102): there int8 runs at four times the sheet's rate for
/// 16 bits, elsewhere at twice. No other part of such a card is halved.
bool adds_at_half_rate(const Device& device);

/// Whether two cards carry one design of chip: they differ in how many units are on, in clocks, bandwidth and limits
/// alone. Told by architecture, by what a unit multiplies in a cycle, and by the kind of memory (GA100 of the A100 and
/// GA102 of the A10 are both of Ampere).
bool same_chip(const Device& a, const Device& b);

}  // namespace joulecast
