#include <cmath>

#include "joulecast/report/chapters.h"

namespace joulecast {
namespace {

/// A forecast and what it is called here.
struct CostLine {
    std::string label;
    const ReportedForecast* forecast = nullptr;

    const NetworkForecast& network() const { return forecast->network; }
};

Cell number_or_dash(double value) {
    return std::isfinite(value) ? Cell(value) : Cell();
}

template <class Unit>
Cell interval_cell(const Estimate<Unit>& value, Show how) {
    if (!value.known()) return {};
    return show(value.low.value(), how) + " – " + show(value.high.value(), how);
}

using CostColumns = std::vector<Column<CostLine>>;

const CostColumns& cost_columns() {
    using L = CostLine;
    static const CostColumns list = {
        {"label", "forecast", Show::text, [](const L& l) { return l.label; }},
        {"time_s", "time", Show::seconds, [](const L& l) { return number_or_dash(l.network().time.value.value()); }},
        {"time_interval", "90 % interval", Show::text,
         [](const L& l) { return interval_cell(l.network().time, Show::seconds); }},
        {"energy_j", "energy", Show::joules,
         [](const L& l) { return number_or_dash(l.network().energy.value.value()); }},
        {"energy_interval", "90 % interval", Show::text,
         [](const L& l) { return interval_cell(l.network().energy, Show::joules); }},
        {"power_w", "power", Show::watts, [](const L& l) { return number_or_dash(l.network().power.value.value()); }},
        {"memory_bytes", "memory", Show::bytes, [](const L& l) { return number_or_dash(memory_bytes(l.network())); }},
        {"limited_by", "limited by", Show::text, [](const L& l) { return std::string(name(l.network().limited_by)); }},
    };
    return list;
}

/// What the numbers above are made of.
const CostColumns& part_columns() {
    using L = CostLine;
    static const CostColumns list = {
        {"label", "forecast", Show::text, [](const L& l) { return l.label; }},
        {"device_time_s", "device's time", Show::seconds,
         [](const L& l) { return number_or_dash(l.network().cost.device_time.value.value()); }},
        {"host_time_s", "host's time", Show::seconds,
         [](const L& l) { return number_or_dash(l.network().cost.host_time.value.value()); }},
        {"idle_energy_j", "energy idle", Show::joules,
         [](const L& l) { return number_or_dash(l.network().idle_energy_j); }},
        {"resident_bytes", "weights, inputs", Show::bytes,
         [](const L& l) { return number_or_dash(l.network().resident_bytes); }},
        {"peak_memory_bytes", "peak above", Show::bytes,
         [](const L& l) { return number_or_dash(l.network().cost.peak_memory.value.value()); }},
    };
    return list;
}

const CostColumns& measured_columns() {
    using L = CostLine;
    static const CostColumns list = {
        {"label", "forecast", Show::text, [](const L& l) { return l.label; }},
        {"measured_time_s", "time measured", Show::seconds,
         [](const L& l) { return number_or_dash(l.forecast->measured->time_s); }},
        {"time_s", "forecast", Show::seconds,
         [](const L& l) { return number_or_dash(l.network().time.value.value()); }},
        {"time_error", "error", Show::percent,
         [](const L& l) { return number_or_dash(l.network().time.value.value() / l.forecast->measured->time_s - 1); }},
        {"measured_energy_j", "energy measured", Show::joules,
         [](const L& l) { return number_or_dash(l.forecast->measured->energy_j); }},
        {"energy_j", "forecast", Show::joules,
         [](const L& l) { return number_or_dash(l.network().energy.value.value()); }},
        {"energy_error", "error", Show::percent,
         [](const L& l) {
             return number_or_dash(l.network().energy.value.value() / l.forecast->measured->energy_j - 1);
         }},
        {"source", "measured by", Show::text, [](const L& l) { return l.forecast->measured->source; }},
    };
    return list;
}

}  // namespace

Chapter cost_chapter(const std::vector<ReportedForecast>& forecasts) {
    Chapter chapter{"Cost", {}};
    const auto names = labels(forecasts);
    std::vector<CostLine> lines;
    std::vector<CostLine> with_measurement;
    for (std::size_t i = 0; i < forecasts.size(); ++i) {
        lines.push_back({names[i], &forecasts[i]});
        if (forecasts[i].measured) with_measurement.push_back(lines.back());
    }
    chapter.blocks.emplace_back(TitledTable{"One call of each network", fill(cost_columns(), lines)});
    chapter.blocks.emplace_back(Folded{"What these are made of", {TitledTable{"", fill(part_columns(), lines)}}});
    for (const CostLine& line : lines) {
        const NetworkForecast& n = line.network();
        if (!n.energy.known())
            chapter.blocks.emplace_back(Paragraph{
                "Energy of " + line.label + " is not known: " + n.energy_missing_reason + ".", Paragraph::Kind::note});
    }
    if (with_measurement.empty()) return chapter;
    chapter.blocks.emplace_back(
        TitledTable{"The same networks as measured", fill(measured_columns(), with_measurement)});
    chapter.blocks.emplace_back(Paragraph{
        "This is not a test: the forecasts use the operations of that database, and the predictor may have been "
        "trained on these networks. joulecast report --db FILE without a model forecasts held-out networks.",
        Paragraph::Kind::note});
    return chapter;
}

}  // namespace joulecast
