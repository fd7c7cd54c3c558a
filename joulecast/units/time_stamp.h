#pragma once

#include <string>
#include <string_view>

namespace joulecast {

/// ISO 8601, UTC, with milliseconds: "2026-11-21T11:30:03.125Z". Empty outside of the years 1970 to 9999.
std::string utc_time_stamp(double since_1970_s);

/// The same moment to the full second before it: "2026-11-21T11:30:03Z".
std::string utc_second_stamp(double since_1970_s);

/// The moment of such a stamp, with or without parts of a second; NaN for any other text.
double seconds_since_1970(std::string_view stamp);

/// Seconds since 1970 on the system clock.
double utc_now_s();

}  // namespace joulecast
