#include "joulecast/report/treemap.h"

#include <nlohmann/json.hpp>

#include "joulecast/report/figure_text.h"

namespace joulecast {
namespace {

using Json = nlohmann::ordered_json;

// Of tiles that hold others: the page's script puts the colours of screen or paper in their place.
constexpr const char* branch_colour = "branch";
constexpr const char* branch_ink = "ink";

/// Black or white, whichever is easier to read on a colour of the palette; only the first is dark.
const char* ink_on(std::size_t colour) {
    return (colour - 1) % palette_colours.size() == 0 ? "#ffffff" : "#000000";
}

}  // namespace

std::string to_figure_json(const Treemap& treemap) {
    Json trace = {{"type", "treemap"},
                  {"branchvalues", "remainder"},
                  {"hoverinfo", "text"},
                  {"textinfo", "label+percent root"},
                  {"pathbar", {{"visible", true}}},
                  {"sort", true},
                  {"tiling", {{"packing", "squarify"}}}};
    for (const char* key : {"ids", "labels", "parents", "values", "hovertext"}) trace[key] = Json::array();
    Json colours = Json::array();
    Json inks = Json::array();
    for (const Tile& tile : treemap.tiles) {
        trace["ids"].push_back(tile.id);
        trace["labels"].push_back(figure_text(tile.label));
        trace["parents"].push_back(tile.parent);
        trace["values"].push_back(tile.value);
        trace["hovertext"].push_back(figure_text(tile.text));
        const bool branch = tile.colour == 0;
        colours.push_back(branch ? branch_colour : palette_colours[(tile.colour - 1) % palette_colours.size()]);
        inks.push_back(branch ? branch_ink : ink_on(tile.colour));
    }
    trace["textfont"] = {{"color", inks}};
    trace["marker"] = {
        {"colors", colours}, {"line", {{"width", 1}}}, {"pad", {{"t", 20}, {"l", 3}, {"r", 3}, {"b", 3}}}};
    Json layout = {{"template", "none"}, {"margin", {{"t", 30}, {"r", 4}, {"b", 4}, {"l", 4}}}};
    // A letter that is too small to be read is left out; the tile says it when it is pointed at.
    layout["uniformtext"] = {{"minsize", 8}, {"mode", "hide"}};
    layout["font"] = {{"family", "system-ui, sans-serif"}, {"size", 13}};
    const Json figure = {{"data", Json::array({trace})}, {"layout", layout}};
    return in_script(figure.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace joulecast
