#include "cli/settings.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/learn/learner.h"

namespace joulecast::cli {

namespace {

std::int64_t whole_number(const std::string& digits, const std::string& setting) {
    std::int64_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, value);
    if (read.ec != std::errc{} || read.ptr != end) {
        throw UsageError("--set takes a symbol and whole numbers, as in --set batch=1,8,32, not '" + setting + "'");
    }
    return value;
}

/// "batch=1,8" -> {"batch", {1, 8}}
std::pair<std::string, std::vector<std::int64_t>> parse_setting(const std::string& text) {
    const std::size_t equals = text.find('=');
    const std::string symbol = text.substr(0, equals == std::string::npos ? 0 : equals);
    std::vector<std::int64_t> values;
    for (std::size_t at = symbol.empty() ? text.size() : equals; at < text.size();) {
        const std::size_t next = std::min(text.find(',', at + 1), text.size());
        values.push_back(whole_number(text.substr(at + 1, next - at - 1), text));
        at = next;
    }
    if (values.empty()) whole_number("", text);
    return {symbol, values};
}

}  // namespace

std::vector<SymbolValues> parse_settings(const std::vector<std::string>& texts) {
    std::vector<std::pair<std::string, std::vector<std::int64_t>>> sizes;
    for (const std::string& text : texts) sizes.push_back(parse_setting(text));
    return combinations(sizes);
}

std::vector<SymbolValues> combinations(const std::vector<std::pair<std::string, std::vector<std::int64_t>>>& sizes) {
    std::vector<SymbolValues> combinations{{}};
    for (const auto& [symbol, values] : sizes) {
        if (combinations.front().contains(symbol)) throw UsageError("--set gives " + symbol + " twice");
        std::vector<SymbolValues> longer;
        for (const SymbolValues& before : combinations) {
            for (const std::int64_t value : values) {
                longer.push_back(before);
                longer.back().emplace(symbol, value);
            }
        }
        combinations = std::move(longer);
        if (combinations.size() > 10'000) throw UsageError("--set asks for more than 10000 combinations");
    }
    return combinations;
}

std::vector<std::string> learner_words() {
    std::vector<std::string> words{"auto"};
    for (const Learner learner : all_learners()) words.emplace_back(name(learner));
    return words;
}

}  // namespace joulecast::cli
