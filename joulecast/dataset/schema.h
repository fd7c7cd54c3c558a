#pragma once

#include <span>

#include "joulecast/dataset/sqlite.h"

namespace joulecast {

/// What raises a database from version N-1 to version N = its place in the table + 1: SQL, then what SQL cannot say. A
/// released line never changes.
struct Migration {
    const char* sql;
    void (*rewrite)(sqlite::Connection& connection) = nullptr;
};

/// PRAGMA application_id of our files: "JCst".
inline constexpr int dataset_application_id = 0x4A437374;

std::span<const Migration> dataset_migrations();

/// Raises the file to the newest version, each step in a transaction of its own. An empty file becomes a dataset.
/// Throws Error when the file belongs to another program, is newer than `migrations`, or is otherwise than they made it
/// (schema_check.h).
void migrate(sqlite::Connection& connection, std::span<const Migration> migrations);

/// Whether the file is of an older version. Throws what migrate would throw.
bool needs_migration(sqlite::Connection& connection, std::span<const Migration> migrations);

}  // namespace joulecast
