#include "joulecast/physics/issue_pace.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "joulecast/error.h"

namespace joulecast {
namespace {

struct Architecture {
    std::string_view name;
    double work_per_cycle;
};

/// Each vendor's own word for a generation over the one before, in integer work per cycle (all as told when it came
/// out): AMD Zen 2 +15 %, Zen 3 +19 %, Zen 4 +13 %, Zen 5 +17 %; Intel Skylake +10 % over Broadwell, Sunny Cove (Ice
/// Lake) +18 %, Golden Cove (Sapphire Rapids) +19 %, Redwood Cove (Granite Rapids) about +5 %; Arm Neoverse V1 +50 %
/// over N1, V2 +13 %; Cortex-A77 +20 % over the A76, which N1 is of a kind with, A78 +7 %. What ties the three
/// together: Zen 2 and Neoverse N1 do about what Skylake does.
constexpr std::array architectures{
    Architecture{"haswell", 0.87},        Architecture{"broadwell", 0.91},   Architecture{"skylake", 1.00},
    Architecture{"ice-lake", 1.18},       Architecture{"golden-cove", 1.40}, Architecture{"sapphire-rapids", 1.40},
    Architecture{"granite-rapids", 1.47}, Architecture{"zen", 0.88},         Architecture{"zen2", 1.01},
    Architecture{"zen3", 1.20},           Architecture{"zen4", 1.36},        Architecture{"zen5", 1.59},
    Architecture{"neoverse-n1", 1.00},    Architecture{"neoverse-v1", 1.50}, Architecture{"neoverse-v2", 1.70},
    Architecture{"cortex-a78", 1.28},
};

/// A server core of the years in which the published tables were measured: Ice Lake or Zen 3 at 3.5 GHz.
constexpr double usual_work_per_cycle = 1.19;
constexpr double usual_clock_mhz = 3500;
/// Of log(time) by one benchmark of a single core around cycles times work per cycle.
constexpr double sigma_known = 0.2;
constexpr double sigma_guessed = 0.4;

double clock_of(const Device& cpu) {
    for (const double clock : {cpu.boost_clock_mhz, cpu.max_clock_mhz, cpu.base_clock_mhz}) {
        if (clock > 0) return clock;
    }
    throw Error("cannot estimate how fast " + cpu.id + " issues calls: its data sheet has no clock (boost_clock_mhz).");
}

/// Work per microsecond, and whether the architecture is known.
struct Rate {
    double value = usual_work_per_cycle * usual_clock_mhz;
    bool is_known = false;
};

Rate rate_of(const Device& cpu) {
    const double per_cycle = work_per_cycle(cpu.architecture);
    const bool is_known = !std::isnan(per_cycle);
    return {clock_of(cpu) * (is_known ? per_cycle : usual_work_per_cycle), is_known};
}

}  // namespace

double work_per_cycle(std::string_view architecture) {
    const auto* found = std::ranges::find(architectures, architecture, &Architecture::name);
    return found == architectures.end() ? Device::unknown : found->work_per_cycle;
}

IssuePace issue_pace(const Device& cpu, const Device* measured_from) {
    if (measured_from != nullptr && measured_from->id == cpu.id) return {};
    const Rate asked = rate_of(cpu);
    const Rate before = measured_from == nullptr ? Rate{} : rate_of(*measured_from);
    return {before.value / asked.value, asked.is_known && before.is_known ? sigma_known : sigma_guessed};
}

}  // namespace joulecast
