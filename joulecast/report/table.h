#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace joulecast {

/// One printed value; monostate is "not known": "–" in a table, null in JSON, empty in CSV.
using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// How a number is shown to people. JSON and CSV always carry the full number in SI units.
enum class Show { text, count, seconds, joules, watts, bytes, flop, percent, number };

/// A reported number is one line in a column list; every format shows it.
template <class Row>
struct Column {
    std::string key;     ///< JSON key and CSV header, unit in the name: "time_s"
    std::string header;  ///< table header: "time"
    Show show = Show::text;
    std::function<Cell(const Row&)> cell;
};

/// A filled table, ready to print.
struct Table {
    struct Head {
        std::string key;
        std::string header;
        Show show = Show::text;
    };
    std::vector<Head> heads;
    std::vector<std::vector<Cell>> rows;
};

template <class Row, class Rows>
Table fill(const std::vector<Column<Row>>& columns, const Rows& rows) {
    Table table;
    for (const auto& column : columns) table.heads.push_back({column.key, column.header, column.show});
    table.rows.reserve(std::size(rows));
    for (const Row& row : rows) {
        auto& cells = table.rows.emplace_back();
        cells.reserve(columns.size());
        for (const auto& column : columns) cells.push_back(column.cell(row));
    }
    return table;
}

/// Without the columns of which nothing is known in any row.
Table without_empty_columns(const Table& table);

/// "12.3 ms", "4.56 GB", "1.82 GFLOP", "5.2 %": three significant digits.
std::string show(const Cell& cell, Show how);

/// Columns a terminal gives the text (UTF-8): combining marks 0, East Asian wide forms and emoji 2, others 1.
std::size_t display_width(std::string_view text);

/// A share as a bar of at most `width` columns, in steps of an eighth: bar(0.5, 4) is two full blocks.
std::string bar(double fraction, std::size_t width);

/// Aligned text, numbers to the right, UTF-8 aware; control characters in names are shown as \x1b.
std::string to_text(const Table& table);
/// RFC 4180 quoting with a header line; lines end with a line feed.
std::string to_csv(const Table& table);

}  // namespace joulecast
