// What predict --operation prints.
#include "cli/operation_output.h"

#include <set>

#include "cli/known.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {
namespace {

const OperationForecast& call(const Forecast& forecast) {
    return forecast.network.operations.front();
}

std::string clock_words(const NetworkForecast& network) {
    const double clock = network.point.sm_clock_mhz;
    return clock > 0 ? show(clock, Show::number) + " MHz" : "as measured";
}

template <class Unit>
std::string interval(const Estimate<Unit>& estimate, Show how) {
    if (!estimate.known()) return "–";
    return show(estimate.low.value(), how) + " – " + show(estimate.high.value(), how);
}

const std::vector<Column<Forecast>>& text_columns() {
    static const std::vector<Column<Forecast>> list = {
        {"device", "device", Show::text, [](const Forecast& f) { return f.network.device; }},
        {"clock_mhz", "clock", Show::text, [](const Forecast& f) { return clock_words(f.network); }},
        {"mode", "mode", Show::text, [](const Forecast& f) { return std::string(name(f.network.mode)); }},
        {"precision", "precision", Show::text, [](const Forecast& f) { return f.network.precision; }},
        {"time_s", "time", Show::seconds,
         [](const Forecast& f) { return known(call(f).cost.device_time.value.value()); }},
        {"time_interval", "90 % interval", Show::text,
         [](const Forecast& f) { return interval(call(f).cost.device_time, Show::seconds); }},
        {"power_w", "power", Show::watts, [](const Forecast& f) { return known(call(f).power.value.value()); }},
        {"power_interval", "90 % interval", Show::text,
         [](const Forecast& f) { return interval(call(f).power, Show::watts); }},
        {"energy_j", "energy", Show::joules, [](const Forecast& f) { return known(call(f).energy.value.value()); }},
        {"energy_interval", "90 % interval", Show::text,
         [](const Forecast& f) { return interval(call(f).energy, Show::joules); }},
        {"evidence", "time is", Show::text, [](const Forecast& f) { return std::string(name(call(f).evidence)); }},
        {"power_evidence", "power is", Show::text,
         [](const Forecast& f) { return std::string(name(call(f).power_evidence)); }},
        {"signature", "operation", Show::text, [](const Forecast& f) { return signature(call(f).operation); }},
    };
    return list;
}

}  // namespace

std::string operations_to_text(const std::vector<Forecast>& forecasts) {
    std::string text;
    std::set<std::string> sources;
    for (const Forecast& f : forecasts) {
        const std::string source = f.device_name + "; predictor " + f.network.predictor + " (" +
                                   std::to_string(f.origin->rows) + " operations measured)\n";
        if (sources.insert(source).second) text += source;
    }
    return text + "\n" + to_text(fill(text_columns(), forecasts)) + "of one call by itself, run again and again\n";
}

}  // namespace joulecast::cli
