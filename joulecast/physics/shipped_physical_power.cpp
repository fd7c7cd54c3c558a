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
    Shipped{"", {0.2833, 0.3761, 0.3412, 0.2961, 0.3891, 0.3083, 0.3164, 9, 6630}},
    Shipped{"a10", {0.3012, 0.3846, 0.3741, 0.2592, 0.3620, 0.3609, 0.3356, 8, 6573}},
    Shipped{"a100-40g-pcie", {0.2970, 0.3603, 0.3219, 0.2957, 0.3761, 0.2949, 0.3329, 8, 6580}},
    Shipped{"b200", {0.2847, 0.4052, 0.3726, 0.2639, 0.3772, 0.3135, 0.3332, 8, 780}},
    Shipped{"gtx980", {0.2617, 0.3958, 0.3567, 0.3116, 0.3777, 0.2865, 0.2919, 8, 6443}},
    Shipped{"h100-sxm", {0.2062, 0.3652, 0.3629, 0.3946, 0.5073, 0.2043, 0.3015, 8, 6336}},
    Shipped{"h200", {0.2062, 0.3652, 0.3629, 0.3946, 0.5073, 0.2043, 0.3015, 8, 6336}},
    Shipped{"k40c", {0.3114, 0.3246, 0.3175, 0.2996, 0.3903, 0.3283, 0.3234, 8, 6530}},
    Shipped{"p100", {0.2919, 0.3678, 0.3390, 0.3638, 0.3813, 0.2378, 0.3246, 8, 6620}},
    Shipped{"titanx-maxwell", {0.2617, 0.3958, 0.3567, 0.3116, 0.3777, 0.2865, 0.2919, 8, 6443}},
    Shipped{"titanxp", {0.2797, 0.4122, 0.3330, 0.2725, 0.3981, 0.3207, 0.3307, 8, 6563}},
    Shipped{"v100-16g-pcie", {0.2856, 0.3476, 0.3318, 0.2657, 0.3900, 0.3582, 0.3325, 8, 6615}},
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
