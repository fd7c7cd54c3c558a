#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "joulecast/report/dataset_chapters.h"

namespace joulecast {
namespace {

constexpr std::size_t most_layers = 60;  // figures 7 and 8

/// Table 3: what was collected, by family and device.
struct FamilyRows {
    std::string device;
    std::string math;
    std::string family;
    std::int64_t rows = 0;
    std::int64_t shapes = 0;
    std::int64_t with_power = 0;
    std::int64_t with_memory = 0;
};

std::vector<FamilyRows> family_rows(const ReportedSetting& setting) {
    std::map<std::string, FamilyRows> families;
    std::map<std::string, std::set<std::string>> groups;
    for (const TrainingRow& row : setting.operations) {
        const std::string called(name(row.operation.family()));
        FamilyRows& family = families[called];
        family.device = setting.device.id;
        family.math = name(setting.setting.math);
        family.family = called;
        ++family.rows;
        if (row.power_w > 0) ++family.with_power;
        if (std::isfinite(row.peak_memory_bytes)) ++family.with_memory;
        groups[called].insert(row.group);
    }
    std::vector<FamilyRows> rows;
    for (auto& [called, family] : families) {
        family.shapes = static_cast<std::int64_t>(groups[called].size());
        rows.push_back(std::move(family));
    }
    return rows;
}

void add_collection(Chapter& chapter, const ReportedDataset& dataset) {
    using F = FamilyRows;
    static const std::vector<Column<F>> columns = {
        {"device", "device", Show::text, [](const F& f) { return f.device; }},
        {"math", "math", Show::text, [](const F& f) { return f.math; }},
        {"family", "family", Show::text, [](const F& f) { return f.family; }},
        {"rows", "rows", Show::count, [](const F& f) { return f.rows; }},
        {"shapes", "shapes", Show::count, [](const F& f) { return f.shapes; }},
        {"with_power", "with power", Show::count, [](const F& f) { return f.with_power; }},
        {"with_memory", "with memory", Show::count, [](const F& f) { return f.with_memory; }},
    };
    std::vector<F> list;
    for (const ReportedSetting& setting : dataset.settings) {
        auto rows = family_rows(setting);
        std::move(rows.begin(), rows.end(), std::back_inserter(list));
    }
    chapter.blocks.emplace_back(TitledTable{"Tables 2 and 3: what was collected", fill(columns, list)});
}

/// Figures 3 and 4: the best model's R2 per metric and family of one device.
void add_scores(Chapter& chapter, const std::vector<Accuracy>& lines, const std::string& device,
                const std::string& math) {
    Plot plot{"Figures 3 and 4: R² per family and metric, " + device + ", " + math, "", {""}, {"R²"}, {}, {}};
    std::map<std::string, double> places;
    std::map<std::string, std::map<std::string, const Accuracy*>> best;  // metric, family
    for (const Accuracy& a : lines) {
        if (a.device != device || a.math != math || a.family == "all" || !std::isfinite(a.r2)) continue;
        const Accuracy*& most = best[a.metric][a.family];
        if (!most || a.r2 > most->r2) most = &a;
    }
    for (const auto& [metric, families] : best) {
        PlotSeries series{metric_word(metric), PlotSeries::Style::bars, {}, {}};
        for (const auto& [family, a] : families) {
            const auto [place, is_new] = places.try_emplace(family, static_cast<double>(plot.x.labels.size()));
            if (is_new) plot.x.labels.push_back(family);
            // Far below zero nothing more is said than that the model is worse than the mean.
            const double shown = std::max(a->r2, -1.0);
            series.x.push_back(place->second);
            series.y.push_back(shown);
            series.texts.push_back(family + ", " + metric_word(metric) + ": R² " + show(a->r2, Show::number) + " by " +
                                   a->model + ", MAPE " + show(a->mape, Show::percent) + ", " +
                                   std::to_string(a->rows) + " rows");
        }
        plot.series.push_back(std::move(series));
    }
    if (plot.series.empty()) return;
    chapter.blocks.emplace_back(
        drawn(std::move(plot), "Held out; of each family the best model tried. Bars end at −1"));
}

/// A call of a network with its measured and its held-out value.
struct Layer {
    std::string text;
    const OutOfFoldRow* row = nullptr;
};

/// The network of the setting with most calls that were held out, in the order of its calls.
std::vector<Layer> layers_of(const TrainingNetwork& network, const std::map<std::string, const OutOfFoldRow*>& rows) {
    std::vector<Layer> layers;
    for (const Node& node : network.graph.nodes) {
        const auto found = rows.find(operation_group(node.operation) + std::string(name(mode(node.operation))));
        if (found == rows.end()) continue;
        layers.push_back(
            {(node.module_path.empty() ? "" : node.module_path + ": ") + node.operation.target, found->second});
        if (layers.size() == most_layers) break;
    }
    return layers;
}

void add_layers(Chapter& chapter, const ReportedDataset& dataset, const ReportedSetting& setting, const char* metric,
                const PlotAxis& axis, const std::string& figure) {
    std::map<std::string, const OutOfFoldRow*> rows;
    for (const OutOfFoldRow& row : dataset.held_out) {
        if (row.model == "joulecast" && row.metric == metric && row.device == setting.device.id &&
            row.math == name(setting.setting.math))
            rows.emplace(row.group + row.mode, &row);
    }
    std::vector<Layer> layers;
    const TrainingNetwork* shown = nullptr;
    for (const TrainingNetwork& network : setting.networks) {
        auto found = layers_of(network, rows);
        if (found.size() <= layers.size()) continue;
        layers = std::move(found);
        shown = &network;
    }
    if (!shown) return;
    Plot plot{
        figure + " of " + shown->measurement.model + " call by call, " + setting.device.id, "", {"call"}, axis, {}, {}};
    PlotSeries measured{"measured", PlotSeries::Style::bars, {}, {}};
    PlotSeries forecast{"forecast", PlotSeries::Style::bars, {}, {}};
    for (std::size_t i = 0; i < layers.size(); ++i) {
        measured.x.push_back(static_cast<double>(i + 1));
        measured.y.push_back(layers[i].row->measured);
        measured.texts.push_back(layers[i].text + ": measured " + show(layers[i].row->measured, Show::number));
        forecast.x.push_back(static_cast<double>(i + 1));
        forecast.y.push_back(layers[i].row->predicted);
        forecast.texts.push_back(layers[i].text + ": forecast " + show(layers[i].row->predicted, Show::number));
    }
    plot.series = {std::move(measured), std::move(forecast)};
    chapter.blocks.emplace_back(
        drawn(std::move(plot),
              "Each call held out; the first " + std::to_string(layers.size()) + " calls that were measured"));
}

}  // namespace

Chapter sponner_chapter(const ReportedDataset& dataset) {
    Chapter chapter{"As Sponner et al. show it", {}};
    chapter.blocks.emplace_back(
        Paragraph{"Figures and tables of Sponner et al. 2022, AI-Driven Performance Modeling for AI Inference "
                  "Workloads, from these "
                  "data."});
    add_collection(chapter, dataset);
    const auto lines = over_modes(dataset.held_out);
    std::set<std::pair<std::string, std::string>> settings;
    for (const Accuracy& a : lines) settings.emplace(a.device, a.math);
    for (const auto& [device, math] : settings) add_scores(chapter, lines, device, math);
    bool any_layers = false;
    for (const ReportedSetting& setting : dataset.settings) {
        const std::size_t before = chapter.blocks.size();
        add_layers(chapter, dataset, setting, "time_s", {"time", "s"}, "Figure 7: time");
        add_layers(chapter, dataset, setting, "power_w", {"power", "W"}, "Figure 8: power");
        any_layers |= chapter.blocks.size() > before;
    }
    std::string missing =
        "Figures 5 and 6, error against size of the training set: joulecast-lab study dataset-size draws "
        "them.";
    if (!any_layers) missing += " Figures 7 and 8: the database has no network whose calls were held out.";
    chapter.blocks.emplace_back(Paragraph{missing, Paragraph::Kind::note});
    return chapter;
}

}  // namespace joulecast
