#include <algorithm>
#include <cmath>

#include "joulecast/report/chapters.h"

namespace joulecast {
namespace {

struct ComparedMetric {
    const char* title;
    PlotAxis axis;
    Show show;
    /// The value with its interval, whatever the unit.
    std::vector<double> (*value)(const NetworkForecast&);
};

template <class Unit>
std::vector<double> bounds_of(const Estimate<Unit>& estimate) {
    return {estimate.value.value(), estimate.low.value(), estimate.high.value()};
}

std::vector<double> time_of(const NetworkForecast& n) {
    return bounds_of(n.time);
}
std::vector<double> energy_of(const NetworkForecast& n) {
    return bounds_of(n.energy);
}

/// A lying bar for each forecast whose value is known, with the number beside its name.
Plot compared(const ComparedMetric& metric, const std::vector<ReportedForecast>& forecasts) {
    Plot plot{metric.title, "", metric.axis, {""}, {}, {}};
    const auto names = labels(forecasts);
    for (const auto& [i, title] : named_bars(forecasts)) {
        const auto value = metric.value(forecasts[i].network);
        if (!std::isfinite(value[0])) continue;
        const auto row = static_cast<double>(plot.y.labels.size());
        const std::string number = show(value[0], metric.show);
        PlotSeries bar{names[i], PlotSeries::Style::lying_bars, {value[0]}, {row}, {value[1]}, {value[2]}};
        bar.texts = {names[i] + ": " + number + " (90 %: " + show(value[1], metric.show) + " to " +
                     show(value[2], metric.show) + ")"};
        bar.colour = colour_of_forecast(i);
        plot.y.labels.push_back(title + "\n" + number);
        plot.series.push_back(std::move(bar));
    }
    plot.has_legend = false;
    plot.is_overlaid = true;
    plot.height_px = std::max(300.0, 90 + 56 * static_cast<double>(plot.y.labels.size()));
    return plot;
}

/// Time and energy of a setting's forecasts that no other of them beats in both, the fastest first.
PlotSeries pareto_front(const std::vector<ReportedForecast>& forecasts, const ComparedSetting& setting) {
    std::vector<std::size_t> sorted;
    for (const std::size_t i : setting.forecasts) {
        if (forecasts[i].network.energy.known()) sorted.push_back(i);
    }
    std::ranges::stable_sort(sorted, {}, [&](std::size_t i) {
        const NetworkForecast& n = forecasts[i].network;
        return std::pair(n.time.value.value(), n.energy.value.value());
    });
    PlotSeries front{"best trade-offs (Pareto front)", PlotSeries::Style::dashed, {}, {}};
    if (!setting.name.empty()) front.name += ": " + setting.name;
    for (const std::size_t i : sorted) {
        const NetworkForecast& n = forecasts[i].network;
        if (!front.y.empty() && n.energy.value.value() >= front.y.back()) continue;
        front.x.push_back(n.time.value.value());
        front.y.push_back(n.energy.value.value());
    }
    return front;
}

/// Lower left is better.
Plot trade_off(const std::vector<ReportedForecast>& forecasts) {
    Plot plot{"Time against energy", "", {"time of a call", "s"}, {"energy of a call", "J"}, {}, {}};
    const auto names = labels(forecasts);
    for (std::size_t i = 0; i < forecasts.size(); ++i) {
        const NetworkForecast& n = forecasts[i].network;
        if (!n.energy.known()) continue;
        const auto time = time_of(n);
        const auto energy = energy_of(n);
        PlotSeries point{names[i], PlotSeries::Style::points, {time[0]}, {energy[0]}, {energy[1]}, {energy[2]}};
        point.x_low = {time[1]};
        point.x_high = {time[2]};
        point.sizes = {11};
        point.texts = {names[i] + ": " + show(time[0], Show::seconds) + ", " + show(energy[0], Show::joules)};
        point.colour = colour_of_forecast(i);
        plot.series.push_back(std::move(point));
    }
    if (plot.series.empty()) return plot;
    for (const ComparedSetting& setting : compared_settings(forecasts)) {
        PlotSeries front = pareto_front(forecasts, setting);
        if (front.x.size() > 1) plot.series.push_back(std::move(front));
    }
    plot.height_px = std::max(300.0, 260 + 20 * static_cast<double>(plot.series.size()));
    return plot;
}

}  // namespace

Chapter devices_chapter(const std::vector<ReportedForecast>& forecasts) {
    Chapter chapter{"Side by side", {}};
    if (forecasts.size() < 2) return chapter;
    const ComparedMetric metrics[] = {
        {"Time of a call", {"time", "s"}, Show::seconds, time_of},
        {"Energy of a call", {"energy", "J"}, Show::joules, energy_of},
    };
    SideBySide row{{}, 3};
    for (const ComparedMetric& metric : metrics) {
        Plot plot = compared(metric, forecasts);
        if (plot.series.empty())
            chapter.blocks.emplace_back(
                Paragraph{std::string(metric.title) + " is known of none of these.", Paragraph::Kind::note});
        else
            row.drawings.push_back(drawn(std::move(plot), "Whiskers are 90 % intervals"));
    }
    Plot plot = trade_off(forecasts);
    if (!plot.series.empty()) row.drawings.push_back(drawn(std::move(plot), "Lower left is better"));
    chapter.blocks.emplace_back(std::move(row));
    return chapter;
}

}  // namespace joulecast
