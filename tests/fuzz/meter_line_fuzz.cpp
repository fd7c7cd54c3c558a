// What a wall meter's command and a recorded trace may hold: nothing but FormatError may come of it, and every reading
// that is understood is a finite number.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "joulecast/error.h"
#include "joulecast/meter/external_command.h"
#include "joulecast/meter/replay.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    try {
        const auto line = joulecast::parse_meter_line(text);
        if (line && !std::isfinite(line->power_w) && !std::isfinite(line->energy_j)) __builtin_trap();
    } catch (const joulecast::FormatError&) {
    }
    try {
        std::istringstream stream(text);
        if (!std::isfinite(joulecast::read_trace(stream, "fuzz").length_s)) __builtin_trap();
    } catch (const joulecast::FormatError&) {
    }
    return 0;
}
