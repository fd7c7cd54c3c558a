#include "joulecast/meter/nvml_state.h"

#include <utility>

namespace joulecast {

NvmlStateProbe::NvmlStateProbe(NvmlGpu gpu) : gpu_(std::move(gpu)) {}

DeviceState NvmlStateProbe::read() {
    DeviceState state;
    state.sm_clock_mhz = gpu_.clock_mhz(NvmlClock::sm).value;
    state.memory_clock_mhz = gpu_.clock_mhz(NvmlClock::memory).value;
    state.power_limit_w = gpu_.power_limit_w().value;
    state.temperature_c = gpu_.temperature_c().value;
    const NvmlReading performance = gpu_.performance_state();
    if (performance.known()) state.performance_state = "P" + std::to_string(static_cast<int>(performance.value));
    state.throttle_reasons = gpu_.throttle_reasons().value_or(0);
    state.power_capped_s = gpu_.field(NvmlField::power_capped_s).value;
    state.thermally_limited_s = gpu_.field(NvmlField::thermally_limited_s).value;
    return state;
}

}  // namespace joulecast
