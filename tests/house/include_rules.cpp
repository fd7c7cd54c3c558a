#include "tests/house/include_rules.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace joulecast::house {
namespace {

struct Line {
    std::string head;
    std::vector<std::string> words;
    std::string where;
};

/// "head: word word" lines; blank lines and # comments left out.
std::vector<Line> read_lines(const std::filesystem::path& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path.string());
    std::vector<Line> lines;
    int number = 0;
    for (std::string text; std::getline(file, text);) {
        ++number;
        text = text.substr(0, text.find('#'));
        if (text.find_first_not_of(" \t") == std::string::npos) continue;
        Line line;
        line.where = path.filename().string() + ":" + std::to_string(number);
        const auto colon = text.find(':');
        if (colon == std::string::npos) throw std::runtime_error(line.where + ": no colon");
        line.head = text.substr(0, colon);
        std::istringstream words(text.substr(colon + 1));
        for (std::string word; words >> word;) line.words.push_back(word);
        lines.push_back(line);
    }
    return lines;
}

bool is_below(const std::string& path, const std::string& folder) {
    return path.starts_with(folder + "/");
}

struct Include {
    std::string header;
    bool quoted;
};

std::optional<Include> include_of(std::string line) {
    line.erase(std::remove_if(line.begin(), line.end(), [](char c) { return c == ' ' || c == '\t' || c == '\r'; }),
               line.end());
    if (!line.starts_with("#include") || line.size() < 10) return std::nullopt;
    const bool quoted = line[8] == '"';
    const auto end = line.find(quoted ? '"' : '>', 9);
    if (end == std::string::npos || (!quoted && line[8] != '<')) return Include{"(not readable) " + line, true};
    return Include{line.substr(9, end - 9), quoted};
}

std::string own_breach(const std::string& path, const std::string& header, const IncludeTable& table) {
    const std::string room = room_of(path, table);
    if (header == "joulecast/error.h") return "";
    const std::string other = room_of(header, table);
    if (other.empty()) return "is in no room of the include table";
    if (room == other) return "";
    const auto& allowed = table.allowed.at(room);
    if (allowed.contains(other)) return "";
    return "the include table does not let " + room + " include " + other;
}

std::string foreign_breach(const std::string& path, const std::string& header, const std::vector<Door>& doors) {
    // Headers of the C++ standard library have neither a dot nor a slash.
    if (header.find_first_of("./") == std::string::npos) return "";
    for (const Door& door : doors) {
        if (!header.starts_with(door.prefix)) continue;
        if (std::find(door.folders.begin(), door.folders.end(), path) != door.folders.end()) return "";
        const bool inside = std::any_of(door.folders.begin(), door.folders.end(),
                                        [&](const auto& folder) { return is_below(path, folder); });
        if (!inside) continue;
        if (door.sources_only && !path.ends_with(".cpp")) return "belongs in .cpp files only";
        return "";
    }
    return "no door for it here";
}

}  // namespace

IncludeTable read_include_table(const std::filesystem::path& file) {
    IncludeTable table;
    for (const Line& line : read_lines(file)) {
        for (const auto& other : line.words) {
            if (other != "*" && std::find(table.rooms.begin(), table.rooms.end(), other) == table.rooms.end()) {
                throw std::runtime_error(line.where + ": " + line.head + " may not include " + other +
                                         ", which is not above it");
            }
        }
        const bool is_any = std::ranges::find(line.words, "*") != line.words.end();
        const std::vector<std::string>& allowed = is_any ? table.rooms : line.words;
        table.allowed[line.head] = {allowed.begin(), allowed.end()};
        table.rooms.push_back(line.head);
    }
    return table;
}

std::vector<Door> read_doors(const std::filesystem::path& file) {
    std::vector<Door> doors;
    for (const Line& line : read_lines(file)) {
        Door door{line.head, line.words, false};
        if (!door.folders.empty() && door.folders.back() == "(.cpp)") {
            door.folders.pop_back();
            door.sources_only = true;
        }
        if (door.folders.empty()) throw std::runtime_error(line.where + ": no folder");
        doors.push_back(door);
    }
    return doors;
}

std::string room_of(const std::string& path, const IncludeTable& table) {
    std::string folder = path.substr(0, path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    if (is_below(path, "joulecast")) folder = folder.size() > 10 ? folder.substr(10) : "";
    for (; !folder.empty(); folder = folder.substr(0, folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/'))) {
        if (table.allowed.contains(folder)) return folder;
    }
    return "";
}

std::vector<std::string> breaches(const std::string& path, const std::string& text, const IncludeTable& table,
                                  const std::vector<Door>& doors) {
    std::vector<std::string> found;
    if (path != "joulecast/error.h" && room_of(path, table).empty()) {
        return {path + ": is in no room of the include table"};
    }
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        const auto include = include_of(line);
        if (!include) continue;
        const std::string reason =
            include->quoted ? own_breach(path, include->header, table) : foreign_breach(path, include->header, doors);
        if (!reason.empty())
            found.push_back(path + ":" + std::to_string(number) + ": " + include->header + ": " + reason);
    }
    return found;
}

std::vector<std::string> source_files(const std::filesystem::path& root, const std::vector<std::string>& folders) {
    std::vector<std::string> files;
    for (const auto& folder : folders) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
            const auto extension = entry.path().extension();
            if (extension != ".cpp" && extension != ".h") continue;
            files.push_back(std::filesystem::relative(entry.path(), root).generic_string());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace joulecast::house
