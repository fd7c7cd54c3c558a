#include <array>

#include "joulecast/physics/physical_power.h"

namespace joulecast {
namespace {

struct Shipped {
    std::string_view without;  ///< the device without whose chip's rows it was fitted; empty: none
    PhysicalPower model;
};

// What tools/fit_physical_power prints (docs/energy.md names tables, licences and commands). To renew: run it on the
// tables and paste its lines.
constexpr std::array shipped{
    // without, still, flop, byte, matrix, other, tensor, half width, devices, rows
    Shipped{"", {0.2811, 0.3781, 0.3460, 0.2963, 0.3919, 0.2981, 0.3153, 9, 6673}},
    Shipped{"a10", {0.2971, 0.3841, 0.3758, 0.2647, 0.3678, 0.3426, 0.3359, 8, 6615}},
    Shipped{"a100-40g-pcie", {0.2955, 0.3629, 0.3241, 0.2949, 0.3782, 0.2873, 0.3322, 8, 6624}},
    Shipped{"b200", {0.2830, 0.4061, 0.3810, 0.2637, 0.3791, 0.2968, 0.3298, 8, 823}},
    Shipped{"gtx980", {0.2596, 0.3978, 0.3621, 0.3116, 0.3803, 0.2756, 0.2908, 8, 6486}},
    Shipped{"h100-sxm", {0.2062, 0.3651, 0.3636, 0.3944, 0.5072, 0.2044, 0.3014, 8, 6336}},
    Shipped{"h200", {0.2062, 0.3651, 0.3636, 0.3944, 0.5072, 0.2044, 0.3014, 8, 6336}},
    Shipped{"k40c", {0.3096, 0.3277, 0.3225, 0.2985, 0.3925, 0.3196, 0.3223, 8, 6573}},
    Shipped{"p100", {0.2896, 0.3703, 0.3433, 0.3630, 0.3842, 0.2290, 0.3238, 8, 6663}},
    Shipped{"titanx-maxwell", {0.2596, 0.3978, 0.3621, 0.3116, 0.3803, 0.2756, 0.2908, 8, 6486}},
    Shipped{"titanxp", {0.2774, 0.4148, 0.3382, 0.2723, 0.4014, 0.3101, 0.3292, 8, 6606}},
    Shipped{"v100-16g-pcie", {0.2836, 0.3503, 0.3370, 0.2659, 0.3925, 0.3475, 0.3323, 8, 6658}},
};

}  // namespace

PhysicalPower shipped_physical_power() {
    return shipped.front().model;
}

PhysicalPower shipped_physical_power_without(std::string_view device) {
    for (const Shipped& entry : shipped) {
        if (entry.without == device) return entry.model;
    }
    return shipped_physical_power();
}

}  // namespace joulecast
