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
    Shipped{"", {0.2822, 0.3789, 0.3484, 0.2937, 0.3901, 0.3024, 0.3149, 9, 6674}},
    Shipped{"a10", {0.2971, 0.3843, 0.3755, 0.2646, 0.3679, 0.3443, 0.3360, 8, 6615}},
    Shipped{"a100-40g-pcie", {0.2966, 0.3639, 0.3271, 0.2921, 0.3763, 0.2906, 0.3318, 8, 6625}},
    Shipped{"b200", {0.2839, 0.4070, 0.3829, 0.2613, 0.3776, 0.3028, 0.3296, 8, 824}},
    Shipped{"gtx980", {0.2608, 0.3990, 0.3646, 0.3086, 0.3785, 0.2803, 0.2905, 8, 6487}},
    Shipped{"h100-sxm", {0.2084, 0.3660, 0.3664, 0.3903, 0.5036, 0.2106, 0.3014, 8, 6337}},
    Shipped{"h200", {0.2084, 0.3660, 0.3664, 0.3903, 0.5036, 0.2106, 0.3014, 8, 6337}},
    Shipped{"k40c", {0.3111, 0.3281, 0.3253, 0.2956, 0.3905, 0.3240, 0.3213, 8, 6574}},
    Shipped{"p100", {0.2908, 0.3710, 0.3458, 0.3604, 0.3823, 0.2333, 0.3233, 8, 6664}},
    Shipped{"titanx-maxwell", {0.2608, 0.3990, 0.3646, 0.3086, 0.3785, 0.2803, 0.2905, 8, 6487}},
    Shipped{"titanxp", {0.2785, 0.4159, 0.3409, 0.2695, 0.3995, 0.3144, 0.3285, 8, 6607}},
    Shipped{"v100-16g-pcie", {0.2847, 0.3512, 0.3394, 0.2632, 0.3907, 0.3519, 0.3318, 8, 6659}},
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
