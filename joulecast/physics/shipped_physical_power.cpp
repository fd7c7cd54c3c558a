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
    Shipped{"", {0.2824, 0.3797, 0.3483, 0.2928, 0.3898, 0.3024, 0.3151, 9, 6675}},
    Shipped{"a10", {0.2973, 0.3849, 0.3755, 0.2638, 0.3675, 0.3443, 0.3363, 8, 6616}},
    Shipped{"a100-40g-pcie", {0.2968, 0.3645, 0.3270, 0.2914, 0.3759, 0.2906, 0.3320, 8, 6626}},
    Shipped{"b200", {0.2841, 0.4078, 0.3831, 0.2603, 0.3772, 0.3024, 0.3298, 8, 825}},
    Shipped{"gtx980", {0.2610, 0.3999, 0.3645, 0.3076, 0.3781, 0.2804, 0.2908, 8, 6488}},
    Shipped{"h100-sxm", {0.2084, 0.3662, 0.3664, 0.3903, 0.5037, 0.2104, 0.3014, 8, 6337}},
    Shipped{"h200", {0.2084, 0.3662, 0.3664, 0.3903, 0.5037, 0.2104, 0.3014, 8, 6337}},
    Shipped{"k40c", {0.3113, 0.3290, 0.3252, 0.2947, 0.3901, 0.3241, 0.3216, 8, 6575}},
    Shipped{"p100", {0.2910, 0.3718, 0.3457, 0.3595, 0.3819, 0.2334, 0.3236, 8, 6665}},
    Shipped{"titanx-maxwell", {0.2610, 0.3999, 0.3645, 0.3076, 0.3781, 0.2804, 0.2908, 8, 6488}},
    Shipped{"titanxp", {0.2787, 0.4169, 0.3409, 0.2685, 0.3991, 0.3145, 0.3289, 8, 6608}},
    Shipped{"v100-16g-pcie", {0.2849, 0.3520, 0.3393, 0.2623, 0.3903, 0.3519, 0.3321, 8, 6660}},
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
