// Lines that whoever asks `predict --stdin` may have written: nothing but FormatError may come of them, and the id that
// is echoed is JSON in one line.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/predict_request.h"
#include "joulecast/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view line(reinterpret_cast<const char*>(data), size);
    const std::string id = joulecast::cli::request_id(line);
    if (id.find('\n') != std::string::npos || !nlohmann::json::accept(id)) __builtin_trap();
    try {
        const auto request = joulecast::cli::parse_predict_request(line);
        if (request.id != id) __builtin_trap();
    } catch (const joulecast::FormatError&) {
    }
    return 0;
}
