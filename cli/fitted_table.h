#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "joulecast/report/table.h"

namespace joulecast::cli {

/// Columns of a terminal that the table takes.
std::size_t table_width(const Table& table);

struct AlikeColumn {
    std::string key;
    bool is_labelled = false;  ///< "host python" rather than "python"
};

/// Takes out those of the columns that are the same in every row, and returns what they say: "a100, batch=1, host
/// python"; a cell that is empty or not known says nothing.
std::string take_alike(Table& table, std::span<const AlikeColumn> columns);

/// Leaves out columns in the order of `least_needed` until the table fits; as much as can be where it never does.
Table fitted(Table table, std::span<const std::string> least_needed, std::size_t width);

bool has_column(const Table& table, const std::string& key);

}  // namespace joulecast::cli
