// Lines that a worker, or whoever asks one, may have written: nothing but FormatError may come of them, and what is
// understood is written in a form that is understood again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "joulecast/error.h"
#include "joulecast/worker/protocol.h"

namespace {

template <class Parse>
void read_and_write(Parse parse, std::string_view line) {
    try {
        const auto first = joulecast::protocol::to_line(parse(line));
        if (joulecast::protocol::to_line(parse(first)) != first) __builtin_trap();
    } catch (const joulecast::FormatError&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view line(reinterpret_cast<const char*>(data), size);
    read_and_write(joulecast::protocol::parse_request, line);
    read_and_write(joulecast::protocol::parse_response, line);
    return 0;
}
