#pragma once

#include "joulecast/units/quantity.h"

namespace joulecast {

/// What an operation or a network costs; the same type measured and forecast. On a CPU that computes eagerly the
/// issuing is part of device_time and host_time is zero.
struct Cost {
    Estimate<Seconds> device_time;
    Estimate<Seconds> host_time;
    Estimate<Joules> dynamic_energy;
    Estimate<Bytes> peak_memory;
};

}  // namespace joulecast
