#include "cli/settings.h"

#include <array>
#include <charconv>
#include <ctime>

#include "joulecast/error.h"

namespace joulecast::cli {

SymbolValues parse_settings(const std::vector<std::string>& texts) {
    SymbolValues values;
    for (const std::string& text : texts) {
        const std::size_t equals = text.find('=');
        std::int64_t value = 0;
        const char* const end = text.data() + text.size();
        const bool named = equals != std::string::npos && equals > 0;
        const auto read = named ? std::from_chars(text.data() + equals + 1, end, value)
                                : std::from_chars_result{end, std::errc::invalid_argument};
        if (read.ec != std::errc{} || read.ptr != end) {
            throw UsageError("--set takes a symbol and one whole number, as in --set batch=32, not '" + text + "'");
        }
        if (!values.emplace(text.substr(0, equals), value).second) {
            throw UsageError("--set gives " + text.substr(0, equals) + " twice");
        }
    }
    return values;
}

std::string joined(const std::vector<std::string>& texts, const std::string& separator) {
    std::string all;
    for (const std::string& text : texts) all += (all.empty() ? "" : separator) + text;
    return all;
}

std::string now_utc() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text.data();
}

}  // namespace joulecast::cli
