#include <algorithm>
#include <cmath>
#include <map>

#include "joulecast/report/dataset_chapters.h"

namespace joulecast {
namespace {

constexpr std::size_t most_lost_bars = 20;

std::string short_name(const Operation& operation) {
    constexpr std::size_t longest = 44;
    std::string text = signature(operation);
    if (text.starts_with("aten::")) text = text.substr(6);
    return text.size() <= longest ? text : text.substr(0, longest - 1) + "…";
}

std::string reasons_text(const SlowOperation& slow) {
    std::string text;
    for (const std::string& reason : slow.reasons) text += (text.empty() ? "" : "; ") + reason;
    return text.empty() ? "nothing in its sizes: look at which kernel ran" : text;
}

/// The word before the colon, for counting.
std::string kind_of(const std::string& reason) {
    return reason.substr(0, reason.find(':'));
}

std::vector<SlowOperation> all_slow(const ReportedDataset& dataset) {
    std::vector<SlowOperation> list;
    for (const ReportedSetting& setting : dataset.settings)
        list.insert(list.end(), setting.slow.begin(), setting.slow.end());
    std::ranges::stable_sort(list,
                             [](const SlowOperation& a, const SlowOperation& b) { return a.lost_s() > b.lost_s(); });
    return list;
}

Plot lost_plot(const std::vector<SlowOperation>& slow) {
    Plot plot{"Time lost, most first", "", {"measured beyond forecast", "s"}, {""}, {}, {}};
    PlotSeries bars{"lost", PlotSeries::Style::lying_bars, {}, {}};
    for (std::size_t i = 0; i < std::min(slow.size(), most_lost_bars); ++i) {
        plot.y.labels.push_back(short_name(slow[i].operation));
        bars.x.push_back(slow[i].lost_s());
        bars.y.push_back(static_cast<double>(i));
        bars.texts.push_back(signature(slow[i].operation).substr(0, 200) + ": " +
                             show(slow[i].lost_s(), Show::seconds) + " lost; " + reasons_text(slow[i]));
    }
    plot.series.push_back(std::move(bars));
    plot.height_px = 120 + 26 * static_cast<double>(plot.y.labels.size());
    return plot;
}

std::string counted_reasons(const std::vector<SlowOperation>& slow) {
    std::map<std::string, std::size_t> counts;
    for (const SlowOperation& operation : slow) {
        if (operation.reasons.empty()) ++counts["no reason in their sizes"];
        for (const std::string& reason : operation.reasons) ++counts[kind_of(reason)];
    }
    std::vector<std::pair<std::string, std::size_t>> sorted(counts.begin(), counts.end());
    std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string text;
    for (const auto& [kind, count] : sorted) text += (text.empty() ? "" : ", ") + kind + " " + std::to_string(count);
    return text;
}

}  // namespace

const std::vector<Column<SlowOperation>>& slow_operation_columns() {
    using S = SlowOperation;
    static const std::vector<Column<S>> list = {
        {"lost_s", "time lost", Show::seconds, [](const S& s) { return s.lost_s(); }},
        {"op", "operation", Show::text, [](const S& s) { return s.operation.target; }},
        {"device", "device", Show::text, [](const S& s) { return s.device; }},
        {"mode", "mode", Show::text, [](const S& s) { return std::string(name(mode(s.operation))); }},
        {"math", "math", Show::text, [](const S& s) { return std::string(name(s.math)); }},
        {"calls", "calls", Show::count, [](const S& s) { return s.calls; }},
        {"measured_s", "measured", Show::seconds, [](const S& s) { return s.measured_s; }},
        {"predicted_s", "forecast", Show::seconds, [](const S& s) { return s.predicted_s; }},
        {"predicted_high_s", "90 % below", Show::seconds, [](const S& s) { return s.high_s; }},
        {"factor", "times", Show::number, [](const S& s) { return s.factor(); }},
        {"reasons", "likely reason", Show::text, reasons_text},
        {"signature", "call", Show::text, [](const S& s) { return signature(s.operation); }},
    };
    return list;
}

Chapter outliers_chapter(const ReportedDataset& dataset) {
    Chapter chapter{"Slower than expected", {}};
    if (dataset.held_out.empty()) return chapter;
    const auto slow = all_slow(dataset);
    if (slow.empty()) {
        chapter.blocks.emplace_back(
            Paragraph{"No operation was measured beyond its 90 % interval and 1.25 times slower than forecast."});
        return chapter;
    }
    chapter.blocks.emplace_back(Paragraph{
        std::to_string(slow.size()) +
        " operations took longer than their 90 % interval allows, and at least 1.25 times longer than forecast by "
        "models that never saw their shape. Try other shapes, layouts or kernels for them. What their sizes say: " +
        counted_reasons(slow) + "."});
    chapter.blocks.emplace_back(drawn(lost_plot(slow)));
    chapter.blocks.emplace_back(
        TitledTable{"By time lost", fill(slow_operation_columns(), slow), {"reasons", "signature"}});
    return chapter;
}

Page outliers_page(const ReportedDataset& dataset) {
    Page page;
    page.title = "Operations slower than expected in " + dataset.file;
    std::size_t count = 0;
    double lost_s = 0;
    for (const ReportedSetting& setting : dataset.settings) {
        count += setting.slow.size();
        for (const SlowOperation& slow : setting.slow) lost_s += slow.lost_s();
    }
    page.summary = std::to_string(count) + " operations lose " + show(lost_s, Show::seconds) +
                   " in all, compared with forecasts by models that never saw their shape.";
    page.chapters = {outliers_chapter(dataset)};
    return page;
}

}  // namespace joulecast
