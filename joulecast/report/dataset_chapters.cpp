#include "joulecast/report/dataset_chapters.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "joulecast/graph/symbol_values.h"

namespace joulecast {
namespace {

Cell finite_or_dash(double value) {
    return std::isfinite(value) ? Cell(value) : Cell();
}

const std::vector<Column<RowGroup>>& group_columns() {
    using G = RowGroup;
    static const std::vector<Column<G>> list = {
        {"kind", "kind", Show::text, [](const G& g) { return g.kind; }},
        {"device", "device", Show::text, [](const G& g) { return g.device; }},
        {"mode", "mode", Show::text, [](const G& g) { return g.mode; }},
        {"host", "host", Show::text, [](const G& g) { return g.host; }},
        {"outcome", "outcome", Show::text, [](const G& g) { return g.outcome; }},
        {"rows", "rows", Show::count, [](const G& g) { return g.rows; }},
        {"sessions", "sessions", Show::count, [](const G& g) { return g.sessions; }},
        {"wall_s", "took", Show::seconds, [](const G& g) { return finite_or_dash(g.wall_s); }},
        {"worker", "worker", Show::text, [](const G& g) { return g.worker; }},
        {"source", "source", Show::text, [](const G& g) { return g.source; }},
    };
    return list;
}

const std::vector<Column<Accuracy>>& accuracy_columns() {
    using A = Accuracy;
    static const std::vector<Column<A>> list = {
        {"metric", "metric", Show::text, [](const A& a) { return metric_word(a.metric); }},
        {"device", "device", Show::text, [](const A& a) { return a.device; }},
        {"math", "math", Show::text, [](const A& a) { return a.math; }},
        {"family", "family", Show::text, [](const A& a) { return a.family; }},
        {"rows", "rows", Show::count, [](const A& a) { return a.rows; }},
        {"groups", "shapes", Show::count, [](const A& a) { return a.groups; }},
        {"r2", "R²", Show::number, [](const A& a) { return finite_or_dash(a.r2); }},
        {"r2_log", "R² log", Show::number, [](const A& a) { return finite_or_dash(a.r2_log); }},
        {"mape", "MAPE", Show::percent, [](const A& a) { return finite_or_dash(a.mape); }},
        {"median_ape", "median", Show::percent, [](const A& a) { return finite_or_dash(a.median_ape); }},
        {"bias", "bias", Show::percent, [](const A& a) { return finite_or_dash(a.bias); }},
        {"interval_coverage", "in 90 %", Show::percent, [](const A& a) { return finite_or_dash(a.interval.share); }},
        {"interval_coverage_low", "from", Show::percent,
         [](const A& a) { return finite_or_dash(a.interval.bounds.low); }},
        {"interval_coverage_high", "to", Show::percent,
         [](const A& a) { return finite_or_dash(a.interval.bounds.high); }},
    };
    return list;
}

const std::vector<Column<NetworkAccuracy>>& network_columns() {
    using N = NetworkAccuracy;
    static const std::vector<Column<N>> list = {
        {"network", "network", Show::text, [](const N& n) { return n.network; }},
        {"device", "device", Show::text, [](const N& n) { return n.device; }},
        {"symbols", "sizes", Show::text, [](const N& n) { return values_text(n.symbols); }},
        {"mode", "mode", Show::text, [](const N& n) { return std::string(name(n.mode)); }},
        {"precision", "precision", Show::text, [](const N& n) { return n.precision; }},
        {"host", "host", Show::text, [](const N& n) { return std::string(name(n.host)); }},
        {"measured_time_s", "measured", Show::seconds, [](const N& n) { return finite_or_dash(n.measured_time_s); }},
        {"predicted_time_s", "forecast", Show::seconds,
         [](const N& n) { return finite_or_dash(n.predicted_time.value.value()); }},
        {"error", "error", Show::percent,
         [](const N& n) { return finite_or_dash(n.predicted_time.value.value() / n.measured_time_s - 1); }},
        {"inside_interval", "in 90 %", Show::text, [](const N& n) { return Cell(n.inside_interval); }},
        {"measured_energy_j", "energy", Show::joules, [](const N& n) { return finite_or_dash(n.measured_energy_j); }},
        {"predicted_energy_j", "forecast", Show::joules,
         [](const N& n) { return finite_or_dash(n.predicted_energy.value.value()); }},
        {"energy_error", "error", Show::percent,
         [](const N& n) { return finite_or_dash(n.predicted_energy.value.value() / n.measured_energy_j - 1); }},
    };
    return list;
}

struct MetricText {
    const char* metric;
    const char* title;
    PlotAxis measured, forecast;
};

const std::vector<MetricText>& metric_texts() {
    static const std::vector<MetricText> list = {
        {"time_s", "Time", {"measured time", "s", true}, {"forecast time", "s", true}},
        {"power_w", "Power", {"measured power", "W", true}, {"forecast power", "W", true}},
        {"energy_j", "Energy", {"measured energy", "J", true}, {"forecast energy", "J", true}},
        {"peak_memory_bytes", "Peak memory", {"measured memory", "B", true}, {"forecast memory", "B", true}},
    };
    return list;
}

constexpr std::size_t most_points = 3000;
constexpr std::size_t band_steps = 24;

using RowList = std::vector<const OutOfFoldRow*>;

double middle(std::vector<double>& values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

/// The line of equal values, with the median of the 90 % intervals around it at each size of the forecast.
PlotSeries interval_band(const RowList& rows) {
    PlotSeries line{"90 % interval", PlotSeries::Style::line, {}, {}};
    RowList sorted = rows;
    std::erase_if(sorted, [](const OutOfFoldRow* r) { return !(r->low > 0) || !std::isfinite(r->high); });
    std::ranges::sort(sorted, {}, [](const OutOfFoldRow* r) { return r->predicted; });
    const std::size_t step = std::max<std::size_t>(1, sorted.size() / band_steps);
    for (std::size_t from = 0; from < sorted.size(); from += step) {
        std::vector<double> predicted, low, high;
        for (std::size_t i = from; i < std::min(from + step, sorted.size()); ++i) {
            predicted.push_back(sorted[i]->predicted);
            low.push_back(sorted[i]->low / sorted[i]->predicted);
            high.push_back(sorted[i]->high / sorted[i]->predicted);
        }
        const double at = middle(predicted);
        line.x.push_back(at);
        line.y.push_back(at);
        line.low.push_back(at * middle(low));
        line.high.push_back(at * middle(high));
    }
    return line;
}

std::string point_text(const OutOfFoldRow& row) {
    return row.group.substr(0, 140) + ": measured " + show(row.measured, Show::number) + ", forecast " +
           show(row.predicted, Show::number);
}

Plot held_out_plot(const MetricText& text, const std::string& title, const RowList& rows) {
    Plot plot{std::string(text.title) + ": " + title, "", text.forecast, text.measured, {}, {}};
    plot.series.push_back(interval_band(rows));
    std::map<std::string, PlotSeries> families;
    const std::size_t step = (rows.size() + most_points - 1) / most_points;
    for (std::size_t i = 0; i < rows.size(); i += step) {
        PlotSeries& series =
            families.try_emplace(rows[i]->family, PlotSeries{rows[i]->family, PlotSeries::Style::points, {}, {}})
                .first->second;
        series.x.push_back(rows[i]->predicted);
        series.y.push_back(rows[i]->measured);
        series.texts.push_back(point_text(*rows[i]));
    }
    for (auto& [family_name, series] : families) plot.series.push_back(std::move(series));
    if (step > 1)
        plot.subtitle = "One row in " + std::to_string(step) + " of " + std::to_string(rows.size()) + " is drawn";
    plot.height_px = 520;
    return plot;
}

template <class Unit>
void add_network_point(PlotSeries& series, const NetworkAccuracy& n, const Estimate<Unit>& forecast, double measured) {
    if (!forecast.known() || !std::isfinite(measured)) return;
    series.x.push_back(measured);
    series.y.push_back(forecast.value.value());
    series.low.push_back(forecast.low.value());
    series.high.push_back(forecast.high.value());
    series.texts.push_back(n.network + ", " + values_text(n.symbols) + ", " + std::string(name(n.mode)) + ", " +
                           n.precision + " on " + n.device + ": error " +
                           show(forecast.value.value() / measured - 1, Show::percent));
}

Plot network_plot(const MetricText& text, const ReportedDataset& dataset, bool energy) {
    Plot plot{std::string(text.title) + " of networks", "", text.measured, text.forecast, {}, {}};
    std::map<std::string, PlotSeries> series;
    for (const NetworkAccuracy& n : dataset.networks) {
        const std::string called = n.device + ", " + std::string(name(n.mode)) + ", " + n.precision;
        PlotSeries& points =
            series.try_emplace(called, PlotSeries{called, PlotSeries::Style::points, {}, {}}).first->second;
        if (energy)
            add_network_point(points, n, n.predicted_energy, n.measured_energy_j);
        else
            add_network_point(points, n, n.predicted_time, n.measured_time_s);
    }
    double from = INFINITY, to = 0;
    for (auto& [called, points] : series) {
        for (const double x : points.x) {
            from = std::min(from, x);
            to = std::max(to, x);
        }
        if (!points.x.empty()) plot.series.push_back(std::move(points));
    }
    if (to > 0) plot.series.push_back({"equal", PlotSeries::Style::dashed, {from, to}, {from, to}});
    plot.height_px = 500;
    return plot;
}

double mean_error(const std::vector<NetworkAccuracy>& networks, bool energy, std::size_t& counted) {
    double sum = 0;
    counted = 0;
    for (const NetworkAccuracy& n : networks) {
        const double error = energy ? n.predicted_energy.value.value() / n.measured_energy_j - 1
                                    : n.predicted_time.value.value() / n.measured_time_s - 1;
        if (!std::isfinite(error)) continue;
        sum += std::abs(error);
        ++counted;
    }
    return sum / static_cast<double>(counted);
}

std::string dataset_summary(const ReportedDataset& dataset) {
    std::int64_t operations = 0, networks = 0;
    std::set<std::string> devices;
    for (const RowGroup& group : dataset.groups) {
        (group.kind == "network" ? networks : operations) += group.rows;
        devices.insert(group.device);
    }
    std::string text = "The database holds " + std::to_string(operations) + " measured operations and " +
                       std::to_string(networks) + " measured networks of " + std::to_string(devices.size()) +
                       (devices.size() == 1 ? " device." : " devices.");
    for (const Accuracy& a : over_modes(dataset.held_out)) {
        if (a.model != "joulecast" || a.family != "all" || a.metric != "time_s") continue;
        text += " Times of operations held out on " + a.device + " (" + a.math + ") are forecast to " +
                show(a.mape, Show::percent) + " on average, " + show(a.median_ape, Show::percent) + " in the median.";
    }
    std::size_t counted = 0;
    const double error = mean_error(dataset.networks, false, counted);
    if (counted > 0)
        text += " Times of " + std::to_string(counted) + " networks, each left out with all its operations, to " +
                show(error, Show::percent) + ".";
    return text;
}

}  // namespace

std::string metric_word(const std::string& metric) {
    for (const auto& [name, word] : {std::pair("time_s", "time"), std::pair("power_w", "power"),
                                     std::pair("energy_j", "energy"), std::pair("peak_memory_bytes", "peak memory")}) {
        if (metric == name) return word;
    }
    return metric;
}

std::vector<Accuracy> over_modes(std::span<const OutOfFoldRow> rows) {
    auto lines = accuracies(rows);
    std::set<std::tuple<std::string, std::string, std::string, std::string>> with_both;
    for (const Accuracy& a : lines) {
        if (a.mode == "all") with_both.emplace(a.model, a.metric, a.device, a.math);
    }
    std::erase_if(lines, [&](const Accuracy& a) {
        return a.mode != "all" && with_both.contains({a.model, a.metric, a.device, a.math});
    });
    return lines;
}

Chapter contents_chapter(const ReportedDataset& dataset) {
    Chapter chapter{"What was measured", {}};
    chapter.blocks.emplace_back(TitledTable{"Rows", fill(group_columns(), dataset.groups)});
    return chapter;
}

Chapter held_out_chapter(const ReportedDataset& dataset) {
    Chapter chapter{"Measured against forecast: operations", {}};
    if (dataset.held_out.empty()) return chapter;
    chapter.blocks.emplace_back(Paragraph{"Every operation was forecast by models that saw no row of its shape, in " +
                                          std::to_string(dataset.folds) +
                                          " folds, as joulecast validate --split operation does."});
    auto lines = over_modes(dataset.held_out);
    std::erase_if(lines, [](const Accuracy& a) { return a.model != "joulecast"; });
    chapter.blocks.emplace_back(TitledTable{"Accuracy, by family", fill(accuracy_columns(), lines)});
    for (const MetricText& text : metric_texts()) {
        std::map<std::string, RowList> settings;
        for (const OutOfFoldRow& row : dataset.held_out) {
            const bool drawable = row.measured > 0 && row.predicted > 0;
            if (row.model == "joulecast" && row.metric == text.metric && drawable)
                settings[row.device + ", " + row.math].push_back(&row);
        }
        for (const auto& [title, rows] : settings) chapter.blocks.emplace_back(drawn(held_out_plot(text, title, rows)));
    }
    return chapter;
}

Chapter networks_chapter(const ReportedDataset& dataset) {
    Chapter chapter{"Measured against forecast: networks", {}};
    if (dataset.networks.empty()) {
        if (!dataset.left_out_reason.empty())
            chapter.blocks.emplace_back(Paragraph{dataset.left_out_reason, Paragraph::Kind::note});
        return chapter;
    }
    std::size_t with_time = 0, with_energy = 0;
    const double time_error = mean_error(dataset.networks, false, with_time);
    const double energy_error = mean_error(dataset.networks, true, with_energy);
    std::string text =
        "Each network was forecast without any operation that it calls, as joulecast validate --split "
        "network does. Mean error of time " +
        show(time_error, Show::percent) + " (n = " + std::to_string(with_time) + ")";
    if (with_energy > 0)
        text += ", of energy " + show(energy_error, Show::percent) + " (n = " + std::to_string(with_energy) + ")";
    chapter.blocks.emplace_back(Paragraph{text + "."});
    chapter.blocks.emplace_back(drawn(network_plot(metric_texts()[0], dataset, false), "Whiskers are 90 % intervals"));
    if (with_energy > 0)
        chapter.blocks.emplace_back(
            drawn(network_plot(metric_texts()[2], dataset, true), "Whiskers are 90 % intervals"));
    chapter.blocks.emplace_back(
        TitledTable{"Networks", without_empty_columns(fill(network_columns(), dataset.networks))});
    return chapter;
}

namespace {

/// Figures that follow each other stand two by two.
Chapter paired(Chapter chapter) {
    std::vector<Block> blocks;
    for (Block& block : chapter.blocks) {
        auto* const drawing = std::get_if<Drawing>(&block);
        auto* const row = blocks.empty() ? nullptr : std::get_if<SideBySide>(&blocks.back());
        if (drawing == nullptr)
            blocks.push_back(std::move(block));
        else if (row != nullptr)
            row->drawings.push_back(std::move(*drawing));
        else
            blocks.emplace_back(SideBySide{{std::move(*drawing)}});
    }
    chapter.blocks = std::move(blocks);
    return chapter;
}

}  // namespace

Page dataset_page(const ReportedDataset& dataset) {
    Page page;
    page.title = "Measurements in " + dataset.file;
    page.summary = dataset_summary(dataset);
    page.chapters = {contents_chapter(dataset), paired(held_out_chapter(dataset)), paired(networks_chapter(dataset)),
                     outliers_chapter(dataset), paired(thesis_chapter(dataset)),   paired(sponner_chapter(dataset))};
    std::erase_if(page.chapters, [](const Chapter& chapter) { return chapter.blocks.empty(); });
    return page;
}

}  // namespace joulecast
