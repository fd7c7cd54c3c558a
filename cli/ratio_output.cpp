// What `validate` tells of ratios over the clocks.
#include "cli/ratio_output.h"

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "cli/known.h"
#include "joulecast/evaluate/accuracy.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/report/table.h"
#include "joulecast/units/statistics.h"

namespace joulecast::cli {
namespace {

struct Quantity {
    const char* name;
    double (NetworkRatio::*measured)() const;
    Estimate<Ratio> RelativeCost::* forecast;
};

constexpr Quantity quantities[] = {
    {"time", &NetworkRatio::measured_time, &RelativeCost::time},
    {"energy", &NetworkRatio::measured_energy, &RelativeCost::energy},
    {"power", &NetworkRatio::measured_power, &RelativeCost::power},
};

/// Of one quantity on one device.
struct RatioSummary {
    std::string device;
    std::string quantity;
    std::vector<double> errors;
    Coverage interval;
};

RatioSummary summary(std::span<const NetworkRatio> ratios, const std::string& device, const Quantity& quantity) {
    RatioSummary summary{device, quantity.name, {}, {}};
    std::vector<IntervalOutcome> outcomes;
    for (const NetworkRatio& ratio : ratios) {
        const double measured = (ratio.*quantity.measured)();
        const Estimate<Ratio>& forecast = ratio.forecast.*quantity.forecast;
        if (ratio.measured.real.device != device || !std::isfinite(measured) || !forecast.known()) continue;
        const double low = forecast.low.value(), high = forecast.high.value();
        summary.errors.push_back(std::abs(forecast.value.value() / measured - 1));
        outcomes.push_back({low <= measured && measured <= high, (high - low) / forecast.value.value()});
    }
    summary.interval = coverage(outcomes);
    return summary;
}

std::vector<RatioSummary> summaries(std::span<const NetworkRatio> ratios) {
    std::set<std::string> devices;
    for (const NetworkRatio& ratio : ratios) devices.insert(ratio.measured.real.device);
    std::vector<RatioSummary> list;
    for (const std::string& device : devices) {
        for (const Quantity& quantity : quantities) {
            list.push_back(summary(ratios, device, quantity));
            if (list.back().errors.empty()) list.pop_back();
        }
    }
    return list;
}

const std::vector<Column<RatioSummary>>& summary_columns() {
    using S = RatioSummary;
    static const std::vector<Column<S>> list = {
        {"device", "device", Show::text, [](const S& s) { return s.device; }},
        {"quantity", "ratio of", Show::text, [](const S& s) { return s.quantity; }},
        {"ratios", "ratios", Show::count, [](const S& s) { return static_cast<std::int64_t>(s.errors.size()); }},
        {"mape", "MAPE", Show::percent, [](const S& s) { return known(mean(s.errors)); }},
        {"median_ape", "median", Show::percent, [](const S& s) { return known(median(s.errors)); }},
        {"interval_coverage", "in 90 %", Show::percent, [](const S& s) { return known(s.interval.share); }},
        {"interval_width", "width", Show::percent, [](const S& s) { return known(s.interval.width); }},
    };
    return list;
}

void append(std::vector<Column<NetworkRatio>>& columns, const Quantity& quantity) {
    const std::string name = quantity.name;
    const auto of = quantity.forecast;
    const auto measured = quantity.measured;
    using R = NetworkRatio;
    columns.push_back(
        {"measured_" + name, "", Show::number, [measured](const R& r) { return known((r.*measured)()); }});
    columns.push_back(
        {"predicted_" + name, "", Show::number, [of](const R& r) { return known((r.forecast.*of).value.value()); }});
    columns.push_back({"predicted_" + name + "_low", "", Show::number,
                       [of](const R& r) { return known((r.forecast.*of).low.value()); }});
    columns.push_back({"predicted_" + name + "_high", "", Show::number,
                       [of](const R& r) { return known((r.forecast.*of).high.value()); }});
}

std::vector<Column<NetworkRatio>> ratio_columns() {
    using R = NetworkRatio;
    std::vector<Column<R>> columns = {
        {"network", "", Show::text, [](const R& r) { return r.measured.model; }},
        {"device", "", Show::text, [](const R& r) { return r.measured.real.device; }},
        {"symbols", "", Show::text, [](const R& r) { return values_text(r.measured.symbols); }},
        {"mode", "", Show::text, [](const R& r) { return std::string(name(r.measured.mode)); }},
        {"precision", "", Show::text, [](const R& r) { return r.measured.precision; }},
        {"host", "", Show::text, [](const R& r) { return std::string(name(r.measured.real.host)); }},
        {"clock_mhz", "", Show::number, [](const R& r) { return known(r.here.real.sm_clock_mhz); }},
        {"memory_clock_mhz", "", Show::number, [](const R& r) { return known(r.here.real.memory_clock_mhz); }},
        {"reference_clock_mhz", "", Show::number, [](const R& r) { return known(r.there.real.sm_clock_mhz); }},
    };
    for (const Quantity& quantity : quantities) append(columns, quantity);
    return columns;
}

}  // namespace

std::string ratios_text(std::span<const NetworkRatio> ratios) {
    const auto rows = summaries(ratios);
    if (rows.empty()) return "";
    return "\nRatios over the clocks, each network over itself at its highest measured clock:\n\n" +
           to_text(fill(summary_columns(), rows));
}

Table ratio_summary_table(std::span<const NetworkRatio> ratios) {
    return fill(summary_columns(), summaries(ratios));
}

Table ratios_table(std::span<const NetworkRatio> ratios) {
    return fill(ratio_columns(), ratios);
}

}  // namespace joulecast::cli
