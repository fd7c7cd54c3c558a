#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace joulecast::cli {

/// A command that redoes a table or figure of one of the two papers, or why there is none.
struct SeedFigure {
    std::string paper;    ///< heading of the page: "The thesis"
    std::string figure;   ///< "Figures 5.1, 5.2"
    std::string shows;    ///< what it shows
    std::string command;  ///< "joulecast report --db thesis.db -o thesis.html"; empty where there is none
    std::string note;     ///< what the page says before the command, or instead of one
};

/// Of every line of the tables with three columns in docs/seeds.md, in its order: one entry for each command between
/// backticks, or one without a command.
std::vector<SeedFigure> seed_figures(std::string_view page);

}  // namespace joulecast::cli
