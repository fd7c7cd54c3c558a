#include "joulecast/meter/clock_line.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "joulecast/error.h"

namespace joulecast {

namespace {

constexpr std::size_t most_uuid_bytes = 96;
constexpr unsigned most_value = 9999999;  // 10 kW in mW, and far above any MHz

FormatError not_understood() {
    return FormatError("the request cannot be understood");
}

std::vector<std::string_view> words(std::string_view line) {
    std::vector<std::string_view> found;
    for (;;) {
        const auto space = line.find(' ');
        found.push_back(line.substr(0, space));
        if (space == std::string_view::npos) return found;
        line.remove_prefix(space + 1);
    }
}

std::string checked_uuid(std::string_view text) {
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    };
    if (text.empty() || text.size() > most_uuid_bytes || !std::all_of(text.begin(), text.end(), fits)) {
        throw not_understood();
    }
    return std::string(text);
}

std::optional<unsigned> parse_value(std::string_view text) {
    if (text == "-") return std::nullopt;
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_whole = error == std::errc() && end == text.data() + text.size();
    if (!is_whole || value == 0 || value > most_value || text.front() == '0') throw not_understood();
    return value;
}

std::string value_text(const std::optional<unsigned>& value) {
    return value ? ' ' + std::to_string(*value) : " -";
}

}  // namespace

std::string to_line(const GuardRequest& request) {
    if (request.kind == GuardRequest::Kind::reset) return "reset " + request.uuid;
    return "hold " + request.uuid + value_text(request.clocks.graphics_mhz) + value_text(request.clocks.memory_mhz) +
           value_text(request.clocks.power_limit_mw);
}

GuardRequest parse_guard_request(std::string_view line) {
    if (line.size() > most_guard_line_bytes) throw not_understood();
    const auto parts = words(line);
    GuardRequest request;
    if (parts.front() == "reset" && parts.size() == 2) {
        request.kind = GuardRequest::Kind::reset;
        request.uuid = checked_uuid(parts[1]);
        return request;
    }
    if (parts.front() != "hold" || parts.size() != 5) throw not_understood();
    request.uuid = checked_uuid(parts[1]);
    request.clocks.graphics_mhz = parse_value(parts[2]);
    request.clocks.memory_mhz = parse_value(parts[3]);
    request.clocks.power_limit_mw = parse_value(parts[4]);
    return request;
}

std::string answer_line(const std::string& reason) {
    if (reason.empty()) return "ok";
    std::string line = "no " + reason.substr(0, most_guard_answer_bytes - 3);
    std::replace_if(line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
    return line;
}

std::string parse_answer(std::string_view line) {
    if (line == "ok") return "";
    if (line.size() <= 3 || line.size() > most_guard_answer_bytes || !line.starts_with("no ")) {
        throw FormatError("joulecast-clockd answers what cannot be understood");
    }
    return std::string(line.substr(3));
}

}  // namespace joulecast
