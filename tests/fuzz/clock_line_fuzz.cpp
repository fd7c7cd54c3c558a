// What anybody in the group may send to joulecast-clockd, which runs as root, and what may lie in its state file:
// nothing but FormatError may come of it, and what is understood is written as it was read.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "joulecast/error.h"
#include "joulecast/meter/clock_lease.h"
#include "joulecast/meter/clock_line.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace joulecast;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        // A request has one form only: no second spelling may slip past whoever reads the journal.
        if (to_line(parse_guard_request(text)) != text) __builtin_trap();
    } catch (const FormatError&) {
    }
    try {
        const std::string reason = parse_answer(text);
        if (answer_line(reason).find('\n') != std::string::npos) __builtin_trap();
    } catch (const FormatError&) {
    }
    try {
        const ClockRecord record = parse_clock_record(text);
        if (parse_clock_record(to_text(record)) != record) __builtin_trap();
    } catch (const FormatError&) {
    }
    return 0;
}
