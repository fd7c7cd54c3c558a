#include "joulecast/units/time_stamp.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>

namespace joulecast {

namespace {

constexpr double year_10000_s = 253'402'300'800.0;

/// Takes a number and the sign behind it from the front of a text.
template <class Number>
bool take(std::string_view& text, Number& value, char behind) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    const auto length = static_cast<std::size_t>(read.ptr - text.data());
    if (read.ec != std::errc() || length == text.size() || text[length] != behind) return false;
    text.remove_prefix(length + 1);
    return true;
}

}  // namespace

std::string utc_time_stamp(double since_1970_s) {
    if (!(since_1970_s >= 0.0 && since_1970_s < year_10000_s - 1.0)) return "";
    using std::chrono::milliseconds;
    const std::chrono::sys_time<milliseconds> moment{milliseconds(std::llround(since_1970_s * 1000.0))};
    const auto day = std::chrono::floor<std::chrono::days>(moment);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(moment - day);
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                  static_cast<int>(time.seconds().count()), static_cast<int>(time.subseconds().count()));
    return text.data();
}

std::string utc_second_stamp(double since_1970_s) {
    std::string stamp = utc_time_stamp(std::floor(since_1970_s));
    if (!stamp.empty()) stamp.erase(stamp.find('.'), 4);
    return stamp;
}

double seconds_since_1970(std::string_view stamp) {
    // "2026-11-23T05:40:06.123Z"
    int year = 0;
    unsigned month = 0, day = 0, hours = 0, minutes = 0;
    double seconds = 0;
    const bool is_stamp = take(stamp, year, '-') && take(stamp, month, '-') && take(stamp, day, 'T') &&
                          take(stamp, hours, ':') && take(stamp, minutes, ':') && take(stamp, seconds, 'Z');
    if (!is_stamp || !stamp.empty()) return std::numeric_limits<double>::quiet_NaN();
    const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
    const bool fits = date.ok() && hours < 24 && minutes < 60 && seconds >= 0 && seconds < 61;
    if (!fits) return std::numeric_limits<double>::quiet_NaN();
    const auto days = std::chrono::sys_days(date).time_since_epoch();
    return 86400.0 * static_cast<double>(days.count()) + 3600.0 * hours + 60.0 * minutes + seconds;
}

double utc_now_s() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace joulecast
