#include <algorithm>
#include <cmath>
#include <map>

#include "joulecast/report/chapters.h"

namespace joulecast {
namespace {

struct ComparedMetric {
    const char* title;
    PlotAxis axis;
    /// The value with its interval, whatever the unit.
    std::vector<double> (*value)(const NetworkForecast&);
};

template <class Unit>
std::vector<double> bounds_of(const Estimate<Unit>& estimate) {
    return {estimate.value.value(), estimate.low.value(), estimate.high.value()};
}

/// The forecast without its device: what is compared.
std::string compared_setting(const ReportedForecast& forecast, const std::vector<ReportedForecast>& forecasts) {
    std::vector<ReportedForecast> same_device;
    std::size_t own = 0;
    for (const ReportedForecast& shown : forecasts) {
        if (&shown == &forecast) own = same_device.size();
        ReportedForecast& copy = same_device.emplace_back();
        copy.network.model = shown.network.model;
        copy.network.symbols = shown.network.symbols;
        copy.network.mode = shown.network.mode;
        copy.network.precision = shown.network.precision;
        copy.network.point.host = shown.network.point.host;
    }
    return labels(same_device)[own];
}

std::string device_label(const ReportedForecast& forecast) {
    const double clock = forecast.network.point.sm_clock_mhz;
    return forecast.device.display_name +
           (std::isfinite(clock) ? " at " + std::to_string(std::llround(clock)) + " MHz" : "");
}

Plot compared(const ComparedMetric& metric, const std::vector<ReportedForecast>& forecasts) {
    Plot plot{metric.title, "", {""}, metric.axis, {}, {}};
    std::map<std::string, double> place_of_setting;
    std::map<std::string, std::size_t> series_of_device;
    for (const ReportedForecast& forecast : forecasts) {
        const auto value = metric.value(forecast.network);
        if (!std::isfinite(value[0])) continue;
        const std::string setting = compared_setting(forecast, forecasts);
        const auto [place, is_new] = place_of_setting.try_emplace(setting, static_cast<double>(plot.x.labels.size()));
        if (is_new) plot.x.labels.push_back(setting);
        const std::string device = device_label(forecast);
        const auto [found, is_new_device] = series_of_device.try_emplace(device, plot.series.size());
        if (is_new_device) plot.series.push_back({device, PlotSeries::Style::bars, {}, {}});
        PlotSeries& series = plot.series[found->second];
        series.x.push_back(place->second);
        series.y.push_back(value[0]);
        series.low.push_back(value[1]);
        series.high.push_back(value[2]);
    }
    return plot;
}

}  // namespace

Chapter devices_chapter(const std::vector<ReportedForecast>& forecasts) {
    Chapter chapter{"Side by side", {}};
    if (forecasts.size() < 2) return chapter;
    const ComparedMetric metrics[] = {
        {"Time", {"time", "s"}, [](const NetworkForecast& n) { return bounds_of(n.time); }},
        {"Energy", {"energy", "J"}, [](const NetworkForecast& n) { return bounds_of(n.energy); }},
        {"Power", {"power", "W"}, [](const NetworkForecast& n) { return bounds_of(n.power); }},
    };
    for (const ComparedMetric& metric : metrics) {
        Plot plot = compared(metric, forecasts);
        if (plot.series.empty()) {
            chapter.blocks.emplace_back(
                Paragraph{std::string(metric.title) + " is known of none of these devices.", Paragraph::Kind::note});
            continue;
        }
        chapter.blocks.emplace_back(drawn(std::move(plot), "Whiskers are 90 % intervals"));
    }
    return chapter;
}

}  // namespace joulecast
