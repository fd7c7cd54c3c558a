#include "joulecast/meter/sysfs.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fstream>
#include <string_view>
#include <system_error>

namespace joulecast {

namespace {

constexpr std::size_t most_bytes = 4096;
constexpr std::size_t most_entries = 4096;

/// "hwmon10/in2" as {"hwmon", 10, "/in", 2}: runs of digits compare as numbers, shorter ones first.
bool in_number_order(const std::string& a, const std::string& b) {
    const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() && j < b.size()) {
        if (!is_digit(a[i]) || !is_digit(b[j])) {
            if (a[i] != b[j]) return a[i] < b[j];
            ++i;
            ++j;
            continue;
        }
        const auto run = [&](const std::string& text, std::size_t& at) {
            while (at + 1 < text.size() && text[at] == '0' && is_digit(text[at + 1])) ++at;
            const std::size_t start = at;
            while (at < text.size() && is_digit(text[at])) ++at;
            return std::string_view(text).substr(start, at - start);
        };
        const auto left = run(a, i);
        const auto right = run(b, j);
        if (left.size() != right.size()) return left.size() < right.size();
        if (left != right) return left < right;
    }
    return a.size() - i < b.size() - j;
}

}  // namespace

std::optional<std::string> sysfs_text(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::array<char, most_bytes> bytes{};
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const std::string_view text(bytes.data(), static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
    constexpr std::string_view blanks(" \t\r\n\0", 5);
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return std::nullopt;
    return std::string(text.substr(first, text.find_last_not_of(blanks) - first + 1));
}

std::optional<double> sysfs_number(const std::filesystem::path& file) {
    const auto text = sysfs_text(file);
    if (!text) return std::nullopt;
    double value = 0.0;
    const char* end = text->data() + text->size();
    const auto result = std::from_chars(text->data(), end, value);
    if (result.ec != std::errc{} || result.ptr != end || !std::isfinite(value)) return std::nullopt;
    return value;
}

std::vector<std::filesystem::path> sysfs_entries(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> entries;
    std::error_code failed;
    std::filesystem::directory_iterator entry(folder, failed);
    for (; !failed && entry != std::filesystem::directory_iterator() && entries.size() < most_entries;
         entry.increment(failed)) {
        entries.push_back(entry->path());
    }
    std::sort(entries.begin(), entries.end(),
              [](const auto& a, const auto& b) { return in_number_order(a.string(), b.string()); });
    return entries;
}

std::vector<int> processor_list(const std::string& text) {
    constexpr int most = 4096;
    std::vector<int> list;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
        int first = 0;
        auto result = std::from_chars(at, end, first);
        if (result.ec != std::errc{} || first < 0) return list;
        int last = first;
        if (result.ptr != end && *result.ptr == '-') {
            result = std::from_chars(result.ptr + 1, end, last);
            if (result.ec != std::errc{} || last < first) return list;
        }
        for (int cpu = first; cpu <= last && list.size() < most; ++cpu) list.push_back(cpu);
        if (result.ptr == end || *result.ptr != ',') return list;
        at = result.ptr + 1;
    }
    return list;
}

}  // namespace joulecast
