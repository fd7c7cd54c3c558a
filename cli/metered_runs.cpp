#include "cli/metered_runs.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "joulecast/meter/open_meter.h"
#include "joulecast/meter/time_source.h"

namespace joulecast::cli {
namespace {

constexpr double linger_s = 0.5;  ///< longest wait for a counter's next renewal at the end

NamedMeter opened(const std::string& name, bool for_gpu) {
    MeterRequest request;
    request.name = name;
    request.for_gpu = for_gpu;
    FoundMeter found = open_meter(request);
    if (!found.meter) return {name, nullptr, found.missing_reason};
    const std::string own_name = found.meter->facts().name;
    return {own_name, std::move(found.meter), ""};
}

/// A processor's and a GPU's; one missing is no reason to speak of it, both are.
void open_auto(std::vector<NamedMeter>& meters) {
    NamedMeter cpu = opened("auto", false);
    NamedMeter gpu = opened("auto", true);
    if (!cpu.meter && !gpu.meter) {
        meters.push_back({"auto", nullptr, cpu.missing_reason + ". " + gpu.missing_reason});
        return;
    }
    if (cpu.meter) meters.push_back(std::move(cpu));
    if (gpu.meter) meters.push_back(std::move(gpu));
}

void wait_idle(double seconds, const Foreground& foreground) {
    const double end_s = steady_seconds() + seconds;
    for (double left_s = seconds; left_s > 0 && !foreground.interrupted(); left_s = end_s - steady_seconds())
        std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left_s, 0.05)));
}

void summarise(const MeteredRuns& metered, const Meter& meter, const MeterLog& log, MeterResult& result) {
    const bool counts = meter.facts().counts_energy;
    const auto& readings = log.readings();
    result.power_trace = power_samples(readings, counts);
    result.idle_power_w = energy_between(readings, counts, metered.idle_start_s, metered.idle_end_s).power_w;
    std::vector<double> energy_j;
    std::vector<double> dynamic_j;
    double whole_j = 0;
    double whole_s = 0;
    for (const ForegroundRun& run : metered.runs) {
        const TraceEnergy& energy = result.runs.emplace_back(energy_between(readings, counts, run.start_s, run.end_s));
        const double length_s = run.end_s - run.start_s;
        if (result.missing_reason.empty()) result.missing_reason = energy.missing_reason;
        energy_j.push_back(energy.energy_j);
        dynamic_j.push_back(energy.energy_j - result.idle_power_w * length_s);
        whole_j += energy.energy_j;
        whole_s += length_s;
        if (!(result.peak_power_w >= energy.peak_power_w)) result.peak_power_w = energy.peak_power_w;
    }
    if (metered.runs.empty()) result.missing_reason = "the command was not run";
    if (!result.missing_reason.empty() && !log.lost().empty()) result.missing_reason += ": " + log.lost();
    if (!result.missing_reason.empty()) return;
    result.energy_j = repeated(energy_j);
    result.dynamic_energy_j = repeated(dynamic_j);
    result.power_w = whole_j / whole_s;
}

}  // namespace

std::vector<NamedMeter> open_meters(const std::vector<std::string>& names) {
    std::vector<NamedMeter> meters;
    for (const std::string& name : names) {
        if (name == "auto")
            open_auto(meters);
        else if (name != "none")
            meters.push_back(opened(name, false));
    }
    return meters;
}

MeteredRuns run_metered(const MeteredSettings& settings, std::vector<NamedMeter>& meters) {
    Foreground foreground;
    std::vector<std::unique_ptr<MeterLog>> logs;
    for (const NamedMeter& meter : meters)
        logs.push_back(meter.meter ? std::make_unique<MeterLog>(*meter.meter, settings.period_s) : nullptr);
    MeteredRuns metered;
    metered.idle_start_s = steady_seconds();
    wait_idle(settings.idle_s, foreground);
    metered.idle_end_s = settings.idle_s > 0 ? steady_seconds() : metered.idle_start_s;
    for (int i = 0; i < settings.repeats && !foreground.interrupted(); ++i) {
        metered.runs.push_back(foreground.run(settings.command));
        if (metered.runs.back().status != 0) break;
    }
    metered.interrupted = foreground.interrupted();
    for (std::size_t i = 0; i < meters.size(); ++i) {
        MeterResult& result = metered.meters.emplace_back();
        result.meter = meters[i].name;
        result.missing_reason = meters[i].missing_reason;
        if (!logs[i]) continue;
        result.covers = meters[i].meter->facts().covers;
        result.gain_error = meters[i].meter->facts().gain_error;
        logs[i]->stop(linger_s);
        summarise(metered, *meters[i].meter, *logs[i], result);
    }
    return metered;
}

}  // namespace joulecast::cli
