#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace joulecast {

/// What an importer counts of a file: rows = used + all of dropped. A row with several measured numbers counts once for
/// each.
struct Import {
    std::int64_t rows = 0;
    std::int64_t used = 0;                        ///< became measurements, or went into one or into a network's list
    std::map<std::string, std::int64_t> dropped;  ///< why -> rows
    std::int64_t added = 0;                       ///< rows that are new to the database
    std::vector<std::string> dropped_columns;     ///< that the importer knows and leaves
    std::vector<std::string> unknown_columns;     ///< that it has never heard of
    std::vector<std::string> notes;               ///< what else a user should know, a sentence each
};

}  // namespace joulecast
