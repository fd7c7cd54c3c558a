#include <algorithm>
#include <cmath>

#include "joulecast/report/chapters.h"

namespace joulecast {
namespace {

Plot memory_plot(const std::string& label, const ReportedForecast& forecast) {
    Plot plot{"Memory over time: " + label, "", {"call"}, {"bytes alive", "B"}, {}, {}};
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
        plot.series.push_back({"the device's memory", PlotSeries::Style::dashed, {0, end}, {memory, memory}});
    const double reserved = forecast.network.memory_plan ? forecast.network.memory_plan->reserved_bytes : 0;
    if (std::isfinite(reserved) && reserved > 0)
        plot.series.push_back(
            {"taken by PyTorch's allocator", PlotSeries::Style::dashed, {0, end}, {reserved, reserved}});
    plot.series.push_back(std::move(line));
    plot.series.push_back({"peak " + show(most, Show::bytes) + " in " + forecast.alive[peak].call,
                           PlotSeries::Style::emphasis,
                           {static_cast<double>(peak)},
                           {most}});
    return plot;
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
    std::size_t shown = 0;
    for (std::size_t i = 0; i < forecasts.size(); ++i) {
        const ReportedForecast& forecast = forecasts[i];
        if (forecast.alive.empty()) {
            if (!forecast.network.memory_missing_reason.empty())
                chapter.blocks.emplace_back(Paragraph{
                    "Memory of " + names[i] + " is not known: " + forecast.network.memory_missing_reason + ".",
                    Paragraph::Kind::note});
        } else if (shown < most_detailed_forecasts) {
            chapter.blocks.emplace_back(drawn(memory_plot(names[i], forecast)));
            if (!forecast.network.overflow.empty())
                chapter.blocks.emplace_back(
                    Paragraph{names[i] + " " + forecast.network.overflow + ".", Paragraph::Kind::note});
            ++shown;
        }
    }
    return chapter;
}

}  // namespace joulecast
