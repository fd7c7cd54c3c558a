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
    Shipped{"", {0.2748, 0.4157, 0.3520, 0.2710, 0.3948, 0.2632, 0.3119, 9, 6630}},
    Shipped{"a10", {0.2779, 0.4187, 0.3612, 0.2628, 0.3894, 0.2725, 0.3353, 8, 6573}},
    Shipped{"a100-40g-pcie", {0.2996, 0.3945, 0.3361, 0.2580, 0.3687, 0.2444, 0.3217, 8, 6580}},
    Shipped{"b200", {0.2857, 0.4174, 0.3775, 0.2514, 0.3743, 0.2973, 0.3325, 8, 780}},
    Shipped{"gtx980", {0.2532, 0.4414, 0.3622, 0.2837, 0.3832, 0.2562, 0.2884, 8, 6443}},
    Shipped{"h100-sxm", {0.2035, 0.3786, 0.3502, 0.3912, 0.5114, 0.2089, 0.3069, 8, 6336}},
    Shipped{"h200", {0.2035, 0.3786, 0.3502, 0.3912, 0.5114, 0.2089, 0.3069, 8, 6336}},
    Shipped{"k40c", {0.2974, 0.3775, 0.3368, 0.2699, 0.3976, 0.2671, 0.3195, 8, 6530}},
    Shipped{"p100", {0.2803, 0.3982, 0.3514, 0.3489, 0.3908, 0.1889, 0.3252, 8, 6620}},
    Shipped{"titanx-maxwell", {0.2532, 0.4414, 0.3622, 0.2837, 0.3832, 0.2562, 0.2884, 8, 6443}},
    Shipped{"titanxp", {0.2708, 0.4787, 0.3415, 0.2247, 0.4036, 0.2904, 0.3188, 8, 6563}},
    Shipped{"v100-16g-pcie", {0.2766, 0.3967, 0.3439, 0.2347, 0.3955, 0.3092, 0.3579, 8, 6615}},
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
