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
    Shipped{"", {0.2753, 0.3778, 0.3431, 0.3040, 0.4018, 0.2919, 0.3114, 9, 6673}},
    Shipped{"a10", {0.2896, 0.3831, 0.3687, 0.2761, 0.3802, 0.3312, 0.3326, 8, 6615}},
    Shipped{"a100-40g-pcie", {0.2898, 0.3629, 0.3220, 0.3021, 0.3877, 0.2819, 0.3286, 8, 6624}},
    Shipped{"b200", {0.2772, 0.4051, 0.3774, 0.2723, 0.3891, 0.2917, 0.3252, 8, 823}},
    Shipped{"gtx980", {0.2542, 0.3975, 0.3590, 0.3189, 0.3899, 0.2700, 0.2859, 8, 6486}},
    Shipped{"h100-sxm", {0.2057, 0.3643, 0.3647, 0.3955, 0.5079, 0.2040, 0.3012, 8, 6336}},
    Shipped{"h200", {0.2057, 0.3643, 0.3647, 0.3955, 0.5079, 0.2040, 0.3012, 8, 6336}},
    Shipped{"k40c", {0.3035, 0.3276, 0.3193, 0.3065, 0.4026, 0.3133, 0.3181, 8, 6573}},
    Shipped{"p100", {0.2838, 0.3704, 0.3405, 0.3693, 0.3940, 0.2242, 0.3199, 8, 6663}},
    Shipped{"titanx-maxwell", {0.2542, 0.3975, 0.3590, 0.3189, 0.3899, 0.2700, 0.2859, 8, 6486}},
    Shipped{"titanxp", {0.2712, 0.4155, 0.3326, 0.2800, 0.4142, 0.3045, 0.3233, 8, 6606}},
    Shipped{"v100-16g-pcie", {0.2777, 0.3503, 0.3341, 0.2740, 0.4024, 0.3409, 0.3273, 8, 6658}},
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
