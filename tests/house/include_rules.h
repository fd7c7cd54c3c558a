#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace joulecast::house {

/// Which folder may include which: "graph: units" a line, "*" for any above it. The order of lines is the order in
/// which data flows, and a folder may only name folders above it.
struct IncludeTable {
    std::vector<std::string> rooms;  ///< in file order
    std::map<std::string, std::set<std::string>> allowed;
};

/// One door per foreign library: header prefix, the folders that may include it, and whether only .cpp files may.
/// A file may stand among the folders: it may include it, whatever it is.
struct Door {
    std::string prefix;
    std::vector<std::string> folders;
    bool sources_only = false;
};

/// Throw std::runtime_error naming the line.
IncludeTable read_include_table(const std::filesystem::path& file);
std::vector<Door> read_doors(const std::filesystem::path& file);

/// The room of a file by its path below the source folder: "joulecast/graph/readers/x.cpp" is "graph/readers" if the
/// table has it, else "graph"; "cli/main.cpp" is "cli". Empty: in no room of the table.
std::string room_of(const std::string& path, const IncludeTable& table);

/// Every #include of the file that breaks a rule, as "path:line: reason".
std::vector<std::string> breaches(const std::string& path, const std::string& text, const IncludeTable& table,
                                  const std::vector<Door>& doors);

/// The C++ files below the folders of `root`, relative to it, sorted.
std::vector<std::string> source_files(const std::filesystem::path& root, const std::vector<std::string>& folders);

}  // namespace joulecast::house
