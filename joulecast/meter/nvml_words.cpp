// What NVML's numbers mean, in words.
#include <array>
#include <charconv>
#include <utility>

#include "joulecast/meter/nvml.h"

namespace joulecast {

std::string describe(NvmlCode code) {
    switch (code) {
        case NvmlCode::success:
            return "success";
        case NvmlCode::no_permission:
            return "no permission";
        case NvmlCode::driver_not_loaded:
            return "the NVIDIA driver is not loaded";
        case NvmlCode::library_version_mismatch:
            return "the driver was updated and its library no longer fits (reboot, or load the driver again)";
        case NvmlCode::gpu_is_lost:
            return "the GPU fell off the bus (see the kernel log; it takes a reboot)";
        case NvmlCode::reset_required:
            return "the GPU has to be reset (nvidia-smi --gpu-reset, or a reboot)";
        case NvmlCode::timeout:
            return "the driver did not answer in time";
        case NvmlCode::in_use:
            return "in use by another program";
        case NvmlCode::invalid_argument:
            return "refused as an invalid value";
        case NvmlCode::not_supported:
        case NvmlCode::function_not_found:
            return "not supported by this card or driver (code " + std::to_string(static_cast<int>(code)) + ")";
        default:
            return "NVML code " + std::to_string(static_cast<int>(code));
    }
}

bool is_lost(NvmlCode code) {
    return code == NvmlCode::gpu_is_lost || code == NvmlCode::reset_required || code == NvmlCode::uninitialized;
}

std::string describe_throttle_reasons(std::uint64_t bits) {
    static constexpr std::array<std::pair<std::uint64_t, const char*>, 9> names = {{
        {throttle::idle, "idle"},
        {throttle::clocks_setting, "clocks setting"},
        {throttle::power_cap, "power cap"},
        {throttle::hardware_slowdown, "hardware slowdown"},
        {0x10, "sync boost"},
        {throttle::software_thermal, "software thermal"},
        {throttle::hardware_thermal, "hardware thermal"},
        {throttle::power_brake, "power brake"},
        {0x100, "display clock setting"},
    }};
    std::string text;
    for (const auto& [bit, word] : names) {
        if ((bits & bit) == 0) continue;
        text += (text.empty() ? "" : ", ") + std::string(word);
        bits &= ~bit;
    }
    if (bits != 0) {
        std::array<char, 16> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), bits, 16).ptr;
        text += (text.empty() ? "0x" : ", 0x") + std::string(digits.data(), end);
    }
    return text;
}

}  // namespace joulecast
