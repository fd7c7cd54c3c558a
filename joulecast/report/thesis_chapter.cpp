#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "joulecast/graph/symbol_values.h"
#include "joulecast/report/dataset_chapters.h"
#include "joulecast/report/thesis_clocks.h"

namespace joulecast {
namespace {

constexpr std::size_t shown_examples = 10;  // figures 5.3 and 5.4
/// Sums that hold less of a network's calls than this are no sums of it.
constexpr double least_summed_share = 0.5;

void add_note(Chapter& chapter, const std::string& text) {
    chapter.blocks.emplace_back(Paragraph{text, Paragraph::Kind::note});
}

std::string sized_model(const NetworkMeasurement& m) {
    return with_values(m.model, m.symbols);
}

struct SummedMetric {
    const char* title;
    PlotAxis axis;
    WithError SummedNetwork::* whole;
    WithError SummedNetwork::* sum;
};

/// Networks beside sums of their operations, as the thesis' tables show them: one column of a table.
Plot summed_plot(const std::string& title, const SummedMetric& metric,
                 const std::vector<const SummedNetwork*>& networks) {
    Plot plot{title, "", {""}, metric.axis, {}, {}};
    PlotSeries whole{"measured", PlotSeries::Style::bars, {}, {}};
    PlotSeries sum{"sum of measured operations", PlotSeries::Style::bars, {}, {}};
    const auto add = [](PlotSeries& series, double x, const WithError& value) {
        series.x.push_back(x);
        series.y.push_back(value.value);
        series.low.push_back(value.value - value.half_width);
        series.high.push_back(value.value + value.half_width);
    };
    for (const SummedNetwork* network : networks) {
        const auto x = static_cast<double>(plot.x.labels.size());
        plot.x.labels.push_back(sized_model(network->measurement));
        add(whole, x, network->*metric.whole);
        add(sum, x, network->*metric.sum);
    }
    plot.series = {std::move(whole), std::move(sum)};
    plot.height_px = 440;
    return plot;
}

/// "6.1 % to 9.8 %": of the sums of time of those networks that have such a part at all; how many do.
struct SharesOfSums {
    std::size_t networks = 0;
    std::string range;
};

SharesOfSums shares_of(const std::vector<const SummedNetwork*>& networks, double SummedNetwork::* part) {
    std::vector<double> shares;
    for (const SummedNetwork* network : networks) {
        if (network->*part > 0) shares.push_back(network->*part / network->summed_time_s.value);
    }
    if (shares.empty()) return {};
    const auto [least, most] = std::ranges::minmax(shares);
    return {shares.size(), show(least, Show::percent) + " to " + show(most, Show::percent)};
}

/// What sums hold beyond the networks' own work.
void add_stand_ins(Chapter& chapter, const std::vector<const SummedNetwork*>& networks, const std::string& where) {
    if (const auto shares = shares_of(networks, &SummedNetwork::input_gradient_s); shares.networks > 0)
        add_note(chapter, "The first layer of " + std::to_string(shares.networks) + " networks of " + where +
                              " was measured only with the gradient of its input, which a network's step does not "
                              "compute. By its arithmetic this gradient is " +
                              shares.range + " of the sums of time in tables I and II.");
    if (const auto shares = shares_of(networks, &SummedNetwork::batch_statistics_s); shares.networks > 0)
        add_note(chapter, "Batch norm of " + std::to_string(shares.networks) + " networks of " + where +
                              " was measured only in training state, where it computes its batch's statistics, which "
                              "takes longer. Such calls are " +
                              shares.range + " of the sums of time in tables I and II.");
}

/// Tables I and II of one setting and mode: the smaller half of the networks, and the larger.
void add_sums(Chapter& chapter, const ReportedSetting& setting, Mode mode, const std::string& precision) {
    std::vector<const SummedNetwork*> networks;
    std::size_t without = 0;
    for (const SummedNetwork& sum : setting.sums) {
        if (sum.measurement.mode != mode || sum.measurement.precision != precision) continue;
        if (sum.measured_share() < least_summed_share)
            ++without;
        else
            networks.push_back(&sum);
    }
    const std::string where = setting.device.id + ", " + std::string(name(mode)) + ", " + precision;
    if (without > 0)
        add_note(chapter, std::to_string(without) + " networks of " + where +
                              " are not in tables I and II: fewer than half of their calls were measured.");
    if (networks.empty()) return;
    add_stand_ins(chapter, networks, where);
    std::ranges::sort(networks, {}, [](const SummedNetwork* n) { return n->time_s.value; });
    const std::size_t half = (networks.size() + 1) / 2;
    const std::vector<const SummedNetwork*> smaller(networks.begin(),
                                                    networks.begin() + static_cast<std::ptrdiff_t>(half));
    const std::vector<const SummedNetwork*> larger(networks.begin() + static_cast<std::ptrdiff_t>(half),
                                                   networks.end());
    const SummedMetric metrics[] = {
        {"time", {"time", "s"}, &SummedNetwork::time_s, &SummedNetwork::summed_time_s},
        {"energy", {"energy", "J"}, &SummedNetwork::energy_j, &SummedNetwork::summed_energy_j},
    };
    double share = 0;
    for (const SummedNetwork* network : networks) share += network->measured_share();
    const std::string note = "Whiskers are 95 % intervals, of the sum by propagation; the sums hold " +
                             show(share / static_cast<double>(networks.size()), Show::percent) +
                             " of the networks' calls on average";
    for (const SummedMetric& metric : metrics) {
        const bool known = std::ranges::any_of(networks, [&](const SummedNetwork* n) {
            return std::isfinite((n->*metric.whole).value) && std::isfinite((n->*metric.sum).value);
        });
        if (!known) {
            add_note(chapter,
                     std::string("Tables I and II, ") + metric.title + " of " + where + ": no power was measured.");
            continue;
        }
        chapter.blocks.emplace_back(
            drawn(summed_plot(std::string("Table I: ") + metric.title + " of the smaller networks, " + where, metric,
                              smaller),
                  note));
        if (!larger.empty())
            chapter.blocks.emplace_back(
                drawn(summed_plot(std::string("Table II: ") + metric.title + " of the larger networks, " + where,
                                  metric, larger),
                      note));
    }
}

void add_all_sums(Chapter& chapter, const ReportedDataset& dataset) {
    bool any = false;
    for (const ReportedSetting& setting : dataset.settings) {
        std::set<std::pair<Mode, std::string>> kinds;
        for (const SummedNetwork& sum : setting.sums) kinds.emplace(sum.measurement.mode, sum.measurement.precision);
        for (const auto& [mode, precision] : kinds) add_sums(chapter, setting, mode, precision);
        any |= !kinds.empty();
    }
    if (!any) add_note(chapter, "Tables I and II: the database has no measured networks whose calls it knows.");
}

/// Figures 5.1 and 5.2: energy of the same networks under different hardware configurations.
void add_configurations(Chapter& chapter, const ReportedDataset& dataset, Mode mode) {
    std::map<std::string, std::map<std::string, WithError>> by_network;
    std::set<std::string> configurations;
    for (const NetworkRow& row : dataset.network_rows) {
        const NetworkMeasurement& m = row.measurement;
        if (m.mode != mode || !m.energy || std::isfinite(m.asked.sm_clock_mhz)) continue;
        const double energy_j = measured_joules(m);
        if (!std::isfinite(energy_j)) continue;
        const std::string configuration = m.real.device + ", " + m.precision;
        by_network[sized_model(m)][configuration] = {energy_j, m.energy->half_width_j};
        configurations.insert(configuration);
    }
    const std::string modes(name(mode));
    std::erase_if(by_network, [](const auto& entry) { return entry.second.size() < 2; });
    if (by_network.empty()) {
        add_note(chapter, "Figures 5.1 and 5.2, " + modes +
                              ": no network's energy was measured on two devices or at two precisions.");
        return;
    }
    std::vector<std::string> names;
    for (const auto& [network, values] : by_network) names.push_back(network);
    std::ranges::stable_sort(names, {},
                             [&](const std::string& name) { return by_network[name].begin()->second.value; });
    const std::size_t half = (names.size() + 1) / 2;
    for (const bool larger : {false, true}) {
        Plot plot{std::string(larger ? "Figure 5.2: the larger" : "Figure 5.1: the smaller") + " networks, " + modes,
                  "",
                  {""},
                  {"energy", "J"},
                  {},
                  {}};
        const std::size_t from = larger ? half : 0;
        const std::size_t to = larger ? names.size() : half;
        if (from == to) continue;
        plot.x.labels.assign(names.begin() + static_cast<std::ptrdiff_t>(from),
                             names.begin() + static_cast<std::ptrdiff_t>(to));
        for (const std::string& configuration : configurations) {
            PlotSeries series{configuration, PlotSeries::Style::bars, {}, {}};
            for (std::size_t i = from; i < to; ++i) {
                const auto found = by_network[names[i]].find(configuration);
                if (found == by_network[names[i]].end()) continue;
                series.x.push_back(static_cast<double>(i - from));
                series.y.push_back(found->second.value);
                series.low.push_back(found->second.value - found->second.half_width);
                series.high.push_back(found->second.value + found->second.half_width);
            }
            if (!series.x.empty()) plot.series.push_back(std::move(series));
        }
        chapter.blocks.emplace_back(drawn(std::move(plot), "Energy per call by device and precision"));
    }
}

/// Tables 5.1 to 5.4: R2 of the thesis' two learners, with ours beside them.
void add_scores(Chapter& chapter, const ReportedDataset& dataset) {
    using A = Accuracy;
    static const std::vector<Column<A>> columns = {
        {"device", "device", Show::text, [](const A& a) { return a.device; }},
        {"math", "math", Show::text, [](const A& a) { return a.math; }},
        {"mode", "mode", Show::text, [](const A& a) { return a.mode; }},
        {"metric", "metric", Show::text, [](const A& a) { return metric_word(a.metric); }},
        {"model", "model", Show::text, [](const A& a) { return a.model; }},
        {"rows", "rows", Show::count, [](const A& a) { return a.rows; }},
        {"r2_fold_mean", "CV R²", Show::number,
         [](const A& a) { return std::isfinite(a.r2_fold_mean) ? Cell(a.r2_fold_mean) : Cell(); }},
        {"r2_fold_std", "±", Show::number,
         [](const A& a) { return std::isfinite(a.r2_fold_std) ? Cell(a.r2_fold_std) : Cell(); }},
        {"r2", "R² of all", Show::number, [](const A& a) { return std::isfinite(a.r2) ? Cell(a.r2) : Cell(); }},
        {"mape", "MAPE", Show::percent, [](const A& a) { return std::isfinite(a.mape) ? Cell(a.mape) : Cell(); }},
    };
    auto lines = accuracies(dataset.held_out);
    std::erase_if(lines, [](const A& a) {
        const bool ours = a.model == "joulecast" || a.model == "thesis_forest" || a.model == "thesis_xgboost";
        const bool metric = a.metric == "time_s" || a.metric == "power_w";
        return a.family != "all" || !ours || !metric || a.mode == "all";
    });
    if (lines.empty()) {
        add_note(chapter, "Tables 5.1 to 5.4: no operations were held out.");
        return;
    }
    std::ranges::stable_sort(lines, {}, [](const A& a) { return std::tuple(a.device, a.math, a.mode, a.metric); });
    chapter.blocks.emplace_back(TitledTable{"Tables 5.1 to 5.4: R² of held-out operations", fill(columns, lines)});
    chapter.blocks.emplace_back(
        Paragraph{"Folds keep equal operations together. The thesis' folds do not, so its figures are higher."});
}

/// Ten operations of one setting and mode, evenly spread over their order by group.
std::vector<std::string> example_groups(const std::vector<OutOfFoldRow>& rows, const std::string& device,
                                        const std::string& math, const std::string& mode) {
    std::set<std::string> groups;
    for (const OutOfFoldRow& row : rows) {
        if (row.device == device && row.math == math && row.mode == mode && row.model == "joulecast")
            groups.insert(row.group);
    }
    const std::vector<std::string> sorted(groups.begin(), groups.end());
    std::vector<std::string> chosen;
    const std::size_t count = std::min(shown_examples, sorted.size());
    for (std::size_t i = 0; i < count; ++i) chosen.push_back(sorted[(2 * i + 1) * sorted.size() / (2 * count)]);
    return chosen;
}

Plot example_plot(const std::string& title, const std::vector<OutOfFoldRow>& rows, const OutOfFoldRow& like,
                  const PlotAxis& axis) {
    Plot plot{title, "", {"operation"}, axis, {}, {}};
    PlotSeries measured{"measured", PlotSeries::Style::bars, {}, {}};
    PlotSeries forecast{"forecast", PlotSeries::Style::bars, {}, {}};
    for (const std::string& group : example_groups(rows, like.device, like.math, like.mode)) {
        const auto found = std::ranges::find_if(rows, [&](const OutOfFoldRow& row) {
            return row.group == group && row.metric == like.metric && row.model == "joulecast" &&
                   row.device == like.device && row.math == like.math && row.mode == like.mode;
        });
        if (found == rows.end()) continue;
        const auto x = static_cast<double>(plot.x.labels.size());
        plot.x.labels.push_back(std::to_string(plot.x.labels.size() + 1));
        measured.x.push_back(x);
        measured.y.push_back(found->measured);
        measured.texts.push_back(group.substr(0, 160) + ": measured " + show(found->measured, Show::number));
        forecast.x.push_back(x);
        forecast.y.push_back(found->predicted);
        forecast.low.push_back(found->low);
        forecast.high.push_back(found->high);
        forecast.texts.push_back(group.substr(0, 160) + ": forecast " + show(found->predicted, Show::number));
    }
    plot.series = {std::move(measured), std::move(forecast)};
    return plot;
}

/// Figures 5.3 and 5.4.
void add_examples(Chapter& chapter, const ReportedDataset& dataset) {
    std::set<std::tuple<std::string, std::string, std::string>> settings;
    for (const OutOfFoldRow& row : dataset.held_out) settings.emplace(row.mode, row.device, row.math);
    for (const auto& [mode, device, math] : settings) {
        for (const auto& [metric, axis] :
             {std::pair("time_s", PlotAxis{"time", "s", true}), std::pair("power_w", PlotAxis{"power", "W"}),
              std::pair("energy_j", PlotAxis{"energy", "J", true})}) {
            OutOfFoldRow like;
            like.device = device;
            like.math = math;
            like.mode = mode;
            like.metric = metric;
            const std::string number = mode == "training" ? "5.3" : "5.4";
            Plot plot = example_plot(
                "Figure " + number + ": " + axis.title + " of ten operations, " + mode + " on " + device + ", " + math,
                dataset.held_out, like, axis);
            if (!plot.x.labels.empty())
                chapter.blocks.emplace_back(drawn(std::move(plot), "Held out; whiskers are 90 % intervals"));
        }
    }
}

}  // namespace

Chapter thesis_chapter(const ReportedDataset& dataset) {
    Chapter chapter{"As the thesis shows it", {}};
    chapter.blocks.emplace_back(
        Paragraph{"Figures and tables of C. Nicolai, On Energy Modeling of Deep Neural Network Operations, from these "
                  "data."});
    add_note(chapter,
             "Figures 3.1 to 3.3 show a device while it is measured, which no database keeps: joulecast-lab "
             "study proportionality and joulecast-lab study startup draw them.");
    add_all_sums(chapter, dataset);
    add_configurations(chapter, dataset, Mode::inference);
    add_configurations(chapter, dataset, Mode::training);
    add_scores(chapter, dataset);
    add_examples(chapter, dataset);
    add_clock_figures(chapter, dataset);
    return chapter;
}

}  // namespace joulecast
