// What predict --operation prints.
#include "cli/operation_output.h"

#include <set>

#include "cli/json_object.h"
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

const std::vector<Column<Forecast>>& csv_columns() {
    static const std::vector<Column<Forecast>> list = {
        {"op", "", Show::text, [](const Forecast& f) { return call(f).operation.target; }},
        {"signature", "", Show::text, [](const Forecast& f) { return signature(call(f).operation); }},
        {"device", "", Show::text, [](const Forecast& f) { return f.network.device; }},
        {"clock_mhz", "", Show::number, [](const Forecast& f) { return known(f.network.point.sm_clock_mhz); }},
        {"memory_clock_mhz", "", Show::number,
         [](const Forecast& f) { return known(f.network.point.memory_clock_mhz); }},
        {"mode", "", Show::text, [](const Forecast& f) { return std::string(name(f.network.mode)); }},
        {"precision", "", Show::text, [](const Forecast& f) { return f.network.precision; }},
        {"engine", "", Show::text, [](const Forecast& f) { return f.network.point.engine; }},
        {"host", "", Show::text, [](const Forecast& f) { return std::string(name(f.network.point.host)); }},
        {"time_s", "", Show::seconds, [](const Forecast& f) { return known(call(f).cost.device_time.value.value()); }},
        {"time_low_s", "", Show::seconds,
         [](const Forecast& f) { return known(call(f).cost.device_time.low.value()); }},
        {"time_high_s", "", Show::seconds,
         [](const Forecast& f) { return known(call(f).cost.device_time.high.value()); }},
        {"power_w", "", Show::watts, [](const Forecast& f) { return known(call(f).power.value.value()); }},
        {"power_low_w", "", Show::watts, [](const Forecast& f) { return known(call(f).power.low.value()); }},
        {"power_high_w", "", Show::watts, [](const Forecast& f) { return known(call(f).power.high.value()); }},
        {"energy_j", "", Show::joules, [](const Forecast& f) { return known(call(f).energy.value.value()); }},
        {"energy_low_j", "", Show::joules, [](const Forecast& f) { return known(call(f).energy.low.value()); }},
        {"energy_high_j", "", Show::joules, [](const Forecast& f) { return known(call(f).energy.high.value()); }},
        {"evidence", "", Show::text, [](const Forecast& f) { return std::string(name(call(f).evidence)); }},
        {"power_evidence", "", Show::text, [](const Forecast& f) { return std::string(name(call(f).power_evidence)); }},
        {"predictor", "", Show::text, [](const Forecast& f) { return f.network.predictor; }},
    };
    return list;
}

void append_json(std::string& text, const Forecast& forecast) {
    const NetworkForecast& n = forecast.network;
    const OperationForecast& one = call(forecast);
    JsonObject to(text, JsonObject::Layout::lines);
    to.add("model", n.model);
    to.add("op", one.operation.target);
    to.add("signature", signature(one.operation));
    to.add("device", n.device);
    to.add("device_name", forecast.device_name);
    to.add("clock_mhz", n.point.sm_clock_mhz);
    to.add("memory_clock_mhz", n.point.memory_clock_mhz);
    to.add("asked_clock_mhz", n.asked.sm_clock_mhz);
    to.add("asked_memory_clock_mhz", n.asked.memory_clock_mhz);
    to.add("asked_power_limit_w", n.asked.power_limit_w);
    to.add("mode", name(n.mode));
    to.add("precision", n.precision);
    to.add("engine", n.point.engine);
    to.add("host", name(n.point.host));
    to.add("time_s", one.cost.device_time);
    to.add("power_w", one.power);
    to.add("energy_j", one.energy);
    to.add("evidence", name(one.evidence));
    to.add("power_evidence", name(one.power_evidence));
    to.add("predictor", n.predictor);
    to.add("predictor_note", forecast.note);
    to.end();
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

std::string operations_to_csv(const std::vector<Forecast>& forecasts) {
    return to_csv(fill(csv_columns(), forecasts));
}

std::string operations_to_json(const std::vector<Forecast>& forecasts) {
    std::string text = "{\"schema\": \"joulecast.prediction/1\", \"predictions\": [";
    for (const Forecast& f : forecasts) {
        text += &f == &forecasts.front() ? "\n" : ",\n";
        append_json(text, f);
    }
    return text + "\n]}\n";
}

}  // namespace joulecast::cli
