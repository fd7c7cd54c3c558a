#pragma once

#include "workers/pretend/card.h"
#include "workers/pretend/kernel.h"

namespace joulecast::pretend {

// The laws of time. They are none of those in joulecast/physics, on purpose: whoever fits those is tested on others.
// docs/pretend.md tells them in full.
//
//   kernel    t = launch + max(c, m) + r min(c, m)
//   launch    l (1 - a + a x0 / x), x the core's clock, x0 the one the data sheet's rates hold at
//   c         products: waves of tiles. Tiles of 128, 64 or 32 squared, deep products split where units would idle;
//             the way that is fastest. One wave takes tile FLOPs / (a unit's rate x / x0 * depth / (depth + half)).
//             All else: arithmetic / (vector rate x / x0).
//   m         the longer of the last cache's share (tiles read their operands again, bytes per cycle) and the
//             memory's, (bytes that miss + bytes in flight) / min(bandwidth by the memory's clock, units * bytes a
//             cycle * x): a knee.
//   misses    1 - cached; cached = 1 / (1 + (bytes touched since / cache) ^ steepness)
//   network   host and device are two timelines over the calls in order; the host of a captured graph issues kernels.

/// Under what conditions a card computes.
struct Setting {
    double sm_clock_mhz = 0;
    double memory_clock_mhz = 0;
    int threads = 0;  ///< of a CPU
    Math math = Math::ieee;
    Host host = Host::cpp;
};

/// What some work takes; energies are those of switching at the lowest voltage, and of the memory at any.
struct Effort {
    double busy_s = 0;  ///< kernels run
    double host_s = 0;  ///< the host issues
    double span_s = 0;  ///< from the first call's issue to the end of the last kernel
    double switched_j = 0;
    double memory_j = 0;
    double kernels = 0;
};

/// Share of bytes that are still in the last cache when so many others were touched since.
double cached_share(const Card& card, double bytes_since);

/// One kernel: busy_s and both energies.
Effort effort(const Card& card, const Kernel& kernel, const Setting& setting);

/// Host time to issue one call.
double issue_s(const Card& card, const Step& step, const Setting& setting);

/// The calls in order, host and device side by side, or on a CPU one after the other. At least 0.2 us.
Effort effort(const Card& card, const Work& work, const Setting& setting);

}  // namespace joulecast::pretend
