#include <array>
#include <cmath>
#include <set>

#include "joulecast/report/chapters.h"

namespace joulecast {
namespace {

constexpr std::array all_evidence = {Evidence::measured, Evidence::interpolated, Evidence::extrapolated,
                                     Evidence::analytic, Evidence::unknown};
constexpr std::array all_power_evidence = {PowerEvidence::measured, PowerEvidence::learned, PowerEvidence::shared,
                                           PowerEvidence::physical, PowerEvidence::none};

// From what is known best to what is not known; the last of both lists is "unknown".
constexpr std::array evidence_colours = {"#1B7A4B", "#63AE6B", "#E3B23C", "#C9722D", "#8A8F98"};

/// One bar for each forecast, of one part for each kind of evidence.
template <class Kinds, class Shares>
Plot evidence_plot(const std::string& title, const std::vector<ReportedForecast>& forecasts, const Kinds& kinds,
                   Shares shares) {
    Plot plot{title, "", {"share", "%"}, {""}, {}, {}};
    const auto bars = named_bars(forecasts);
    for (const NamedBar& bar : bars) plot.y.labels.push_back(bar.name);
    plot.stacked = true;
    for (std::size_t place = 0; place < kinds.size(); ++place) {
        const auto kind = kinds[place];
        PlotSeries series{std::string(name(kind)), PlotSeries::Style::lying_bars, {}, {}};
        series.colour = evidence_colours[place];
        double most = 0;
        for (std::size_t i = 0; i < forecasts.size(); ++i) {
            const auto& of_forecast = shares(forecasts[bars[i].forecast].network);
            const auto found = of_forecast.find(kind);
            const double share = found == of_forecast.end() ? 0 : found->second;
            series.x.push_back(100 * share);
            series.y.push_back(static_cast<double>(i));
            most = std::max(most, share);
        }
        if (most > 0) plot.series.push_back(std::move(series));
    }
    plot.height_px = 110 + 40 * static_cast<double>(forecasts.size());
    return plot;
}

void add_texts(Chapter& chapter, const std::vector<ReportedForecast>& forecasts) {
    std::set<std::string> said;
    const auto say = [&](const std::string& text, Paragraph::Kind kind) {
        if (!text.empty() && said.insert(text).second) chapter.blocks.emplace_back(Paragraph{text, kind});
    };
    for (const ReportedForecast& forecast : forecasts) {
        const NetworkForecast& n = forecast.network;
        say(forecast.origin, Paragraph::Kind::plain);
        say(forecast.note, Paragraph::Kind::note);
        if (n.host_evidence != Evidence::measured)
            say("Host " + std::string(name(n.point.host)) + " on " + forecast.device.display_name + ": " +
                    (n.host_networks > 0
                         ? "what it adds was fitted to " + std::to_string(n.host_networks) +
                               " networks measured from it."
                         : std::string("its overhead was not measured here; the value is from other machines.")),
                Paragraph::Kind::note);
        if (n.unknown_nodes == 0) continue;
        std::string unknown;
        for (const std::string& op : n.unknown_operations) unknown += (unknown.empty() ? "" : ", ") + op;
        say(n.model + ": " + std::to_string(n.unknown_nodes) + " calls have no record (" + unknown +
                "). They are estimated from the bytes of their inputs, so the time is a lower bound.",
            Paragraph::Kind::note);
    }
}

}  // namespace

Chapter evidence_chapter(const std::vector<ReportedForecast>& forecasts) {
    Chapter chapter{"What this rests on", {}};
    chapter.blocks.emplace_back(
        Paragraph{"measured: the operation itself was measured on this device. interpolated: its kind was trained, and "
                  "its sizes lie inside the trained ones. extrapolated: its sizes lie outside, or the device was never "
                  "measured. analytic: a law or the roofline alone. unknown: the operation has no record."});
    SideBySide row;
    row.drawings.push_back(
        drawn(evidence_plot("What the time rests on", forecasts, all_evidence,
                            [](const NetworkForecast& n) -> const auto& { return n.evidence_share; }),
              "Shares of the forecast time"));
    Plot power = evidence_plot("What the power rests on", forecasts, all_power_evidence,
                               [](const NetworkForecast& n) -> const auto& { return n.power_evidence_share; });
    if (!power.series.empty())
        row.drawings.push_back(
            drawn(std::move(power), "Shares of the operations' energy, by how their power is known"));
    chapter.blocks.emplace_back(std::move(row));
    add_texts(chapter, forecasts);
    return chapter;
}

}  // namespace joulecast
