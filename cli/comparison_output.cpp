// A comparison of devices as text, JSON and CSV.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>

#include "cli/device_comparison.h"
#include "cli/fitted_table.h"
#include "cli/forecast_words.h"
#include "cli/host_bound.h"
#include "cli/json_tree.h"
#include "cli/known.h"
#include "cli/prose.h"
#include "joulecast/device/engine.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/report/table.h"
#include "joulecast/units/joined.h"

namespace joulecast::cli {
namespace {

using Json = nlohmann::ordered_json;

template <class Unit>
std::string estimate_text(const Estimate<Unit>& estimate, Show as, const std::string& unit = "") {
    if (!estimate.known()) return "–";
    const std::string value = show(estimate.value.value(), as) + unit;
    const std::string low = show(estimate.low.value(), as), high = show(estimate.high.value(), as);
    const bool is_alike = unit_of(low) == unit_of(value) && unit_of(high) == unit_of(value);
    const auto bare = [&](const std::string& text) { return is_alike ? without_unit(text) : text; };
    return value + " (" + bare(low) + "–" + bare(high) + ")";
}

/// "0.65 (0.41–1.03) tie".
std::string ratio_text(const Estimate<Ratio>& ratio) {
    if (!ratio.known()) return "–";
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.2f (%.2f–%.2f)%s", ratio.value.value(), ratio.low.value(),
                  ratio.high.value(), is_tie(ratio) ? " tie" : "");
    return text.data();
}

struct Quantity {
    std::string name;
    std::function<std::string(const DeviceJob&)> text;
};

bool any(const Comparison& comparison, const std::function<bool(const DeviceJob&)>& is) {
    return std::ranges::any_of(comparison.jobs, is);
}

std::vector<Quantity> quantities(const Comparison& c) {
    const std::string money = c.currency.empty() ? "" : " " + c.currency;
    std::vector<Quantity> list = {
        {"time", [](const DeviceJob& j) { return estimate_text(j.time, Show::seconds); }},
        {"energy", [](const DeviceJob& j) { return estimate_text(j.energy, Show::joules); }},
    };
    if (any(c, [](const DeviceJob& j) { return j.price.known(); }))
        list.push_back({"cost", [money](const DeviceJob& j) { return estimate_text(j.price, Show::number, money); }});
    if (any(c, [](const DeviceJob& j) { return j.carbon_g.known(); }))
        list.push_back({"g CO2", [](const DeviceJob& j) { return estimate_text(j.carbon_g, Show::number); }});
    list.push_back({"memory", [](const DeviceJob& j) {
                        return show(known(j.memory_bytes), Show::bytes) + (j.fits ? "" : " does not fit");
                    }});
    list.push_back({"limited by", [](const DeviceJob& j) { return limit_name(j.forecast.network); }});
    const std::string& first = c.jobs.front().forecast.network.device;
    const auto ratio = [&](const std::string& name, Estimate<Ratio> JobRatios::* of) {
        if (!any(c, [&](const DeviceJob& j) { return (j.over_first.*of).known(); })) return;
        list.push_back({name, [&first, of](const DeviceJob& j) {
                            return j.forecast.network.device == first ? "1" : ratio_text(j.over_first.*of);
                        }});
    };
    ratio("time ratio", &JobRatios::time);
    ratio("energy ratio", &JobRatios::energy);
    ratio("cost ratio", &JobRatios::price);
    return list;
}

/// Those devices, a column each.
Table block(const Comparison& comparison, const std::vector<const DeviceJob*>& jobs) {
    Table table;
    table.heads.push_back({"quantity", "", Show::text});
    for (const DeviceJob* job : jobs) table.heads.push_back({"device", job->forecast.network.device, Show::text});
    for (const Quantity& quantity : quantities(comparison)) {
        auto& row = table.rows.emplace_back();
        row.emplace_back(quantity.name);
        for (const DeviceJob* job : jobs) row.emplace_back(quantity.text(*job));
    }
    return table;
}

std::string job_text(const Comparison& comparison) {
    const NetworkForecast& n = comparison.jobs.front().forecast.network;
    std::string text = with_values(n.model, n.symbols) + ", " + std::string(name(n.mode)) + ", precision " +
                       n.precision + (n.memory_format == MemoryFormat::channels_last ? ", channels last" : "") +
                       ", host " + host_text(n.point) + ": ";
    if (!(comparison.samples > 0)) return text + "one run";
    return text + "a job of " + show(static_cast<std::int64_t>(comparison.samples), Show::count) + " samples";
}

std::string verdict_text(const std::string& what, const Least& least) {
    if (least.device.empty()) return "";
    const std::string ties = least.ties.empty() ? "" : " (a tie with " + joined(least.ties) + ")";
    return "Least " + what + ": " + least.device + ties + ". ";
}

std::string verdicts_text(const Comparison& comparison) {
    if (!any(comparison, [](const DeviceJob& job) { return job.fits; }))
        return "None of these devices has memory for it.";
    return verdict_text("time", comparison.time) + verdict_text("energy", comparison.energy) +
           verdict_text("cost", comparison.price);
}

Json least_json(const Least& least) {
    if (least.device.empty()) return nullptr;
    return {{"device", least.device}, {"ties", least.ties}};
}

Json ratio_json(const Estimate<Ratio>& ratio) {
    if (!ratio.known()) return nullptr;
    Json json = estimate_json(ratio);
    json["tie"] = is_tie(ratio);
    return json;
}

Json job_json(const DeviceJob& job) {
    const NetworkForecast& n = job.forecast.network;
    return {{"device", n.device},
            {"clock_mhz", number_or_null(n.point.sm_clock_mhz)},
            {"runs", job.runs},
            {"time_s", estimate_json(job.time)},
            {"energy_j", estimate_json(job.energy)},
            {"price", estimate_json(job.price)},
            {"carbon_g", estimate_json(job.carbon_g)},
            {"memory_bytes", number_or_null(job.memory_bytes)},
            {"fits", job.fits},
            {"limited_by", name(n.limited_by)},
            {"predictor", n.predictor},
            {"predictor_note", job.forecast.note},
            {"over_first",
             {{"time", ratio_json(job.over_first.time)},
              {"energy", ratio_json(job.over_first.energy)},
              {"price", ratio_json(job.over_first.price)}}}};
}

const std::vector<Column<DeviceJob>>& csv_columns() {
    using J = const DeviceJob&;
    static const std::vector<Column<DeviceJob>> list = [] {
        std::vector<Column<DeviceJob>> columns = {
            {"model", "", Show::text, [](J j) { return j.forecast.network.model; }},
            {"device", "", Show::text, [](J j) { return j.forecast.network.device; }},
            {"symbols", "", Show::text, [](J j) { return values_text(j.forecast.network.symbols); }},
            {"mode", "", Show::text, [](J j) { return std::string(name(j.forecast.network.mode)); }},
            {"precision", "", Show::text, [](J j) { return j.forecast.network.precision; }},
            {"memory_format", "", Show::text, [](J j) { return std::string(name(j.forecast.network.memory_format)); }},
            {"runs", "", Show::number, [](J j) { return j.runs; }},
        };
        const auto add = [&](const std::string& key, const std::string& unit, auto of) {
            columns.push_back(
                {key + unit, "", Show::number, [of](J j) { return known(std::invoke(of, j).value.value()); }});
            columns.push_back(
                {key + "_low" + unit, "", Show::number, [of](J j) { return known(std::invoke(of, j).low.value()); }});
            columns.push_back(
                {key + "_high" + unit, "", Show::number, [of](J j) { return known(std::invoke(of, j).high.value()); }});
        };
        add("time", "_s", &DeviceJob::time);
        add("energy", "_j", &DeviceJob::energy);
        add("price", "", &DeviceJob::price);
        add("carbon", "_g", &DeviceJob::carbon_g);
        columns.push_back({"memory_bytes", "", Show::number, [](J j) { return known(j.memory_bytes); }});
        columns.push_back({"fits", "", Show::text, [](J j) { return j.fits; }});
        add("time_over_first", "", [](J j) { return j.over_first.time; });
        add("energy_over_first", "", [](J j) { return j.over_first.energy; });
        add("price_over_first", "", [](J j) { return j.over_first.price; });
        return columns;
    }();
    return list;
}

/// Empty where no host decides.
std::string host_bound_text(const Comparison& comparison) {
    std::vector<HostBound> runs;
    for (const DeviceJob& job : comparison.jobs) add_host_bound(job.forecast.network, runs);
    return host_bound_words(runs);
}

}  // namespace

std::string comparison_to_text(const Comparison& comparison, const TextSettings& settings) {
    const std::size_t width = settings.terminal.width;
    std::string text = wrapped(job_text(comparison), width, "  ") + "\n";
    for (std::size_t start = 0; start < comparison.jobs.size();) {
        std::vector<const DeviceJob*> jobs{&comparison.jobs[start]};
        while (start + jobs.size() < comparison.jobs.size()) {
            std::vector<const DeviceJob*> more = jobs;
            more.push_back(&comparison.jobs[start + jobs.size()]);
            if (table_width(block(comparison, more)) > width) break;
            jobs = std::move(more);
        }
        text += "\n" + to_text(block(comparison, jobs));
        start += jobs.size();
    }
    const std::string& first = comparison.jobs.front().forecast.network.device;
    text += "\n" + wrapped(verdicts_text(comparison), width, "  ") + "\n";
    if (const std::string host = host_bound_text(comparison); !host.empty()) text += wrapped(host, width, "  ") + "\n";
    return text +
           wrapped("ratios: over " + first + "; in brackets 90 % intervals; tie: the interval holds 1", width, "  ") +
           "\n";
}

std::string comparison_to_json(const Comparison& comparison) {
    const NetworkForecast& n = comparison.jobs.front().forecast.network;
    Json json{{"schema", "joulecast.comparison/1"},
              {"model", n.model},
              {"symbols", n.symbols},
              {"mode", name(n.mode)},
              {"precision", n.precision},
              {"memory_format", name(n.memory_format)},
              {"engine", n.point.engine},
              {"host", name(n.point.host)},
              {"samples", comparison.samples > 0 ? Json(comparison.samples) : Json(nullptr)},
              {"currency", comparison.currency},
              {"devices", Json::array()},
              {"least",
               {{"time", least_json(comparison.time)},
                {"energy", least_json(comparison.energy)},
                {"price", least_json(comparison.price)}}},
              {"notes", comparison.notes}};
    for (const DeviceJob& job : comparison.jobs) json["devices"].push_back(job_json(job));
    return printed(json);
}

std::string comparison_to_csv(const Comparison& comparison) {
    return to_csv(fill(csv_columns(), comparison.jobs));
}

}  // namespace joulecast::cli
