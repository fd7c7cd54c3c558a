#include <algorithm>
#include <cmath>
#include <set>

#include "joulecast/report/chapters.h"

namespace joulecast {
namespace {

/// Value with its interval.
struct Bounded {
    double value = 0;
    double low = 0;
    double high = 0;
};

template <class Unit>
Bounded bounded(const Estimate<Unit>& e) {
    return {e.value.value(), e.low.value(), e.high.value()};
}

struct ClockMetric {
    const char* name;
    PlotAxis axis;
    Bounded (*at)(const ClockCost&);
    bool has_optimum;
};

/// Energy times delay. Its errors go together in part, so the products of the bounds are wider than 90 %.
Bounded energy_delay(const ClockCost& cost) {
    const Bounded t = bounded(cost.time);
    const Bounded e = bounded(cost.energy);
    return {t.value * e.value, t.low * e.low, t.high * e.high};
}

/// The clock with the smallest value; absent where none is known.
std::optional<std::size_t> best_clock(const std::vector<ClockCost>& clocks, const ClockMetric& metric) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < clocks.size(); ++i) {
        const double value = metric.at(clocks[i]).value;
        if (std::isfinite(value) && (!best || value < metric.at(clocks[*best]).value)) best = i;
    }
    return best;
}

Plot over_clocks(const ClockMetric& metric, const std::string& label, const std::vector<ClockCost>& clocks) {
    Plot plot{std::string(metric.name) + " over the clock: " + label, "", {"core clock", "MHz"}, metric.axis, {}, {}};
    PlotSeries line{metric.name, PlotSeries::Style::line, {}, {}};
    for (const ClockCost& cost : clocks) {
        const Bounded value = metric.at(cost);
        line.x.push_back(cost.clock_mhz);
        line.y.push_back(value.value);
        line.low.push_back(value.low);
        line.high.push_back(value.high);
    }
    plot.series.push_back(std::move(line));
    const auto best = best_clock(clocks, metric);
    if (metric.has_optimum && best) {
        const double clock = clocks[*best].clock_mhz;
        plot.series.push_back({"optimum: " + std::to_string(std::llround(clock)) + " MHz",
                               PlotSeries::Style::emphasis,
                               {clock},
                               {metric.at(clocks[*best]).value}});
    }
    return plot;
}

/// What the best clock saves against the highest.
std::string saving_text(const std::vector<ClockCost>& clocks, const ClockMetric& metric) {
    const auto best = best_clock(clocks, metric);
    if (!best) return "";
    const ClockCost& chosen = clocks[*best];
    const ClockCost& highest = clocks.back();
    const double saved = 1 - metric.at(chosen).value / metric.at(highest).value;
    const double slower = chosen.time.value / highest.time.value - 1;
    return std::string(metric.name) + " is least at " + std::to_string(std::llround(chosen.clock_mhz)) +
           " MHz: " + show(saved, Show::percent) + " below that at " + std::to_string(std::llround(highest.clock_mhz)) +
           " MHz, for " + show(slower, Show::percent) + " more time. ";
}

void add_cap_note(Chapter& chapter, const std::vector<ClockCost>& clocks) {
    const auto capped = std::ranges::find_if(clocks, [](const ClockCost& cost) {
        return std::isfinite(cost.real_clock_mhz) && cost.real_clock_mhz < cost.clock_mhz - 1;
    });
    if (capped == clocks.end()) return;
    chapter.blocks.emplace_back(Paragraph{"From " + std::to_string(std::llround(capped->clock_mhz)) +
                                              " MHz on the power limit holds the clock at about " +
                                              std::to_string(std::llround(capped->real_clock_mhz)) +
                                              " MHz, whatever is asked for.",
                                          Paragraph::Kind::note});
}

void add_clocks(Chapter& chapter, const std::string& label, const ReportedForecast& forecast) {
    const ClockMetric metrics[] = {
        {"Time", {"time", "s"}, [](const ClockCost& c) { return bounded(c.time); }, false},
        {"Energy", {"energy", "J"}, [](const ClockCost& c) { return bounded(c.energy); }, true},
        {"Energy-delay product", {"energy × time", "J s"}, energy_delay, true},
    };
    chapter.blocks.emplace_back(Heading{label});
    const auto& clocks = forecast.clocks;
    if (clocks.front().energy.known())
        chapter.blocks.emplace_back(Paragraph{saving_text(clocks, metrics[1]) + saving_text(clocks, metrics[2])});
    for (const ClockMetric& metric : metrics) {
        if (!std::isfinite(metric.at(clocks.front()).value)) continue;
        chapter.blocks.emplace_back(drawn(over_clocks(metric, label, clocks), "The band is the 90 % interval"));
    }
    if (!clocks.front().energy.known())
        chapter.blocks.emplace_back(Paragraph{
            "No energy over the clock: " + forecast.network.energy_missing_reason + ".", Paragraph::Kind::note});
    add_cap_note(chapter, clocks);
}

}  // namespace

Chapter clocks_chapter(const std::vector<ReportedForecast>& forecasts) {
    Chapter chapter{"Over the clock", {}};
    const auto names = labels(forecasts);
    std::set<std::string> reasons;
    std::size_t shown = 0;
    for (std::size_t i = 0; i < forecasts.size(); ++i) {
        if (forecasts[i].clocks.empty()) {
            if (!forecasts[i].clocks_missing_reason.empty()) reasons.insert(forecasts[i].clocks_missing_reason);
        } else if (shown < most_detailed_forecasts) {
            add_clocks(chapter, names[i], forecasts[i]);
            ++shown;
        }
    }
    for (const std::string& reason : reasons)
        chapter.blocks.emplace_back(Paragraph{"Not shown: " + reason + ".", Paragraph::Kind::note});
    return chapter;
}

}  // namespace joulecast
