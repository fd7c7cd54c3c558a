#pragma once

#include <cstdint>
#include <span>

#include "joulecast/dataset/schema.h"

namespace joulecast {

/// A database is an input like any other: what SQLite would run out of it (views, triggers, virtual tables, generated
/// columns, indices over expressions) runs when its rows are asked for, and may never end or change what is stored.
/// Throws Error for a file whose tables and indices are not those that `migrations` make up to that version, or that
/// has anything to be run. Tables of others stay as they are.
void refuse_other_schema(const sqlite::Connection& connection, std::span<const Migration> migrations,
                         std::int64_t version);

}  // namespace joulecast
