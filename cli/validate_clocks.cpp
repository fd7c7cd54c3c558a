#include "cli/validate_clocks.h"

#include <algorithm>
#include <iostream>
#include <iterator>

#include "cli/known.h"
#include "joulecast/answer/clock_calibration.h"
#include "joulecast/device/device_table.h"
#include "joulecast/error.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {
namespace {

bool is_asked(const std::string& id, const std::vector<std::string>& devices) {
    return devices.empty() || std::ranges::any_of(devices, [&](const std::string& asked) {
               const DataSheet* sheet = known_devices().find(asked);
               return asked == id || (sheet && sheet->device.id == id);
           });
}

void add_device(const Dataset& dataset, const Device& device, std::size_t folds, ClockValidation& validation) {
    const auto sweeps = sweeps_of(dataset, device);
    if (sweeps.empty()) return;
    ClockValidationSettings settings;
    settings.folds = folds;
    ClockValidation own = validate_clocks(device, sweeps, dataset.idle_points(device.id), settings);
    std::cerr << device.id << ": " << sweeps.size() << " workloads, " << own.swept << " at several clocks or limits, "
              << own.listed << " of known operations\n";
    validation.swept += own.swept;
    validation.listed += own.listed;
    std::ranges::move(own.networks, std::back_inserter(validation.networks));
    std::ranges::move(own.regrets, std::back_inserter(validation.regrets));
}

const std::vector<Column<ClockRegret>>& regret_columns() {
    using R = ClockRegret;
    static const std::vector<Column<R>> list = {
        {"rule", "chosen by", Show::text, [](const R& r) { return r.rule; }},
        {"objective", "objective", Show::text, [](const R& r) { return r.objective; }},
        {"device", "device", Show::text, [](const R& r) { return r.device; }},
        {"workloads", "workloads", Show::count, [](const R& r) { return r.workloads; }},
        {"mean_regret", "regret", Show::percent, [](const R& r) { return known(r.mean); }},
        {"worst_regret", "worst", Show::percent, [](const R& r) { return known(r.worst); }},
        {"over_time_limit", "too slow", Show::count, [](const R& r) { return r.over_limit; }},
        {"worst_workload", "worst at", Show::text, [](const R& r) { return r.worst_workload; }},
    };
    return list;
}

const std::vector<Column<ClockForecast>>& forecast_columns() {
    using F = ClockForecast;
    static const std::vector<Column<F>> list = {
        {"model", "", Show::text, [](const F& f) { return f.model; }},
        {"network", "", Show::text, [](const F& f) { return f.workload; }},
        {"device", "", Show::text, [](const F& f) { return f.device; }},
        {"engine", "", Show::text, [](const F& f) { return f.row.asked.engine; }},
        {"clock_mhz", "", Show::number, [](const F& f) { return known(f.row.asked.sm_clock_mhz); }},
        {"memory_clock_mhz", "", Show::number, [](const F& f) { return known(f.row.asked.memory_clock_mhz); }},
        {"power_limit_w", "", Show::number, [](const F& f) { return known(f.row.asked.power_limit_w); }},
        {"real_clock_mhz", "", Show::number, [](const F& f) { return known(f.row.sm_clock_mhz); }},
        {"predicted_clock_mhz", "", Show::number, [](const F& f) { return known(f.sm_clock_mhz); }},
        {"mode", "", Show::text, [](const F& f) { return std::string(name(f.network.mode)); }},
        {"precision", "", Show::text, [](const F& f) { return f.network.precision; }},
        {"known_beforehand", "", Show::text, [](const F& f) { return f.is_reference; }},
        {"measured_time_s", "", Show::number, [](const F& f) { return known(f.row.time_s); }},
        {"predicted_time_s", "", Show::number, [](const F& f) { return known(f.time.value.value()); }},
        {"predicted_low_s", "", Show::number, [](const F& f) { return known(f.time.low.value()); }},
        {"predicted_high_s", "", Show::number, [](const F& f) { return known(f.time.high.value()); }},
        {"measured_power_w", "", Show::number, [](const F& f) { return known(f.row.power_w); }},
        {"predicted_power_w", "", Show::number, [](const F& f) { return known(f.power.value.value()); }},
        {"measured_energy_j", "", Show::number, [](const F& f) { return known(f.row.time_s * f.row.power_w); }},
        {"predicted_energy_j", "", Show::number, [](const F& f) { return known(f.energy.value.value()); }},
        {"predicted_energy_low_j", "", Show::number, [](const F& f) { return known(f.energy.low.value()); }},
        {"predicted_energy_high_j", "", Show::number, [](const F& f) { return known(f.energy.high.value()); }},
        {"inside_interval", "", Show::text,
         [](const F& f) { return f.row.time_s >= f.time.low.value() && f.row.time_s <= f.time.high.value(); }},
    };
    return list;
}

}  // namespace

ClockValidation clock_validation(const Dataset& dataset, const std::vector<std::string>& devices, std::size_t folds) {
    ClockValidation validation;
    for (const Device& stored : dataset.devices()) {
        const Device device = with_known_figures(stored);
        if (!is_asked(device.id, devices) || dataset.networks(device.id).empty()) continue;
        const std::string missing = missing_for_clocks(device);
        if (!missing.empty() && !devices.empty())
            throw Error("cannot score " + device.id + " over its clocks: no " + missing + ".");
        if (!missing.empty()) {
            std::cerr << "joulecast: " << device.id << " is left out: no " << missing << '\n';
            continue;
        }
        add_device(dataset, device, folds, validation);
    }
    if (validation.networks.empty())
        throw Error(
            "the database has no network or workload at two clocks or more, and none whose operations are known. "
            "Import some: "
            "joulecast import sweep --help.");
    return validation;
}

std::string regrets_text(std::span<const ClockRegret> regrets) {
    return to_text(fill(regret_columns(), regrets));
}

Table regrets_table(std::span<const ClockRegret> regrets) {
    return fill(regret_columns(), regrets);
}

Table clock_forecasts_table(std::span<const ClockForecast> forecasts) {
    return fill(forecast_columns(), forecasts);
}

std::string clock_forecasts_csv(std::span<const ClockForecast> forecasts) {
    return to_csv(fill(forecast_columns(), forecasts));
}

}  // namespace joulecast::cli
