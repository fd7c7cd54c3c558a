#pragma once

#include <string>
#include <string_view>

#include "joulecast/meter/clock_control.h"

namespace joulecast {

/// What a client asks joulecast-clockd, one line of text each:
///
///     hold GPU-... 1410 - 120000    graphics MHz, memory MHz, power limit mW; "-": as it was
///     reset GPU-...                 free both clocks and set the default limit, whoever changed them
///
/// and one line comes back: "ok", or "no" and a sentence. The guard greets with "joulecast-clockd 1". Nothing else can
/// be asked; the end of the connection gives all back.
struct GuardRequest {
    enum class Kind { hold, reset };
    Kind kind = Kind::hold;
    std::string uuid;  ///< the card
    ClockRequest clocks;

    friend bool operator==(const GuardRequest&, const GuardRequest&) = default;
};

inline constexpr std::string_view guard_greeting = "joulecast-clockd 1";
inline constexpr std::size_t most_guard_line_bytes = 256;  ///< of a request, without its newline
inline constexpr std::size_t most_guard_answer_bytes = 1024;

/// Without the newline.
std::string to_line(const GuardRequest& request);
/// Throws FormatError for anything that to_line() would not write.
GuardRequest parse_guard_request(std::string_view line);

/// "ok" for an empty reason, else "no REASON", cut to one line of most_guard_answer_bytes.
std::string answer_line(const std::string& reason);
/// The reason, empty for "ok". Throws FormatError.
std::string parse_answer(std::string_view line);

}  // namespace joulecast
