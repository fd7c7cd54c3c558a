#include "joulecast/report/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "joulecast/report/figure_text.h"

namespace joulecast {

namespace {

using Json = nlohmann::ordered_json;

// Those of the palette, for what lies around a line.
constexpr std::array pale_colours = {"rgba(0,114,178,0.2)",    "rgba(213,94,0,0.2)",   "rgba(0,158,115,0.2)",
                                     "rgba(204,121,167,0.25)", "rgba(230,159,0,0.25)", "rgba(86,180,233,0.25)"};
// Where there are more series than colours, the second round has other marks and dashes, and so on.
constexpr std::array marks = {"circle", "square", "diamond", "x", "triangle-up"};
constexpr std::array dashes = {"solid", "dot", "dashdot", "longdash", "dash"};
constexpr std::array band_colours = {"rgba(0,114,178,0.12)", "rgba(230,159,0,0.18)", "rgba(0,158,115,0.14)"};
constexpr const char* quiet_colour = "#777777";
constexpr const char* emphasis_colour = "#B00020";

std::string with_unit(const PlotAxis& axis) {
    return axis.unit.empty() ? axis.title : axis.title + " (" + axis.unit + ")";
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
Json whiskers(const std::vector<double>& values, const PlotSeries& series) {
    std::vector<double> above;
    std::vector<double> below;
    for (std::size_t i = 0; i < values.size(); ++i) {
        above.push_back(series.high[i] - values[i]);
        below.push_back(values[i] - series.low[i]);
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
            {"y", numbers(y)},        {"fill", "toself"},    {"fillcolor", pale_colours[place % pale_colours.size()]},
            {"line", {{"width", 0}}}, {"hoverinfo", "skip"}, {"showlegend", false}};
}

void add_details(const PlotSeries& series, Json& trace) {
    const bool lies = series.style == PlotSeries::Style::lying_bars;
    const bool is_line = series.style == PlotSeries::Style::line || series.style == PlotSeries::Style::dashed;
    if (!series.low.empty() && !is_line)
        trace[lies ? "error_x" : "error_y"] = whiskers(lies ? series.x : series.y, series);
    if (!series.sizes.empty()) trace["marker"]["size"] = numbers(series.sizes);
    if (series.texts.empty()) return;
    trace["hovertext"] = Json::array();
    for (const std::string& text : series.texts) trace["hovertext"].push_back(figure_text(text));
    trace["hoverinfo"] = "text";
}

Json trace_of(const PlotSeries& series, std::size_t place) {
    const char* const colour = palette_colours[place % palette_colours.size()];
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
            trace["line"] = {{"color", quiet_colour}, {"width", 1.2}, {"dash", "dash"}};
            break;
        case PlotSeries::Style::points:
            trace["mode"] = "markers";
            trace["marker"] = {{"color", colour}, {"size", 5}, {"symbol", marks[round % marks.size()]}};
            break;
        case PlotSeries::Style::emphasis:
            trace["mode"] = "markers";
            trace["marker"] = {{"color", emphasis_colour}, {"size", 11}, {"symbol", "circle-open"}};
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
    return trace;
}

Json axis_of(const PlotAxis& axis) {
    Json json = {{"title", {{"text", figure_text(with_unit(axis))}}}, {"gridcolor", "#e6e6e6"}, {"zeroline", false}};
    json["exponentformat"] = axis.unit.empty() ? "power" : "SI";
    json["automargin"] = true;
    if (axis.logarithmic) json["type"] = "log";
    for (std::size_t i = 0; i < axis.labels.size(); ++i) {
        json["tickvals"].push_back(i);
        json["ticktext"].push_back(figure_text(axis.labels[i]));
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

Json figure(const Plot& plot) {
    Json data = Json::array();
    Json layout = {{"template", "none"}, {"paper_bgcolor", "white"}, {"plot_bgcolor", "white"}};
    const bool is_titled = !plot.title.empty() || !plot.subtitle.empty();
    std::string title = "<b>" + figure_text(plot.title) + "</b>";
    if (!plot.subtitle.empty()) title += "<br><span style=\"font-size:13px\">" + figure_text(plot.subtitle) + "</span>";
    if (is_titled) layout["title"] = {{"text", title}, {"x", 0.02}, {"xanchor", "left"}, {"font", {{"size", 18}}}};
    layout["font"] = {{"family", "system-ui, sans-serif"}, {"size", 13}, {"color", "#222222"}};
    layout["margin"] = {{"t", is_titled ? 90 : 20}, {"r", 30}, {"b", 70}, {"l", 80}};
    layout["legend"] = {{"orientation", "h"}, {"y", -0.18}};
    layout["showlegend"] = is_titled || plot.series.size() + plot.bands.size() > 1;
    layout["xaxis"] = axis_of(plot.x);
    layout["yaxis"] = axis_of(plot.y);
    layout["shapes"] = Json::array();
    if (plot.stacked) layout["barmode"] = "stack";
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
