// Tables for a terminal: fewer columns rather than wrapped ones.
#include "cli/fitted_table.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace joulecast::cli {
namespace {

constexpr std::size_t between_columns = 2;

std::optional<std::size_t> place_of(const Table& table, const std::string& key) {
    const auto found = std::ranges::find(table.heads, key, &Table::Head::key);
    if (found == table.heads.end()) return std::nullopt;
    return static_cast<std::size_t>(found - table.heads.begin());
}

void erase(Table& table, std::size_t column) {
    const auto place = static_cast<std::ptrdiff_t>(column);
    table.heads.erase(table.heads.begin() + place);
    for (auto& row : table.rows) row.erase(row.begin() + place);
}

std::size_t column_width(const Table& table, std::size_t column) {
    const Table::Head& head = table.heads[column];
    std::size_t widest = display_width(head.header);
    for (const auto& row : table.rows) widest = std::max(widest, display_width(show(row[column], head.show)));
    return widest;
}

bool says_something(const Cell& cell) {
    const auto* const text = std::get_if<std::string>(&cell);
    return !std::holds_alternative<std::monostate>(cell) && (text == nullptr || !text->empty());
}

}  // namespace

bool has_column(const Table& table, const std::string& key) {
    return place_of(table, key).has_value();
}

std::size_t table_width(const Table& table) {
    std::size_t width = 0;
    for (std::size_t column = 0; column < table.heads.size(); ++column)
        width += column_width(table, column) + (column > 0 ? between_columns : 0);
    return width;
}

std::string take_alike(Table& table, std::span<const AlikeColumn> columns) {
    std::string text;
    for (const auto& [key, is_labelled] : columns) {
        const auto place = place_of(table, key);
        if (!place || table.rows.empty()) continue;
        const Cell first = table.rows.front()[*place];
        if (!std::ranges::all_of(table.rows, [&](const auto& row) { return row[*place] == first; })) continue;
        const std::string label = is_labelled ? table.heads[*place].header + " " : "";
        if (says_something(first)) text += (text.empty() ? "" : ", ") + label + show(first, table.heads[*place].show);
        erase(table, *place);
    }
    return text;
}

Table fitted(Table table, std::span<const std::string> least_needed, std::size_t width) {
    std::size_t taken = table_width(table);
    for (const std::string& key : least_needed) {
        if (taken <= width) break;
        const auto place = place_of(table, key);
        if (!place) continue;
        taken -= std::min(taken, column_width(table, *place) + between_columns);
        erase(table, *place);
    }
    return table;
}

}  // namespace joulecast::cli
