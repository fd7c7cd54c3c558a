// Logs of nvidia-smi, which a user may bring from anywhere: nothing but FormatError may come of them.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "joulecast/error.h"
#include "joulecast/meter/smi_log.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::istringstream text(std::string(reinterpret_cast<const char*>(data), size));
    try {
        for (const auto& sample : joulecast::read_smi_log(text, "fuzz").samples) {
            if (!std::isfinite(sample.time_s) || std::isinf(sample.power_w)) __builtin_trap();
        }
    } catch (const joulecast::FormatError&) {
    }
    return 0;
}
