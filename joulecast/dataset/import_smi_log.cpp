#include "joulecast/dataset/import_smi_log.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

#include "joulecast/dataset/published_rows.h"
#include "joulecast/dataset/unpack.h"
#include "joulecast/device/precision.h"
#include "joulecast/error.h"
#include "joulecast/measure/errors.h"
#include "joulecast/measure/thesis_method.h"
#include "joulecast/meter/nvidia_sensor.h"
#include "joulecast/meter/smi_log.h"
#include "joulecast/units/statistics.h"
#include "joulecast/units/time_stamp.h"

namespace joulecast {
namespace {

std::vector<SmiSample> of_one_gpu(const SmiLog& log, const std::string& name, const LoggedRun& run,
                                  PublishedRows& rows) {
    std::set<int> gpus;
    for (const SmiSample& sample : log.samples)
        if (sample.gpu) gpus.insert(*sample.gpu);
    if (gpus.size() > 1 && !run.gpu)
        throw Error("the log '" + name + "' has lines of " + std::to_string(gpus.size()) +
                    " GPUs: say which one ran with --gpu INDEX.");
    std::vector<SmiSample> samples;
    for (const SmiSample& sample : log.samples) {
        if (run.gpu && sample.gpu != run.gpu)
            rows.drop("line of another GPU");
        else if (std::isnan(sample.time_s) || std::isnan(sample.power_w))
            rows.drop("line without time or power");
        else
            samples.push_back(sample);
    }
    const auto is_earlier = [](const SmiSample& a, const SmiSample& b) { return a.time_s < b.time_s; };
    if (!std::is_sorted(samples.begin(), samples.end(), is_earlier))
        throw FormatError("the times of the log '" + name +
                          "' go back: its clock was set, or several logs were "
                          "joined. Import them one by one.");
    return samples;
}

/// From the first line with a kernel running to the last.
std::span<const SmiSample> loaded(std::span<const SmiSample> samples, PublishedRows& rows) {
    const bool tells =
        std::any_of(samples.begin(), samples.end(), [](const SmiSample& s) { return s.utilization > 0; });
    if (!tells) return samples;
    const auto idle = [](const SmiSample& s) { return !(s.utilization > 0); };
    const auto first = std::find_if_not(samples.begin(), samples.end(), idle);
    const auto last = std::find_if_not(samples.rbegin(), samples.rend(), idle).base();
    rows.drop("line before or after the load (utilisation 0)", std::ssize(samples) - (last - first));
    return {first, last};
}

/// Each end of the run lies anywhere within a period of its line: a uniform
/// error, of variance period^2 / 12.
double window_sigma_s(std::span<const SmiSample> samples) {
    std::vector<double> periods;
    for (std::size_t i = 1; i < samples.size(); ++i) periods.push_back(samples[i].time_s - samples[i - 1].time_s);
    return median(periods) / std::sqrt(6.0);
}

NetworkMeasurement measurement_of(std::span<const SmiSample> samples, const LoggedRun& run, ThesisPower& power) {
    std::vector<PowerSample> log;
    for (const SmiSample& sample : samples) log.push_back({sample.time_s, sample.power_w});
    power = thesis_power(log);
    const double total_s = samples.back().time_s - samples.front().time_s;
    const ThesisResult result = thesis_result(power, total_s, window_sigma_s(samples), run.calls);
    NetworkMeasurement m;
    m.model = run.model;
    m.symbols = run.symbols;
    m.mode = run.mode;
    m.precision = run.precision;
    m.asked.math = math_of(measured_precision_named(run.precision));
    m.asked.host = run.host;
    m.real = m.asked;
    m.asked.sm_clock_mhz = run.sm_clock_mhz;
    m.asked.memory_clock_mhz = run.memory_clock_mhz;
    m.asked.power_limit_w = run.power_limit_w;
    m.time.mean_s = m.time.median_s = result.time_s;  // one number stands for both
    m.time.half_width_s = half_width_95(result.time_sigma_s);
    m.energy.emplace();
    m.energy->energy_j = result.energy_j;
    m.energy->power_w = power.mean_w;
    m.energy->half_width_j = half_width_95(result.energy_sigma_j);
    m.energy->gain_error = nvidia_sensor_gain_error;
    m.energy->window_s = total_s;
    m.energy->ticks = power.samples;
    m.energy->calls = run.calls;
    m.energy->meter = "log of nvidia-smi";
    m.wall_s = total_s;
    return m;
}

/// The first line's time is the log's name: nvidia-smi prints local time
/// without a zone, so it is no moment in UTC.
Provenance provenance_of(double first_s, const LoggedRun& run) {
    std::string local = utc_time_stamp(first_s);
    if (!local.empty()) local.pop_back();  // the Z
    Provenance provenance;
    provenance.session = "smi-log " + local + (run.gpu ? " gpu " + std::to_string(*run.gpu) : "");
    provenance.worker = "unknown";
    provenance.framework = "unknown";
    provenance.governor = "unknown";
    provenance.method = name(Method::thesis);
    provenance.source = "smi-log";
    return provenance;
}

}  // namespace

Import import_smi_log(Dataset& dataset, std::istream& input, const std::string& name, const LoggedRun& run) {
    PublishedRows rows(dataset);
    if (run.calls < 1) throw Error("a run has one call or more, not " + std::to_string(run.calls) + ".");
    const Device* device = rows.device(run.device);
    if (device == nullptr) throw Error(PublishedRows::no_sheet(run.device) + ".");
    std::istringstream text(read_unpacked(input, name));
    const SmiLog log = read_smi_log(text, name);
    if (!log.has_header) rows.note(std::string("no line names columns, so they are taken to be ") + smi_log_columns);
    rows.drop("line that is cut off or no sample", static_cast<std::int64_t>(log.skipped_lines));
    const std::vector<SmiSample> samples = of_one_gpu(log, name, run, rows);
    const std::span<const SmiSample> window = loaded(samples, rows);
    if (window.size() < 2 || !(window.back().time_s > window.front().time_s))
        throw FormatError("the log '" + name +
                          "' shows no run: it needs two lines at different times "
                          "with the device at work.");
    ThesisPower power;
    NetworkRow row{0, measurement_of(window, run, power), provenance_of(window.front().time_s, run)};
    row.measurement.asked.device = row.measurement.real.device = device->id;
    rows.add(std::move(row));
    rows.use(power.samples - 1);
    rows.drop("line more than three standard deviations from the mean", power.dropped);
    return rows.commit();
}

}  // namespace joulecast
