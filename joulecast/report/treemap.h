#pragma once

#include <string>
#include <vector>

namespace joulecast {

/// A tile; those that are other tiles' parents have the sum of these as their area, beside their own value.
struct Tile {
    std::string id;      ///< unique among the tiles
    std::string parent;  ///< id; empty: a root
    std::string label;
    std::string text;        ///< shown when pointed at
    double value = 0;        ///< at least 0, its own area
    std::size_t colour = 0;  ///< 0: grey; else one of palette_colours, counted from 1
};

struct Treemap {
    std::string title;
    std::string subtitle;
    std::vector<Tile> tiles;
};

/// {"data":[...],"layout":{...}} as Plotly.newPlot takes them, without the titles.
std::string to_figure_json(const Treemap& treemap);

}  // namespace joulecast
