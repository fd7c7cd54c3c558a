#include "joulecast/report/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "joulecast/report/axis_scale.h"
#include "joulecast/report/figure_text.h"

namespace joulecast {

namespace {

using Json = nlohmann::ordered_json;

// Where there are more series than colours, the second round has other marks and dashes, and so on.
constexpr std::array marks = {"circle", "square", "diamond", "x", "triangle-up"};
constexpr std::array dashes = {"solid", "dot", "dashdot", "longdash", "dash"};
constexpr std::array band_colours = {"rgba(0,114,178,0.12)", "rgba(230,159,0,0.18)", "rgba(0,158,115,0.14)"};
constexpr const char* quiet_colour = "#777777";
constexpr const char* emphasis_colour = "#B00020";

std::string with_unit(const std::string& title, const std::string& unit) {
    return unit.empty() ? title : title + " (" + unit + ")";
}

std::string colour_of(const PlotSeries& series, std::size_t place) {
    return series.colour.empty() ? palette_colours[place % palette_colours.size()] : series.colour;
}

Json numbers(const std::vector<double>& values) {
    Json list = Json::array();
    for (const double value : values) list.push_back(std::isfinite(value) ? Json(value) : Json(nullptr));
    return list;
}

/// Takes the least and the greatest of each stretch in place of all its points, so that no peak is lost.
void thin(std::vector<double>& x, std::vector<double>& y) {
    if (x.size() <= most_drawn_points) return;
    const std::size_t stretch = 2 * ((x.size() + most_drawn_points - 1) / most_drawn_points);
    std::vector<double> kept_x;
    std::vector<double> kept_y;
    for (std::size_t start = 0; start < x.size(); start += stretch) {
        const auto from = y.begin() + static_cast<std::ptrdiff_t>(start);
        const auto to = y.begin() + static_cast<std::ptrdiff_t>(std::min(start + stretch, y.size()));
        const auto [least, greatest] = std::minmax_element(from, to);
        for (const auto at : {std::min(least, greatest), std::max(least, greatest)}) {
            kept_x.push_back(x[static_cast<std::size_t>(at - y.begin())]);
            kept_y.push_back(*at);
        }
    }
    x = std::move(kept_x);
    y = std::move(kept_y);
}

/// Whiskers from low to high around the values; absent where the interval is not known.
Json whiskers(const std::vector<double>& values, const std::vector<double>& low, const std::vector<double>& high) {
    std::vector<double> above;
    std::vector<double> below;
    for (std::size_t i = 0; i < values.size(); ++i) {
        above.push_back(high[i] - values[i]);
        below.push_back(values[i] - low[i]);
    }
    return {{"type", "data"},   {"symmetric", false}, {"array", numbers(above)}, {"arrayminus", numbers(below)},
            {"thickness", 1.2}, {"width", 3}};
}

/// What lies between low and high of a line, as one closed shape.
Json band_of(const PlotSeries& series, std::size_t place) {
    std::vector<double> x;
    std::vector<double> y;
    const auto add = [&](std::size_t i, double bound) {
        if (!std::isfinite(series.low[i]) || !std::isfinite(series.high[i])) return;
        x.push_back(series.x[i]);
        y.push_back(bound);
    };
    for (std::size_t i = 0; i < series.x.size(); ++i) add(i, series.high[i]);
    for (std::size_t i = series.x.size(); i-- > 0;) add(i, series.low[i]);
    return {{"type", "scatter"},      {"mode", "lines"},     {"x", numbers(x)},
            {"y", numbers(y)},        {"fill", "toself"},    {"fillcolor", paler(colour_of(series, place), 0.2)},
            {"line", {{"width", 0}}}, {"hoverinfo", "skip"}, {"showlegend", false}};
}

void add_details(const PlotSeries& series, Json& trace) {
    const bool lies = series.style == PlotSeries::Style::lying_bars;
    const bool is_line = series.style == PlotSeries::Style::line || series.style == PlotSeries::Style::dashed;
    if (!series.low.empty() && !is_line)
        trace[lies ? "error_x" : "error_y"] = whiskers(lies ? series.x : series.y, series.low, series.high);
    if (!series.x_low.empty()) trace["error_x"] = whiskers(series.x, series.x_low, series.x_high);
    if (!series.sizes.empty()) trace["marker"]["size"] = numbers(series.sizes);
    if (series.texts.empty()) return;
    trace["hovertext"] = Json::array();
    for (const std::string& text : series.texts) trace["hovertext"].push_back(figure_text(text));
    trace["hoverinfo"] = "text";
}

Json trace_of(const PlotSeries& series, std::size_t place) {
    const std::string colour = colour_of(series, place);
    const std::size_t round = place / palette_colours.size();
    std::vector<double> x = series.x;
    std::vector<double> y = series.y;
    if (series.low.empty() && series.texts.empty() && series.sizes.empty()) thin(x, y);
    Json trace = {{"type", "scatter"}, {"name", series.name}, {"x", numbers(x)}, {"y", numbers(y)}};
    switch (series.style) {
        case PlotSeries::Style::line:
            trace["mode"] = "lines";
            trace["line"] = {{"color", colour}, {"width", 1.6}, {"dash", dashes[round % dashes.size()]}};
            break;
        case PlotSeries::Style::dashed:
            trace["mode"] = "lines";
            trace["line"] = {
                {"color", series.colour.empty() ? quiet_colour : colour}, {"width", 1.2}, {"dash", "dash"}};
            break;
        case PlotSeries::Style::points:
            trace["mode"] = "markers";
            trace["marker"] = {{"color", colour}, {"size", 5}, {"symbol", marks[round % marks.size()]}};
            break;
        case PlotSeries::Style::emphasis:
            trace["mode"] = "markers";
            trace["marker"] = {
                {"color", series.colour.empty() ? emphasis_colour : colour}, {"size", 11}, {"symbol", "circle-open"}};
            trace["marker"]["line"] = {{"width", 2}};
            break;
        case PlotSeries::Style::bars:
            trace["type"] = "bar";
            trace["marker"] = {{"color", colour}};
            break;
        case PlotSeries::Style::lying_bars:
            trace["type"] = "bar";
            trace["orientation"] = "h";
            trace["marker"] = {{"color", colour}};
            break;
    }
    add_details(series, trace);
    if (!series.is_listed) trace["showlegend"] = false;
    return trace;
}

/// All numbers that stand along an axis: the series' own, and the ends of their intervals.
std::vector<double> numbers_along(const Plot& plot, bool is_x) {
    std::vector<double> numbers;
    const auto add = [&](const std::vector<double>& values) {
        numbers.insert(numbers.end(), values.begin(), values.end());
    };
    for (const PlotSeries& series : plot.series) {
        add(is_x ? series.x : series.y);
        const bool lies = series.style == PlotSeries::Style::lying_bars;
        if (lies == is_x) add(series.high);
        if (lies == is_x && !series.low.empty()) add(series.low);
        if (is_x) add(series.x_high);
    }
    return numbers;
}

void divide(std::vector<double>& numbers, double divisor) {
    for (double& number : numbers) number /= divisor;
}

/// Puts the numbers along a linear axis into the unit that tables would take.
void scale_axis(Plot& plot, bool is_x) {
    PlotAxis& axis = is_x ? plot.x : plot.y;
    if (axis.logarithmic || !axis.labels.empty()) return;
    const AxisScale scale = axis_scale(axis.unit, numbers_along(plot, is_x));
    axis.unit = scale.unit;
    if (scale.divisor == 1) return;
    for (PlotSeries& series : plot.series) {
        divide(is_x ? series.x : series.y, scale.divisor);
        if (is_x) divide(series.x_low, scale.divisor);
        if (is_x) divide(series.x_high, scale.divisor);
        if ((series.style == PlotSeries::Style::lying_bars) != is_x) continue;
        divide(series.low, scale.divisor);
        divide(series.high, scale.divisor);
    }
    for (PlotBand& band : plot.bands) {
        if (!is_x) break;
        band.from /= scale.divisor;
        band.to /= scale.divisor;
    }
}

std::string broken(std::string text) {
    for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at)) text.replace(at, 1, "<br>");
    return text;
}

Json axis_of(const PlotAxis& axis, const std::vector<double>& numbers) {
    const AxisTicks ticks = axis.logarithmic ? logarithmic_ticks(axis.unit, numbers) : AxisTicks();
    // A title that says "s" would be wrong beside "10 ms".
    const std::string title = ticks.have_unit ? axis.title : with_unit(axis.title, axis.unit);
    Json json = {{"title", {{"text", figure_text(title)}}}, {"gridcolor", "#e6e6e6"}, {"zeroline", false}};
    json["exponentformat"] = "none";
    json["automargin"] = true;
    if (axis.logarithmic) json["type"] = "log";
    if (std::isfinite(axis.most)) json["range"] = {0, axis.most};
    if (!ticks.at.empty()) {
        json["tickvals"] = ticks.at;
        json["ticktext"] = ticks.texts;
    }
    for (std::size_t i = 0; i < axis.labels.size(); ++i) {
        json["tickvals"].push_back(i);
        json["ticktext"].push_back(broken(figure_text(axis.labels[i])));
    }
    return json;
}

/// Shapes for the bands, and an invisible trace for each name, since shapes alone are in no legend.
void add_bands(const std::vector<PlotBand>& bands, Json& data, Json& layout) {
    std::vector<std::string> names;
    for (const PlotBand& band : bands) {
        auto known = std::find(names.begin(), names.end(), band.name);
        const bool is_new = known == names.end();
        if (is_new) known = names.insert(names.end(), band.name);
        const char* colour = band_colours[static_cast<std::size_t>(known - names.begin()) % band_colours.size()];
        layout["shapes"].push_back({{"type", "rect"},
                                    {"xref", "x"},
                                    {"yref", "paper"},
                                    {"x0", band.from},
                                    {"x1", band.to},
                                    {"y0", 0},
                                    {"y1", 1},
                                    {"fillcolor", colour},
                                    {"line", {{"width", 0}}},
                                    {"layer", "below"}});
        if (!is_new) continue;
        data.push_back({{"type", "scatter"},
                        {"name", figure_text(band.name)},
                        {"mode", "markers"},
                        {"x", Json::array({nullptr})},
                        {"y", Json::array({nullptr})},
                        {"marker", {{"size", 14}, {"symbol", "square"}, {"color", colour}}}});
    }
}

Json figure(Plot plot) {
    scale_axis(plot, true);
    scale_axis(plot, false);
    Json data = Json::array();
    Json layout = {{"template", "none"}, {"paper_bgcolor", "white"}, {"plot_bgcolor", "white"}};
    const bool is_titled = !plot.title.empty() || !plot.subtitle.empty();
    std::string title = "<b>" + figure_text(plot.title) + "</b>";
    if (!plot.subtitle.empty()) title += "<br><span style=\"font-size:13px\">" + figure_text(plot.subtitle) + "</span>";
    if (is_titled) layout["title"] = {{"text", title}, {"x", 0.02}, {"xanchor", "left"}, {"font", {{"size", 18}}}};
    layout["font"] = {{"family", "system-ui, sans-serif"}, {"size", 13}, {"color", "#222222"}};
    layout["margin"] = {{"t", is_titled ? 90 : 20}, {"r", 30}, {"b", is_titled ? 70 : 50}, {"l", 80}};
    // Above the figure the legend pushes it down and covers nothing; there a title of the figure's own would be.
    layout["legend"] = {{"orientation", "h"}, {"y", -0.18}};
    if (!is_titled) layout["legend"].update({{"y", 1.02}, {"yanchor", "bottom"}, {"x", 0}, {"xanchor", "left"}});
    layout["showlegend"] = plot.has_legend && (is_titled || plot.series.size() + plot.bands.size() > 1);
    layout["xaxis"] = axis_of(plot.x, numbers_along(plot, true));
    layout["yaxis"] = axis_of(plot.y, numbers_along(plot, false));
    layout["shapes"] = Json::array();
    if (plot.stacked) layout["barmode"] = "stack";
    if (plot.is_overlaid) layout["barmode"] = "overlay";
    const bool has_lying_bars = std::ranges::any_of(
        plot.series, [](const PlotSeries& series) { return series.style == PlotSeries::Style::lying_bars; });
    if (has_lying_bars) layout["yaxis"]["autorange"] = "reversed";  // the first on top
    std::size_t next = 0;
    for (PlotSeries series : plot.series) {
        series.name = figure_text(series.name);
        const bool coloured = series.style != PlotSeries::Style::dashed && series.style != PlotSeries::Style::emphasis;
        if (series.style == PlotSeries::Style::line && !series.low.empty()) data.push_back(band_of(series, next));
        data.push_back(trace_of(series, next));
        if (coloured) ++next;
    }
    add_bands(plot.bands, data, layout);
    return {{"data", data}, {"layout", layout}};
}

}  // namespace

std::string to_figure_json(const Plot& plot) {
    // Bytes that are no UTF-8 are replaced.
    return in_script(figure(plot).dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string to_html(const std::vector<Plot>& plots, const std::string& plotly) {
    const std::string title = plots.empty() ? "joulecast" : figure_text(plots.front().title);
    std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" + title +
                       "</title>\n<style>body{margin:0;background:white}.plot{width:100%;height:min(94vh,720px)}"
                       "</style>\n<script>" +
                       plotly + "</script>\n</head>\n<body>\n";
    for (std::size_t i = 0; i < plots.size(); ++i) {
        const std::string id = "plot" + std::to_string(i);
        page += "<div class=\"plot\" id=\"" + id +
                "\"></div>\n<script>(function(){const figure=" + to_figure_json(plots[i]) + ";Plotly.newPlot(\"" + id +
                "\",figure.data,figure.layout,{responsive:true,displaylogo:false});})();</script>\n";
    }
    return page + "</body>\n</html>\n";
}

}  // namespace joulecast
