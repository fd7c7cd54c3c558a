#include "lab/verbs/seed_figures.h"

#include <sstream>

#include "joulecast/units/trimmed.h"

namespace joulecast::cli {
namespace {

/// "| a | b |" -> a, b.
std::vector<std::string> cells_of(std::string_view line) {
    std::vector<std::string> cells;
    for (std::size_t from = 1, to = line.find('|', from); to != std::string_view::npos;
         from = to + 1, to = line.find('|', from))
        cells.emplace_back(trimmed(line.substr(from, to - from)));
    return cells;
}

/// Text between commands, without the marks that join it to them.
std::string note_of(std::string_view text) {
    return std::string(trimmed(text, " ;:,"));
}

/// Adds an entry for each command of the cell, `line` with the rest filled in.
void add_commands(const SeedFigure& line, std::string_view cell, std::vector<SeedFigure>& figures) {
    const std::string_view start = "`joulecast";
    std::size_t from = 0;
    const std::size_t before = figures.size();
    for (auto at = cell.find(start); at != std::string_view::npos; at = cell.find(start, from)) {
        const auto end = cell.find('`', at + 1);
        if (end == std::string_view::npos) break;
        SeedFigure& figure = figures.emplace_back(line);
        figure.note = note_of(cell.substr(from, at - from));
        figure.command = cell.substr(at + 1, end - at - 1);
        from = end + 1;
    }
    const std::string rest = note_of(cell.substr(from));
    if (figures.size() == before) figures.push_back(line);
    std::string& note = figures.back().note;
    if (!rest.empty()) note += (note.empty() ? "" : "; ") + rest;
}

}  // namespace

std::vector<SeedFigure> seed_figures(std::string_view page) {
    std::vector<SeedFigure> figures;
    std::istringstream lines{std::string(page)};
    std::string paper;
    for (std::string text; std::getline(lines, text);) {
        if (text.starts_with("## ")) paper = text.substr(3);
        if (!text.starts_with("| ")) continue;
        const auto cells = cells_of(text);
        // The head of a table has no first cell.
        if (cells.size() != 3 || cells[0].empty()) continue;
        add_commands({paper, cells[0], cells[1], "", ""}, cells[2], figures);
    }
    return figures;
}

}  // namespace joulecast::cli
