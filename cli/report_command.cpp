#include "cli/report_command.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace joulecast::cli {
namespace {

bool is_plain(const std::string& word) {
    const auto is_plain_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("_-./,:=@+%").find(c) != std::string_view::npos;
    };
    return !word.empty() && std::ranges::all_of(word, is_plain_letter);
}

std::string quoted(const std::string& word) {
    if (is_plain(word)) return word;
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
    return text + "'";
}

}  // namespace

std::string shell_line(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + quoted(word);
    return line;
}

std::string own_command() {
    // The kernel keeps the words as they were, each ended by a zero.
    std::ifstream input("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> words;
    for (std::string word; std::getline(input, word, '\0');) words.push_back(word);
    if (!words.empty()) words.front() = std::filesystem::path(words.front()).filename().string();
    return shell_line(words);
}

}  // namespace joulecast::cli
