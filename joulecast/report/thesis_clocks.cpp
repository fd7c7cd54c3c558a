// Figures 5.5 to 5.17 of the thesis: networks over the clock.
#include "joulecast/report/thesis_clocks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/graph/symbol_values.h"

namespace joulecast {
namespace {

constexpr std::size_t most_clock_networks = 18;  // figures 5.5 to 5.16
constexpr double height_of_curve_px = 320;

void add_note(Chapter& chapter, const std::string& text) {
    chapter.blocks.emplace_back(Paragraph{text, Paragraph::Kind::note});
}

/// What a network took at each clock.
struct SweptNetwork {
    std::string label;
    std::map<double, std::pair<double, double>> cost;  ///< clock in MHz -> seconds, joules
};

std::vector<SweptNetwork> swept(const ReportedDataset& dataset, const std::string& device, Mode mode) {
    std::map<std::string, SweptNetwork> networks;
    for (const NetworkRow& row : dataset.network_rows) {
        const NetworkMeasurement& m = row.measurement;
        const bool usable = is_timed(m.outcome);
        const double clock = std::isfinite(m.asked.sm_clock_mhz) ? m.asked.sm_clock_mhz : m.real.sm_clock_mhz;
        if (m.real.device != device || m.mode != mode || !usable || !std::isfinite(clock)) continue;
        SweptNetwork& network = networks[with_values(m.model, m.symbols) + ", " + m.precision];
        network.label = with_values(m.model, m.symbols) + ", " + m.precision;
        network.cost[clock] = {m.time.median_s, measured_joules(m)};
    }
    std::vector<SweptNetwork> swept;
    for (auto& [label, network] : networks) {
        if (network.cost.size() >= 3) swept.push_back(std::move(network));
    }
    std::ranges::stable_sort(swept, [](const auto& a, const auto& b) { return a.cost.size() > b.cost.size(); });
    return swept;
}

Plot swept_plot(const std::string& title, const PlotAxis& axis, const std::vector<SweptNetwork>& networks,
                double (*value)(double, double)) {
    Plot plot{title, "", {"core clock", "MHz"}, axis, {}, {}};
    for (std::size_t i = 0; i < std::min(networks.size(), most_clock_networks); ++i) {
        PlotSeries line{networks[i].label, PlotSeries::Style::line, {}, {}};
        for (const auto& [clock, cost] : networks[i].cost) {
            line.x.push_back(clock);
            line.y.push_back(value(cost.first, cost.second));
        }
        plot.series.push_back(std::move(line));
    }
    plot.height_px = 420 + 14 * static_cast<double>(plot.series.size());
    return plot;
}

/// Figures 5.5, 5.7, 5.9, 5.11, 5.13, 5.15 (what was measured) of one device and mode, and 5.17.
void add_clocks_of(Chapter& chapter, const std::vector<SweptNetwork>& networks, const std::string& device, Mode mode) {
    const bool training = mode == Mode::training;
    const std::string where = ", " + std::string(name(mode)) + " on " + device;
    std::string note;
    if (networks.size() > most_clock_networks)
        note = "The " + std::to_string(most_clock_networks) + " of " + std::to_string(networks.size()) +
               " networks measured at most clocks";
    chapter.blocks.emplace_back(
        drawn(swept_plot(std::string("Figure ") + (training ? "5.9" : "5.5") + ": time measured over the clock" + where,
                         {"time", "s", true}, networks, [](double s, double) { return s; }),
              note));
    const bool has_energy = std::ranges::any_of(networks, [](const SweptNetwork& n) {
        return std::ranges::any_of(n.cost, [](const auto& point) { return std::isfinite(point.second.second); });
    });
    if (!has_energy) {
        add_note(chapter, "No energy over the clock" + where + ": no power was measured.");
        return;
    }
    chapter.blocks.emplace_back(drawn(
        swept_plot(std::string("Figure ") + (training ? "5.11" : "5.7") + ": energy measured over the clock" + where,
                   {"energy", "J", true}, networks, [](double, double j) { return j; }),
        note));
    chapter.blocks.emplace_back(
        drawn(swept_plot(std::string("Figure ") + (training ? "5.15" : "5.13") +
                             ": energy-delay product measured over the clock" + where,
                         {"energy × time", "J s", true}, networks, [](double s, double j) { return s * j; }),
              note));
    chapter.blocks.emplace_back(
        drawn(swept_plot("Figure 5.17: energy of one network over the clock" + where, {"energy", "J"},
                         {networks.front()}, [](double, double j) { return j; })));
}

/// A quantity of the thesis' figures over the clock.
struct CurveFigure {
    const char* title;
    const char* in_inference;  ///< numbers of the figures
    const char* in_training;
    PlotAxis axis;
    double (*measured)(const NetworkCurve::Measured&);
    double (*forecast)(double time_s, double energy_j);
};

const std::vector<CurveFigure>& curve_figures() {
    using M = NetworkCurve::Measured;
    static const std::vector<CurveFigure> list = {
        {"time",
         "5.5 and 5.6",
         "5.9 and 5.10",
         {"time", "s"},
         [](const M& m) { return m.time_s; },
         [](double s, double) { return s; }},
        {"energy",
         "5.7 and 5.8",
         "5.11 and 5.12",
         {"energy", "J"},
         [](const M& m) { return m.energy_j; },
         [](double, double j) { return j; }},
        {"energy-delay product",
         "5.13 and 5.14",
         "5.15 and 5.16",
         {"energy × time", "J s"},
         [](const M& m) { return m.time_s * m.energy_j; },
         [](double s, double j) { return s * j; }},
    };
    return list;
}

/// What was measured as points, the forecast as a line with its band.
Plot curve_plot(const NetworkCurve& curve, const CurveFigure& figure) {
    const bool training = curve.mode == Mode::training;
    Plot plot{std::string("Figures ") + (training ? figure.in_training : figure.in_inference) + ": " + figure.title +
                  " of " + with_values(curve.network, curve.symbols) + ", " + std::string(name(curve.mode)) + ", " +
                  curve.precision + ", host " + std::string(name(curve.host)) + ", on " + curve.device,
              "",
              {"core clock", "MHz"},
              figure.axis,
              {},
              {}};
    PlotSeries line{"forecast, 90 %", PlotSeries::Style::line, {}, {}};
    for (const NetworkCurve::Forecast& at : curve.forecast) {
        line.x.push_back(at.clock_mhz);
        line.y.push_back(figure.forecast(at.time.value.value(), at.energy.value.value()));
        line.low.push_back(figure.forecast(at.time.low.value(), at.energy.low.value()));
        line.high.push_back(figure.forecast(at.time.high.value(), at.energy.high.value()));
    }
    PlotSeries points{"measured", PlotSeries::Style::points, {}, {}};
    for (const NetworkCurve::Measured& at : curve.measured) {
        points.x.push_back(at.clock_mhz);
        points.y.push_back(figure.measured(at));
        points.sizes.push_back(9);
    }
    plot.series = {std::move(line), std::move(points)};
    plot.height_px = height_of_curve_px;
    return plot;
}

bool has_values(const Plot& plot) {
    return std::ranges::all_of(plot.series, [](const PlotSeries& series) {
        return std::ranges::any_of(series.y, [](double value) { return std::isfinite(value); });
    });
}

/// Of one device and mode.
void add_curves(Chapter& chapter, const std::vector<const NetworkCurve*>& curves) {
    for (std::size_t i = 0; i < std::min(curves.size(), most_clock_networks); ++i) {
        for (const CurveFigure& figure : curve_figures()) {
            Plot plot = curve_plot(*curves[i], figure);
            if (has_values(plot)) chapter.blocks.emplace_back(drawn(std::move(plot)));
        }
    }
    if (curves.size() > most_clock_networks)
        add_note(chapter, "Shown are " + std::to_string(most_clock_networks) + " of " + std::to_string(curves.size()) +
                              " networks of " + curves.front()->device + " in " +
                              std::string(name(curves.front()->mode)) + ", those measured at most clocks.");
}

/// Figures 5.5 to 5.16, measured and forecast in one picture for each network.
void add_forecast_curves(Chapter& chapter, const ReportedDataset& dataset) {
    std::map<std::pair<std::string, Mode>, std::vector<const NetworkCurve*>> by_device;
    for (const NetworkCurve& curve : dataset.curves) by_device[{curve.device, curve.mode}].push_back(&curve);
    chapter.blocks.emplace_back(Heading{"Measured and forecast over the clock"});
    add_note(
        chapter,
        dataset.curves_are +
            " The band is the 90 % interval. The band of energy × time multiplies the ends of both, so it is wider.");
    for (auto& [device, curves] : by_device) {
        std::ranges::stable_sort(curves, [](const NetworkCurve* a, const NetworkCurve* b) {
            return a->measured.size() > b->measured.size();
        });
        add_curves(chapter, curves);
    }
}

}  // namespace

void add_clock_figures(Chapter& chapter, const ReportedDataset& dataset) {
    std::set<std::string> devices;
    for (const NetworkRow& row : dataset.network_rows) devices.insert(row.measurement.real.device);
    bool any = false;
    for (const std::string& device : devices) {
        for (const Mode mode : {Mode::inference, Mode::training}) {
            const auto networks = swept(dataset, device, mode);
            if (networks.empty()) continue;
            any = true;
            add_clocks_of(chapter, networks, device, mode);
        }
    }
    if (!dataset.curves.empty()) {
        add_forecast_curves(chapter, dataset);
    } else if (any) {
        add_note(chapter,
                 "Figures 5.6, 5.8, 5.10, 5.12, 5.14 and 5.16, forecasts over the clock: --split network leaves these "
                 "networks out and forecasts them, --predictor FILE draws the forecasts of a predictor.");
    } else {
        add_note(chapter,
                 "Figures 5.5 to 5.17: no network was measured at three clocks or more. Import a sweep (joulecast "
                 "import sweep), or measure one (joulecast profile --networks --clocks all).");
    }
}

}  // namespace joulecast
