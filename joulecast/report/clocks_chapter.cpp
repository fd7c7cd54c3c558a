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
Bounded bounded(const Estimate<Unit>& e, double times = 1) {
    return {times * e.value.value(), times * e.low.value(), times * e.high.value()};
}

struct ClockMetric {
    std::string title;
    std::string note;
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

/// A forecast over the clock, and what it is called here.
struct ClockLine {
    std::string label;
    std::size_t place = 0;
    const ReportedForecast* forecast = nullptr;

    const std::vector<ClockCost>& clocks() const { return forecast->clocks; }
};

/// The clock with the smallest value; absent where none is known.
std::optional<std::size_t> best_clock(const std::vector<ClockCost>& clocks, const ClockMetric& metric) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < clocks.size(); ++i) {
        const double value = metric.at(clocks[i]).value;
        if (std::isfinite(value) && (!best || value < metric.at(clocks[*best]).value)) best = i;
    }
    return best;
}

std::string mhz_text(double clock) {
    return std::to_string(std::llround(clock)) + " MHz";
}

/// All forecasts over each other, each with its best clock marked.
Plot over_clocks(const ClockMetric& metric, const std::vector<ClockLine>& lines) {
    Plot plot{metric.title, "", {"core clock", "MHz"}, metric.axis, {}, {}};
    for (const ClockLine& line : lines) {
        PlotSeries series{line.label, PlotSeries::Style::line, {}, {}};
        series.colour = colour_of_forecast(line.place);
        for (const ClockCost& cost : line.clocks()) {
            const Bounded value = metric.at(cost);
            series.x.push_back(cost.clock_mhz);
            series.y.push_back(value.value);
            series.low.push_back(value.low);
            series.high.push_back(value.high);
        }
        const bool is_known = std::ranges::any_of(series.y, [](double value) { return std::isfinite(value); });
        if (is_known) plot.series.push_back(std::move(series));
    }
    for (const ClockLine& line : lines) {
        const auto best = best_clock(line.clocks(), metric);
        if (!metric.has_optimum || !best) continue;
        const double clock = line.clocks()[*best].clock_mhz;
        PlotSeries mark{"least at " + mhz_text(clock) + (lines.size() > 1 ? ": " + line.label : ""),
                        PlotSeries::Style::emphasis,
                        {clock},
                        {metric.at(line.clocks()[*best]).value}};
        mark.colour = colour_of_forecast(line.place);
        mark.texts = {mark.name};
        mark.is_listed = lines.size() == 1;  // of several, the table tells
        plot.series.push_back(std::move(mark));
    }
    plot.height_px = 300 + 18 * static_cast<double>(lines.size());
    return plot;
}

bool is_relative(const ClockLine& line) {
    return std::ranges::any_of(line.clocks(), [](const ClockCost& cost) { return cost.relative.time.known(); });
}

/// "33.0 % less (24 % to 41 % less)", "1.1 % more (...)": a ratio as people say it.
std::string change_text(const Estimate<Ratio>& ratio) {
    const auto said = [](double value) {
        return show(std::abs(value - 1), Show::percent) + (value < 1 ? " less" : " more");
    };
    if (!ratio.known()) return "";
    const double a = ratio.low.value();
    const double b = ratio.high.value();
    return said(ratio.value.value()) + " (90 %: " + said(a) + " to " + said(b) + ")";
}

/// A clock of a forecast that one may want.
struct ChosenClock {
    std::string label;
    const char* wish = "";
    double clock_mhz = 0;
    double default_mhz = 0;
    ClockCost cost;
};

/// Relative curves end there: at the lowest clocks they rise tenfold, and would press all else to the ground.
constexpr double most_shown_percent = 250;

/// Slower than this, few people want to save energy.
constexpr double most_slowdown = 1.10;

/// The clock of least energy, and that of those that take at most 10 % more time.
std::vector<ChosenClock> chosen_clocks(const std::vector<ClockLine>& lines) {
    std::vector<ChosenClock> chosen;
    for (const ClockLine& line : lines) {
        std::optional<ClockCost> least;
        std::optional<ClockCost> quick;
        for (const ClockCost& cost : line.clocks()) {
            const Estimate<Ratio>& energy = cost.relative.energy;
            if (!energy.known()) continue;
            if (!least || energy.value < least->relative.energy.value) least = cost;
            if (cost.relative.time.value.value() > most_slowdown) continue;
            if (!quick || energy.value < quick->relative.energy.value) quick = cost;
        }
        const double own = line.forecast->default_clock_mhz;
        const bool is_same = least && quick && least->clock_mhz == quick->clock_mhz;
        if (quick)
            chosen.push_back({line.label, is_same ? "least energy" : "least energy, at most 10 % slower",
                              quick->clock_mhz, own, *quick});
        if (least && !is_same) chosen.push_back({line.label, "least energy", least->clock_mhz, own, *least});
    }
    return chosen;
}

const std::vector<Column<ChosenClock>>& chosen_columns() {
    using C = ChosenClock;
    static const std::vector<Column<C>> list = {
        {"label", "forecast", Show::text, [](const C& c) { return c.label; }},
        {"wish", "wish", Show::text, [](const C& c) { return std::string(c.wish); }},
        {"clock_mhz", "clock", Show::text, [](const C& c) { return mhz_text(c.clock_mhz); }},
        {"default_mhz", "default clock", Show::text,
         [](const C& c) { return std::isfinite(c.default_mhz) ? Cell(mhz_text(c.default_mhz)) : Cell(); }},
        {"energy", "energy", Show::text, [](const C& c) { return change_text(c.cost.relative.energy); }},
        {"time", "time", Show::text, [](const C& c) { return change_text(c.cost.relative.time); }},
    };
    return list;
}

void add_cap_notes(Chapter& chapter, const std::vector<ClockLine>& lines) {
    for (const ClockLine& line : lines) {
        const auto& clocks = line.clocks();
        const auto capped = std::ranges::find_if(clocks, [](const ClockCost& cost) {
            return std::isfinite(cost.real_clock_mhz) && cost.real_clock_mhz < cost.clock_mhz - 1;
        });
        if (capped == clocks.end()) continue;
        chapter.blocks.emplace_back(Paragraph{(lines.size() > 1 ? line.label + ": from " : "From ") +
                                                  mhz_text(capped->clock_mhz) +
                                                  " on the power limit holds the clock at about " +
                                                  mhz_text(capped->real_clock_mhz) + ", whatever is asked for.",
                                              Paragraph::Kind::note});
    }
}

SideBySide figures(const std::vector<ClockMetric>& metrics, const std::vector<ClockLine>& lines, int columns) {
    SideBySide row{{}, columns};
    for (const ClockMetric& metric : metrics) {
        Plot plot = over_clocks(metric, lines);
        if (!plot.series.empty()) row.drawings.push_back(drawn(std::move(plot), metric.note));
    }
    return row;
}

void add_relative(Chapter& chapter, const std::vector<ClockLine>& lines) {
    std::vector<ClockLine> relative;
    std::ranges::copy_if(lines, std::back_inserter(relative), is_relative);
    if (relative.empty()) return;
    const std::string note =
        "100 % is the default clock. The band is the 90 % interval of the ratio: what a forecast misses at both clocks "
        "alike cancels";
    const std::vector<ClockMetric> metrics = {
        {"Time against the default clock",
         note,
         {"time", "%", false, {}, most_shown_percent},
         [](const ClockCost& c) { return bounded(c.relative.time, 100); },
         false},
        {"Energy against the default clock",
         note,
         {"energy", "%", false, {}, most_shown_percent},
         [](const ClockCost& c) { return bounded(c.relative.energy, 100); },
         true},
    };
    chapter.blocks.emplace_back(figures(metrics, relative, 2));
    const auto chosen = chosen_clocks(relative);
    if (!chosen.empty())
        chapter.blocks.emplace_back(
            TitledTable{"Clocks that save energy, against the default clock", fill(chosen_columns(), chosen)});
}

void add_absolute(Chapter& chapter, const std::vector<ClockLine>& lines) {
    const std::string note = "The band is the 90 % interval";
    const std::vector<ClockMetric> metrics = {
        {"Time over the clock", note, {"time", "s"}, [](const ClockCost& c) { return bounded(c.time); }, false},
        {"Energy over the clock", note, {"energy", "J"}, [](const ClockCost& c) { return bounded(c.energy); }, true},
        {"Energy × time over the clock", note, {"energy × time", "J s"}, energy_delay, true},
    };
    Folded folded{"Time, energy and energy × time in seconds and joules", {}};
    folded.blocks.emplace_back(figures(metrics, lines, 3));
    if (std::ranges::any_of(lines, is_relative))
        chapter.blocks.emplace_back(std::move(folded));
    else
        chapter.blocks.emplace_back(figures(metrics, lines, 3));
    for (const ClockLine& line : lines) {
        if (!line.clocks().front().energy.known())
            chapter.blocks.emplace_back(Paragraph{
                "No energy over the clock of " + line.label + ": " + line.forecast->network.energy_missing_reason + ".",
                Paragraph::Kind::note});
    }
}

}  // namespace

Chapter clocks_chapter(const std::vector<ReportedForecast>& forecasts) {
    Chapter chapter{"Over the clock", {}};
    const auto names = labels(forecasts);
    std::set<std::string> reasons;
    std::vector<ClockLine> lines;
    for (std::size_t i = 0; i < forecasts.size(); ++i) {
        if (!forecasts[i].clocks.empty()) {
            if (lines.size() < most_detailed_forecasts) lines.push_back({names[i], i, &forecasts[i]});
        } else if (!forecasts[i].clocks_missing_reason.empty()) {
            reasons.insert(forecasts[i].clocks_missing_reason);
        }
    }
    if (!lines.empty()) {
        add_relative(chapter, lines);
        add_absolute(chapter, lines);
        add_cap_notes(chapter, lines);
    }
    for (const std::string& reason : reasons)
        chapter.blocks.emplace_back(Paragraph{"Not shown: " + reason + ".", Paragraph::Kind::note});
    return chapter;
}

}  // namespace joulecast
