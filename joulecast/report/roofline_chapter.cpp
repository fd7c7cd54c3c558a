#include <algorithm>
#include <cmath>
#include <map>

#include "joulecast/error.h"
#include "joulecast/physics/roofline.h"
#include "joulecast/report/chapters.h"
#include "joulecast/report/figure_text.h"
#include "joulecast/report/shares.h"

namespace joulecast {
namespace {

/// Rooflines that stand open; the others are behind a click.
constexpr std::size_t most_open = 2;

/// All calls of one operation on the roofline.
struct RooflinePoint {
    Family family = Family::other;
    double flop_per_byte = 0;
    double flop_per_s = 0;
    double share = 0;  ///< of the calls' time
    std::string text;
};

std::vector<RooflinePoint> roofline_points(const NetworkForecast& network) {
    double total_s = 0;
    for (const OperationForecast& operation : network.operations)
        total_s += operation.cost.device_time.value.value() * static_cast<double>(operation.count);
    std::vector<RooflinePoint> points;
    for (const OperationForecast& operation : network.operations) {
        const Counts counts = total_counts(operation.operation);
        const double flop = static_cast<double>(counts.flop) + static_cast<double>(counts.other_flop);
        const double bytes = static_cast<double>(counts.bytes_read) + static_cast<double>(counts.bytes_written);
        const double time_s = operation.cost.device_time.value.value();
        if (!(flop > 0) || !(bytes > 0) || !(time_s > 0)) continue;
        const double share = time_s * static_cast<double>(operation.count) / total_s;
        points.push_back(
            {family(operation.operation), flop / bytes, flop / time_s, share,
             signature(operation.operation).substr(0, 160) + ", " + show(share, Show::percent) + " of the time"});
    }
    return points;
}

/// min(peak, bandwidth x intensity) over the intensities of the points.
PlotSeries roof(const std::string& label, double peak, double bandwidth, double from, double to) {
    PlotSeries line{label, PlotSeries::Style::dashed, {}, {}};
    const double ridge = peak / bandwidth;
    for (const double x : {from, std::clamp(ridge, from, to), to}) {
        line.x.push_back(x);
        line.y.push_back(std::min(peak, bandwidth * x));
    }
    return line;
}

/// The matrix rate at the network's precision: of the type that most of its arithmetic is done in.
double peak_of(const ReportedForecast& forecast) {
    std::map<Dtype, double> flop;
    for (const OperationForecast& operation : forecast.network.operations)
        flop[compute_dtype(operation.operation)] +=
            static_cast<double>(total_counts(operation.operation).flop) * static_cast<double>(operation.count);
    const auto most = std::ranges::max_element(flop, {}, [](const auto& entry) { return entry.second; });
    if (most == flop.end()) return std::nan("");
    return peak_flop_per_s(forecast.device, most->first, forecast.network.point.math);
}

void add_roofline(Chapter& chapter, SideBySide& row, const std::string& label, const ReportedForecast& forecast) {
    const Device& device = forecast.device;
    const double peak = peak_of(forecast);
    const double vector_peak = vector_flop_per_s(device, Dtype::f32);
    const auto points = roofline_points(forecast.network);
    if (points.empty()) return;
    if (!std::isfinite(peak) || !std::isfinite(device.bandwidth_bytes_per_s)) {
        chapter.blocks.emplace_back(Paragraph{"No roofline of " + label + ": the data sheet of " + device.display_name +
                                                  " lacks the peak rate or the bandwidth.",
                                              Paragraph::Kind::note});
        return;
    }
    Plot plot{label, "", {"arithmetic per byte", "FLOP/byte", true}, {"rate", "FLOP/s", true}, {}, {}};
    std::map<std::size_t, PlotSeries> by_kind;
    double from = points.front().flop_per_byte;
    double to = from;
    for (const RooflinePoint& point : points) {
        const WorkKind kind = work_kind(point.family);
        PlotSeries& series =
            by_kind.try_emplace(kind.colour, PlotSeries{kind.name, PlotSeries::Style::points, {}, {}}).first->second;
        series.colour = palette_colours[kind.colour - 1];
        series.x.push_back(point.flop_per_byte);
        series.y.push_back(point.flop_per_s);
        series.texts.push_back(point.text);
        series.sizes.push_back(5 + 40 * std::sqrt(point.share));
        from = std::min(from, point.flop_per_byte);
        to = std::max(to, point.flop_per_byte);
    }
    to = std::max(to, 4 * peak / device.bandwidth_bytes_per_s);
    for (auto& [colour, series] : by_kind) plot.series.push_back(std::move(series));
    plot.series.push_back(roof("roof: matrix products", peak, device.bandwidth_bytes_per_s, from, to));
    if (std::isfinite(vector_peak) && vector_peak < peak)
        plot.series.push_back(roof("roof: vector arithmetic", vector_peak, device.bandwidth_bytes_per_s, from, to));
    plot.height_px = 400;
    row.drawings.push_back(drawn(std::move(plot)));
}

}  // namespace

Chapter roofline_chapter(const std::vector<ReportedForecast>& forecasts) {
    Chapter chapter{"Roofline", {}};
    chapter.blocks.emplace_back(Paragraph{
        "Each mark is one operation at its forecast time; its area is its share of the network's time. Operations near "
        "the slope are limited by memory, those near the flat part by arithmetic, those far below both by neither (too "
        "small, a bad layout, few channels). The roofs are those of the data sheet at its own clocks. Bytes are "
        "counted once each, so an operation whose data stay in the cache may lie above the slope."});
    const auto names = labels(forecasts);
    const std::size_t shown = std::min(forecasts.size(), most_detailed_forecasts);
    SideBySide row;
    SideBySide more;
    for (std::size_t i = 0; i < shown; ++i) add_roofline(chapter, i < most_open ? row : more, names[i], forecasts[i]);
    if (!row.drawings.empty()) chapter.blocks.emplace_back(std::move(row));
    if (!more.drawings.empty()) {
        Folded folded{"Rooflines of the other forecasts", {}};
        folded.blocks.emplace_back(std::move(more));
        chapter.blocks.emplace_back(std::move(folded));
    }
    if (chapter.blocks.size() == 1) chapter.blocks.clear();
    return chapter;
}

}  // namespace joulecast
