#include "joulecast/dataset/schema_check.h"

#include <map>
#include <string>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/units/printable.h"

namespace joulecast {
namespace {

struct Object {
    std::string type;
    std::string table;
    std::string text;  ///< of a table its columns, of an index its SQL; spaces do not count
};

using Schema = std::map<std::string, Object>;

std::string without_spaces(const std::string& sql) {
    std::string text;
    for (const char c : sql)
        if (c > ' ') text += c;
    return text;
}

/// All that SQLite knows of the columns, those that it computes included.
std::string columns_of(const sqlite::Connection& connection, const std::string& table) {
    std::string text =
        connection.integer("SELECT strict FROM pragma_table_list WHERE schema = 'main' AND name = '" + table + "'") != 0
            ? "strict"
            : "";
    auto select = connection.prepare(
        "SELECT name, type, \"notnull\", ifnull(dflt_value, ''), pk, hidden FROM "
        "pragma_table_xinfo(?) ORDER BY cid");
    select.bind(1, table);
    while (select.step()) {
        text += '\n';
        for (int column = 0; column < 6; ++column) text += select.text(column) + '|';
    }
    return text;
}

Schema schema_of(const sqlite::Connection& connection) {
    Schema schema;
    auto select = connection.prepare("SELECT name, type, tbl_name, ifnull(sql, '') FROM sqlite_schema");
    while (select.step()) {
        // Those are SQLite's own: its names for indices of primary keys, statistics.
        if (select.text(0).starts_with("sqlite_")) continue;
        schema[select.text(0)] = {select.text(1), select.text(2), without_spaces(select.text(3))};
    }
    return schema;
}

/// What the migrations make of an empty file.
Schema expected(std::span<const Migration> migrations) {
    sqlite::Connection fresh(":memory:", sqlite::Connection::Access::read_write);
    for (const Migration& migration : migrations) {
        fresh.execute(migration.sql);
        if (migration.rewrite != nullptr) migration.rewrite(fresh);
    }
    Schema schema = schema_of(fresh);
    for (auto& [name, object] : schema)
        if (object.type == "table") object.text = columns_of(fresh, name);
    return schema;
}

[[noreturn]] void refuse(const sqlite::Connection& connection, const std::string& why) {
    throw Error(
        "database '" + connection.file().string() + "' " + why +
        ". joulecast did not make it like this and does not open it. Copy its rows into a new database with sqlite3.");
}

}  // namespace

void refuse_other_schema(const sqlite::Connection& connection, std::span<const Migration> migrations,
                         std::int64_t version) {
    if (version == 0) return;  // an empty file
    const Schema ours = expected(migrations.first(static_cast<std::size_t>(version)));
    const Schema found = schema_of(connection);
    for (const auto& [name, object] : found) {
        const bool is_run =
            object.type == "view" || object.type == "trigger" || object.text.starts_with("CREATEVIRTUAL");
        if (is_run) refuse(connection, "has a " + object.type + " '" + printable(name) + "'");
        const bool is_own_index = object.type == "index" && ours.contains(object.table);
        if (is_own_index && !ours.contains(name)) refuse(connection, "has an index '" + printable(name) + "'");
    }
    for (const auto& [name, object] : ours) {
        const auto other = found.find(name);
        if (other == found.end()) refuse(connection, "lacks the " + object.type + " '" + name + "'");
        const std::string text = object.type == "table" ? columns_of(connection, name) : other->second.text;
        if (other->second.type != object.type || text != object.text)
            refuse(connection, "has another " + object.type + " '" + name + "'");
    }
}

}  // namespace joulecast
