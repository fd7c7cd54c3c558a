#include <memory>

#include "cli/json_tree.h"
#include "joulecast/report/table.h"
#include "lab/verbs/seed_figures.h"
#include "lab/verbs/verbs.h"

namespace joulecast::cli {
namespace {

const std::vector<Column<SeedFigure>>& columns() {
    static const std::vector<Column<SeedFigure>> list = {
        {"paper", "paper", Show::text, [](const SeedFigure& f) { return f.paper; }},
        {"figure", "table or figure", Show::text, [](const SeedFigure& f) { return f.figure; }},
        {"shows", "what it shows", Show::text, [](const SeedFigure& f) { return f.shows; }},
        {"command", "command", Show::text, [](const SeedFigure& f) { return f.command; }},
        {"note", "note", Show::text, [](const SeedFigure& f) { return f.note; }},
    };
    return list;
}

/// For people a command has a line of its own, to be copied.
std::string page_of(const std::vector<SeedFigure>& figures) {
    std::string text, paper, figure;
    for (const SeedFigure& seed : figures) {
        if (seed.paper != paper) {
            paper = seed.paper;
            text += (text.empty() ? "" : "\n") + paper + "\n";
        }
        if (seed.figure != figure) {
            figure = seed.figure;
            text += "\n" + figure + ": " + seed.shows + "\n";
        }
        if (!seed.note.empty()) text += "  " + seed.note + (seed.command.empty() ? "\n" : ":\n");
        if (!seed.command.empty()) text += "    " + seed.command + "\n";
    }
    return text;
}

}  // namespace

Run declare_figures(CLI::App& command) {
    const auto output = std::make_shared<Output>();
    output->declare(command);
    return [output] {
        const auto figures = seed_figures(laboratory_guide("seeds"));
        output->write(output->format == "csv"    ? to_csv(fill(columns(), figures))
                      : output->format == "json" ? printed(rows_json(fill(columns(), figures)))
                                                 : page_of(figures));
        return static_cast<int>(done);
    };
}

}  // namespace joulecast::cli
