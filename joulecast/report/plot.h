#pragma once

#include <limits>
#include <string>
#include <vector>

namespace joulecast {

/// One line or cloud of points. A NaN in `y` is a gap in a line. Sizes of x and y are equal.
struct PlotSeries {
    enum class Style { line, dashed, points, emphasis, bars, lying_bars };
    std::string name;
    Style style = Style::line;
    std::vector<double> x;
    std::vector<double> y;
    // Each empty, or as long as x and y.
    std::vector<double> low = {};  ///< with `high` the interval of each value: a band around a line, else a whisker
    std::vector<double> high = {};
    std::vector<std::string> texts = {};  ///< shown when a point is pointed at, in place of its numbers
    std::vector<double> sizes = {};       ///< of points, in pixels
    std::vector<double> x_low = {};       ///< with `x_high` the interval of x: a lying whisker
    std::vector<double> x_high = {};
    std::string colour = {};  ///< "#0072B2"; empty: the next one of the palette
    bool is_listed = true;    ///< in the legend
};

/// A stretch of the x axis, shaded over the whole height. All of one name share a colour and a legend entry.
struct PlotBand {
    std::string name;
    double from = 0;
    double to = 0;
};

struct PlotAxis {
    std::string title;
    /// "s", "W"; empty: a number. Numbers are in it; the figure shows them with the SI prefix that tables would take.
    std::string unit = {};
    bool logarithmic = false;
    /// Stand at 0, 1, 2, ... instead of numbers, where there are any; a line feed breaks the line.
    std::vector<std::string> labels = {};
    double most = std::numeric_limits<double>::quiet_NaN();  ///< a linear axis ends there; NaN: after all values
};

struct Plot {
    std::string title;
    std::string subtitle;  ///< what was measured on what
    PlotAxis x;
    PlotAxis y;
    std::vector<PlotSeries> series;
    std::vector<PlotBand> bands;
    bool stacked = false;      ///< bars stand on one another
    double height_px = 420;    ///< in a page of chapters
    bool has_legend = true;    ///< where there is something to tell apart; labels of an axis may do that already
    bool is_overlaid = false;  ///< bars at one place stand over each other, not beside: each has a place of its own
};

/// Most points of a series that are drawn; beyond, the least and the greatest of each stretch stand for it. Series with
/// intervals, texts or sizes are drawn whole.
inline constexpr std::size_t most_drawn_points = 20'000;

/// {"data":[...],"layout":{...}} as Plotly.newPlot takes them. Without title and subtitle no room is kept for them.
std::string to_figure_json(const Plot& plot);

/// A page that shows the plots below one another and opens without a network: `plotly` is the text of plotly.min.js.
std::string to_html(const std::vector<Plot>& plots, const std::string& plotly);

}  // namespace joulecast
