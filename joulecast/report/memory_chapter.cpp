#include <algorithm>
#include <cmath>

#include "joulecast/report/chapters.h"

namespace joulecast {
namespace {

Plot memory_plot(const std::string& label, const ReportedForecast& forecast) {
    Plot plot{label, "", {"call"}, {"bytes alive", "B"}, {}, {}};
    const double resident = forecast.network.resident_bytes;
    const double base = std::isfinite(resident) ? resident : 0;
    PlotSeries line{"alive", PlotSeries::Style::line, {}, {}};
    std::size_t peak = 0;
    for (std::size_t i = 0; i < forecast.alive.size(); ++i) {
        const AliveBytes& alive = forecast.alive[i];
        line.x.push_back(static_cast<double>(i));
        line.y.push_back(base + alive.bytes);
        line.texts.push_back(alive.pass + " " + alive.call + ": " + show(base + alive.bytes, Show::bytes));
        if (alive.bytes > forecast.alive[peak].bytes) peak = i;
        if (plot.bands.empty() || plot.bands.back().name != alive.pass)
            plot.bands.push_back({alive.pass, static_cast<double>(i), static_cast<double>(i)});
        plot.bands.back().to = static_cast<double>(i) + 1;
    }
    if (plot.bands.size() == 1) plot.bands.clear();  // inference: one pass
    const auto end = static_cast<double>(forecast.alive.size());
    if (base > 0) plot.series.push_back({"weights and inputs", PlotSeries::Style::dashed, {0, end}, {base, base}});
    const double memory = forecast.device.memory_bytes;
    const double most = base + forecast.alive[peak].bytes;
    if (std::isfinite(memory) && memory < 4 * most)
        plot.series.push_back(
            {"memory of " + forecast.device.display_name, PlotSeries::Style::dashed, {0, end}, {memory, memory}});
    const double reserved = forecast.network.memory_plan ? forecast.network.memory_plan->reserved_bytes : 0;
    if (std::isfinite(reserved) && reserved > 0)
        plot.series.push_back(
            {"taken by PyTorch's allocator", PlotSeries::Style::dashed, {0, end}, {reserved, reserved}});
    plot.series.push_back(std::move(line));
    plot.series.push_back({"peak " + show(most, Show::bytes) + " in " + forecast.alive[peak].call,
                           PlotSeries::Style::emphasis,
                           {static_cast<double>(peak)},
                           {most}});
    plot.height_px = 340;
    return plot;
}

bool is_same(const ReportedForecast& a, const ReportedForecast& b) {
    return a.network.model == b.network.model &&
           std::ranges::equal(a.alive, b.alive, [](const AliveBytes& x, const AliveBytes& y) {
               return x.pass == y.pass && x.call == y.call && x.bytes == y.bytes;
           });
}

/// What the forecasts that share the figure of this one are called together: by the parts that all of them have.
std::string names_of_same(const std::vector<ReportedForecast>& forecasts, std::size_t place) {
    const auto names = labels(forecasts);
    std::size_t others = 0;
    for (std::size_t i = place + 1; i < forecasts.size(); ++i)
        others += is_same(forecasts[place], forecasts[i]) ? 1 : 0;
    if (others == 0) return names[place];
    return names[place] + ", the same in " + std::to_string(others) + (others == 1 ? " other" : " others");
}

}  // namespace

std::vector<AliveBytes> alive_bytes(const NetworkForecast& forecast, const Graph& graph) {
    std::vector<AliveBytes> alive;
    if (!forecast.memory_plan) return alive;
    for (const MemoryMoment& moment : forecast.memory_plan->timeline) {
        std::string call = "the optimizer's update";
        if (moment.node >= 0) {
            const Node& node = graph.nodes.at(static_cast<std::size_t>(moment.node));
            call = node.operation.target + (node.module_path.empty() ? "" : " in " + node.module_path);
        }
        alive.push_back({std::string(name(moment.pass)), std::move(call), moment.bytes});
    }
    return alive;
}

Chapter memory_chapter(const std::vector<ReportedForecast>& forecasts) {
    Chapter chapter{"Memory over time", {}};
    const auto names = labels(forecasts);
    SideBySide row;
    std::vector<const ReportedForecast*> shown;
    for (std::size_t i = 0; i < forecasts.size(); ++i) {
        const ReportedForecast& forecast = forecasts[i];
        if (forecast.alive.empty()) {
            if (!forecast.network.memory_missing_reason.empty())
                chapter.blocks.emplace_back(Paragraph{
                    "Memory of " + names[i] + " is not known: " + forecast.network.memory_missing_reason + ".",
                    Paragraph::Kind::note});
            continue;
        }
        if (!forecast.network.overflow.empty())
            chapter.blocks.emplace_back(
                Paragraph{names[i] + " " + forecast.network.overflow + ".", Paragraph::Kind::note});
        // Devices seldom change what a network keeps alive: one figure tells of all.
        if (std::ranges::any_of(shown, [&](const ReportedForecast* other) { return is_same(*other, forecast); }))
            continue;
        if (shown.size() == most_detailed_forecasts) continue;
        shown.push_back(&forecast);
        row.drawings.push_back(drawn(memory_plot(names_of_same(forecasts, i), forecast)));
    }
    if (!row.drawings.empty()) chapter.blocks.emplace_back(std::move(row));
    return chapter;
}

}  // namespace joulecast
