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
    Shipped{"", {0.2843, 0.3767, 0.3429, 0.2939, 0.3876, 0.3110, 0.3157, 9, 6631}},
    Shipped{"a10", {0.3013, 0.3846, 0.3741, 0.2591, 0.3620, 0.3610, 0.3355, 8, 6573}},
    Shipped{"a100-40g-pcie", {0.2978, 0.3608, 0.3237, 0.2937, 0.3747, 0.2974, 0.3324, 8, 6581}},
    Shipped{"b200", {0.2856, 0.4059, 0.3739, 0.2617, 0.3759, 0.3170, 0.3324, 8, 781}},
    Shipped{"gtx980", {0.2627, 0.3966, 0.3585, 0.3091, 0.3762, 0.2893, 0.2913, 8, 6444}},
    Shipped{"h100-sxm", {0.2086, 0.3659, 0.3644, 0.3905, 0.5036, 0.2090, 0.3016, 8, 6337}},
    Shipped{"h200", {0.2086, 0.3659, 0.3644, 0.3905, 0.5036, 0.2090, 0.3016, 8, 6337}},
    Shipped{"k40c", {0.3128, 0.3248, 0.3195, 0.2972, 0.3886, 0.3313, 0.3223, 8, 6531}},
    Shipped{"p100", {0.2929, 0.3682, 0.3406, 0.3616, 0.3799, 0.2406, 0.3239, 8, 6621}},
    Shipped{"titanx-maxwell", {0.2627, 0.3966, 0.3585, 0.3091, 0.3762, 0.2893, 0.2913, 8, 6444}},
    Shipped{"titanxp", {0.2807, 0.4130, 0.3351, 0.2701, 0.3964, 0.3235, 0.3297, 8, 6564}},
    Shipped{"v100-16g-pcie", {0.2867, 0.3482, 0.3336, 0.2635, 0.3884, 0.3610, 0.3318, 8, 6616}},
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
