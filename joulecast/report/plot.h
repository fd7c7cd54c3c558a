#pragma once

#include <string>
#include <vector>

namespace joulecast {

/// One line or cloud of points. A NaN in `y` is a gap in a line. Sizes of x and y are equal.
struct PlotSeries {
    enum class Style { line, dashed, points, emphasis, bars };
    std::string name;
    Style style = Style::line;
    std::vector<double> x;
    std::vector<double> y;
};

/// A stretch of the x axis, shaded over the whole height. All of one name share a colour and a legend entry.
struct PlotBand {
    std::string name;
    double from = 0;
    double to = 0;
};

struct PlotAxis {
    std::string title;
    std::string unit = {};  ///< "s", "W"; stands in brackets behind the title. Empty: a number
    bool logarithmic = false;
    std::vector<std::string> labels = {};  ///< stand at 0, 1, 2, ... instead of numbers, where there are any
};

struct Plot {
    std::string title;
    std::string subtitle;  ///< what was measured on what
    PlotAxis x;
    PlotAxis y;
    std::vector<PlotSeries> series;
    std::vector<PlotBand> bands;
};

/// Most points of a series that are drawn; beyond, the least and the greatest of each stretch stand for it.
inline constexpr std::size_t most_drawn_points = 20'000;

/// {"data":[...],"layout":{...}} as Plotly.newPlot takes them.
std::string to_figure_json(const Plot& plot);

/// A page that shows the plots below one another and opens without a network: `plotly` is the text of plotly.min.js.
std::string to_html(const std::vector<Plot>& plots, const std::string& plotly);

}  // namespace joulecast
