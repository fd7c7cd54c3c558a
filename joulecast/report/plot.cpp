#include "joulecast/report/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

namespace joulecast {

namespace {

using Json = nlohmann::ordered_json;

// The colours of Okabe and Ito, which people with any kind of colour vision can tell apart.
constexpr std::array colours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"};
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

Json trace_of(const PlotSeries& series, const char* colour) {
    std::vector<double> x = series.x;
    std::vector<double> y = series.y;
    thin(x, y);
    Json trace = {{"type", "scatter"}, {"name", series.name}, {"x", numbers(x)}, {"y", numbers(y)}};
    switch (series.style) {
        case PlotSeries::Style::line:
            trace["mode"] = "lines";
            trace["line"] = {{"color", colour}, {"width", 1.6}};
            break;
        case PlotSeries::Style::dashed:
            trace["mode"] = "lines";
            trace["line"] = {{"color", quiet_colour}, {"width", 1.2}, {"dash", "dash"}};
            break;
        case PlotSeries::Style::points:
            trace["mode"] = "markers";
            trace["marker"] = {{"color", colour}, {"size", 5}};
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
    }
    return trace;
}

/// Plotly reads a subset of HTML in its texts; names of ours are text.
std::string as_text(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '<')
            result += "&lt;";
        else if (c == '&')
            result += "&amp;";
        else if (c == '>')
            result += "&gt;";
        else
            result += c;
    }
    return result;
}

Json axis_of(const PlotAxis& axis) {
    Json json = {{"title", {{"text", with_unit(axis)}}}, {"gridcolor", "#e6e6e6"}, {"zeroline", false}};
    json["exponentformat"] = axis.unit.empty() ? "power" : "SI";
    json["automargin"] = true;
    if (axis.logarithmic) json["type"] = "log";
    for (std::size_t i = 0; i < axis.labels.size(); ++i) {
        json["tickvals"].push_back(i);
        json["ticktext"].push_back(as_text(axis.labels[i]));
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
                        {"name", band.name},
                        {"mode", "markers"},
                        {"x", Json::array({nullptr})},
                        {"y", Json::array({nullptr})},
                        {"marker", {{"size", 14}, {"symbol", "square"}, {"color", colour}}}});
    }
}

Json figure(const Plot& plot) {
    Json data = Json::array();
    Json layout = {{"template", "none"}, {"paper_bgcolor", "white"}, {"plot_bgcolor", "white"}};
    std::string title = "<b>" + as_text(plot.title) + "</b>";
    if (!plot.subtitle.empty()) title += "<br><span style=\"font-size:13px\">" + as_text(plot.subtitle) + "</span>";
    layout["title"] = {{"text", title}, {"x", 0.02}, {"xanchor", "left"}, {"font", {{"size", 18}}}};
    layout["font"] = {{"family", "system-ui, sans-serif"}, {"size", 13}, {"color", "#222222"}};
    layout["margin"] = {{"t", 90}, {"r", 30}, {"b", 70}, {"l", 80}};
    layout["legend"] = {{"orientation", "h"}, {"y", -0.18}};
    layout["showlegend"] = true;
    layout["xaxis"] = axis_of(plot.x);
    layout["yaxis"] = axis_of(plot.y);
    layout["shapes"] = Json::array();
    std::size_t next = 0;
    for (PlotSeries series : plot.series) {
        series.name = as_text(series.name);
        const bool coloured = series.style != PlotSeries::Style::dashed && series.style != PlotSeries::Style::emphasis;
        data.push_back(trace_of(series, colours[next % colours.size()]));
        if (coloured) ++next;
    }
    add_bands(plot.bands, data, layout);
    return {{"data", data}, {"layout", layout}};
}

/// JSON that stands in a <script>: nothing in it may end the script. Bytes that are no UTF-8 are replaced.
std::string dumped(const Json& json) {
    std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    for (auto at = text.find('<'); at != std::string::npos; at = text.find('<', at)) text.replace(at, 1, "\\u003c");
    return text;
}

}  // namespace

std::string to_figure_json(const Plot& plot) {
    return dumped(figure(plot));
}

std::string to_html(const std::vector<Plot>& plots, const std::string& plotly) {
    const std::string title = plots.empty() ? "joulecast" : as_text(plots.front().title);
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
