#include "joulecast/train/pooled_samples.h"

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "joulecast/forecast/issue_cost.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

/// Of one device and kind of call, so that no device outvotes the others: at even steps of the rows' times.
constexpr std::size_t most_rows_of_kind = 1500;
/// A launch is read off the shortest calls where there are so many; an eager launch with its events takes no longer
/// than that on any of the published GPUs.
constexpr std::size_t least_rows_of_launch = 50;
constexpr double longest_launch_s = 50e-6;
/// Below this share of the whole a kernel's time is mostly the launch's noise.
constexpr double least_kernel_share = 0.3;

using KindOnDevice = std::pair<std::string, std::string>;  ///< key and device

double shortest(const std::vector<const TrainingRow*>& rows) {
    std::vector<double> times;
    for (const TrainingRow* row : rows) times.push_back(row->time_s);
    return std::clamp(quantile(times, 0.005) - usual_kernel_latency_s, 0.0, longest_launch_s);
}

/// Rows where a kernel of which bytes decide takes much longer than the host does, and how many of them tell.
constexpr double long_calls = 4;
constexpr std::size_t least_long_rows = 20;
/// A single call between two events takes as long as the host needs to issue it with both, however short its kernel;
/// behind a longer kernel the second event waits in the queue already, and what the host took for it is hidden. That
/// part of `launch_s`: what is left of it is read off long streams, whose time is a constant, the kernel's latency in
/// it, and a multiple of their bytes' time (weighed by 1 / time^2). NaN where too few rows tell.
double hidden_of_launch(const std::vector<const TrainingRow*>& rows, const Device& device, Math math, double launch_s) {
    double w = 0, x = 0, y = 0, xx = 0, xy = 0;
    std::size_t count = 0;
    for (const TrainingRow* row : rows) {
        if (row->time_s < long_calls * launch_s) continue;
        const double roof_s = seconds(roofline(row->operation.operation, device, math));
        const double weight = 1 / (row->time_s * row->time_s);
        w += weight;
        x += weight * roof_s;
        y += weight * row->time_s;
        xx += weight * roof_s * roof_s;
        xy += weight * roof_s * row->time_s;
        ++count;
    }
    const double spread = w * xx - x * x;
    if (count < least_long_rows || !(spread > 0)) return std::numeric_limits<double>::quiet_NaN();
    const double without_bytes_s = (xx * y - x * xy) / spread;
    return launch_s + usual_kernel_latency_s - without_bytes_s;
}

/// Families that at least two devices have measured in training.
std::set<Family> trained_in_training(std::span<const DeviceRows* const> parts) {
    std::map<Family, std::set<std::string>> devices;
    for (const DeviceRows* part : parts) {
        for (const TrainingRow& row : part->rows) {
            if (mode(row.operation.operation) == Mode::training)
                devices[row.operation.family()].insert(part->device.id);
        }
    }
    std::set<Family> families;
    for (const auto& [family, ids] : devices) {
        if (ids.size() > 1) families.insert(family);
    }
    return families;
}

/// Kernels of a graph follow each other at once, and where issuing was timed apart the row has the kernel alone: the
/// shortest of them is a short kernel, no launch.
bool has_launch(const std::vector<const TrainingRow*>& rows) {
    return std::ranges::none_of(rows,
                                [](const TrainingRow* row) { return row->host == Host::graph || is_of_device(*row); });
}

/// Of forward passes from C++, whose issuing was timed apart.
double issue_pace_of(const TrainingRow& row, const Device& device) {
    const bool is_forward = mode(row.operation.operation) == Mode::inference;
    if (!is_of_device(row) || row.host != Host::cpp || !is_forward) return 0;
    return row.issue_s / issue_from_cpp_s(row.operation, device);
}

/// Rows whose kernel can be told from their launch, of each kind not more than enough.
void append_samples(const DeviceRows& part, const std::set<Family>& in_training, std::vector<PooledSample>& samples) {
    std::map<std::string, std::vector<const TrainingRow*>> kinds;
    for (const TrainingRow& row : part.rows) {
        const Operation& operation = row.operation.operation;
        if (!(row.time_s > 0)) continue;
        if (mode(operation) == Mode::training && !in_training.contains(row.operation.family())) continue;
        kinds[law_key(operation)].push_back(&row);
    }
    double launch_of_few = longest_launch_s;
    bool is_known = false;
    for (const auto& [key, rows] : kinds) {
        if (rows.size() < least_rows_of_launch || !has_launch(rows)) continue;
        launch_of_few = std::min(launch_of_few, shortest(rows));
        is_known = true;
    }
    if (!is_known) launch_of_few = 0;
    // The host and its events are the same for all kinds.
    std::vector<double> hidden_parts;
    for (const auto& [key, rows] : kinds) {
        if (rows.front()->operation.family() != Family::elementwise || rows.size() < least_rows_of_launch) continue;
        if (!has_launch(rows)) continue;
        const double hidden = hidden_of_launch(rows, part.device, part.setting.math, shortest(rows));
        if (!std::isnan(hidden)) hidden_parts.push_back(hidden);
    }
    const double hidden_s = hidden_parts.empty() ? 0 : std::max(0.0, median(hidden_parts));
    for (const auto& [key, rows] : kinds) {
        const double launch = !has_launch(rows)                    ? 0
                              : rows.size() < least_rows_of_launch ? launch_of_few
                                                                   : shortest(rows);
        const double hidden = std::min(hidden_s, launch);
        std::vector<std::pair<double, const TrainingRow*>> by_time;
        for (const TrainingRow* row : rows) {
            if (row->time_s - launch >= least_kernel_share * row->time_s) by_time.emplace_back(row->time_s, row);
        }
        for (const TrainingRow* row : at_even_steps(std::move(by_time), most_rows_of_kind)) {
            samples.push_back({row->operation, key, family_law_key(row->operation.operation), &part.device,
                               part.setting.math, part.setting.engine, launch, hidden,
                               std::log(row->time_s - (launch - hidden)), issue_pace_of(*row, part.device)});
        }
    }
}

/// How far a device's values are from the middle of the others', summed over kinds and devices. One that is far off for
/// another reason must not decide: no more than that counts.
constexpr double most_deviation = 0.3;
double deviation_left_out(const std::map<std::string, std::map<std::string, double>>& by_kind) {
    double sum = 0;
    for (const auto& [kind, by_device] : by_kind) {
        for (const auto& [device, value] : by_device) {
            std::vector<double> others;
            for (const auto& [other, of_other] : by_device) {
                if (other != device) others.push_back(of_other);
            }
            if (!others.empty()) sum += std::min(most_deviation, std::abs(value - median(others)));
        }
    }
    return sum;
}

}  // namespace

std::vector<PooledSample> pooled_samples(std::span<const DeviceRows* const> parts) {
    const auto in_training = trained_in_training(parts);
    std::vector<PooledSample> samples;
    for (const DeviceRows* part : parts) append_samples(*part, in_training, samples);
    return samples;
}

namespace {

/// A sample with what its device's data sheet allows.
struct Roofed {
    const PooledSample* sample = nullptr;
    Roofline roof;
};

/// Of each kind of call on each device the median over its rows of log(kernel / what the data sheet says).
class Middles {
  public:
    /// `log_ratio` tells it of a row, or nothing of one that does not count.
    template <class LogRatio>
    Middles(std::span<const Roofed> rows, LogRatio log_ratio) {
        std::map<KindOnDevice, std::vector<double>> logs;
        for (const Roofed& row : rows) {
            const std::optional<double> log = log_ratio(row);
            if (!log) continue;
            const PooledSample& sample = *row.sample;
            logs[{sample.key, sample.device->id}].push_back(*log);
            devices_[sample.device->id] = sample.device;
        }
        for (const auto& [kind, of_kind] : logs) middles_[kind] = median(of_kind);
    }

    /// Too few devices decide nothing.
    bool are_enough() const { return devices_.size() >= 3; }

    /// deviation_left_out() where each device runs at `share(device)` of what its data sheet says.
    template <class Share>
    double deviation(Share share) const {
        std::map<std::string, std::map<std::string, double>> by_kind;
        for (const auto& [kind, middle] : middles_)
            by_kind[kind.first][kind.second] = middle + std::log(share(*devices_.at(kind.second)));
        return deviation_left_out(by_kind);
    }
    double deviation() const {
        return deviation([](const Device&) { return 1.0; });
    }

  private:
    std::map<KindOnDevice, double> middles_;
    std::map<std::string, const Device*> devices_;
};

constexpr double clearly_bound = 2;
constexpr double clearly_better = 0.8;

/// log(kernel / roofline) of a long call whose one bound is at least twice the other.
std::optional<double> log_ratio_where_bound(const Roofed& row, double bound_s, double other_s) {
    constexpr double long_roofline_s = 1e-4;
    const double roof_s = seconds(row.roof);
    if (bound_s < clearly_bound * other_s || roof_s < long_roofline_s) return std::nullopt;
    return row.sample->log_kernel - std::log(roof_s);
}

double choose_watts(std::span<const Roofed> rows) {
    const Middles middles(rows, [](const Roofed& row) -> std::optional<double> {
        const PooledSample& sample = *row.sample;
        if (compute_dtype(sample.operation.operation) != Dtype::f32 || sample.math != Math::ieee) return std::nullopt;
        return log_ratio_where_bound(row, row.roof.flop_s, row.roof.byte_s);
    });
    if (!middles.are_enough()) return 0;
    const auto deviation = [&](double watts) {
        SustainedRule rule;
        rule.watts_per_tflop = watts;
        return middles.deviation([&](const Device& device) { return sustained_share(device, rule); });
    };
    double best = 0;
    double least = clearly_better * deviation(best);
    for (const double watts : {14.0, 15.0, 16.0, 17.0, 18.0}) {
        if (const double off = deviation(watts); off < least) {
            least = off;
            best = watts;
        }
    }
    return best;
}

bool is_better_by_memory(std::span<const Roofed> rows) {
    const Middles middles(
        rows, [](const Roofed& row) { return log_ratio_where_bound(row, row.roof.byte_s, row.roof.flop_s); });
    if (!middles.are_enough()) return false;
    SustainedRule rule;
    rule.by_memory = true;
    const double with =
        middles.deviation([&](const Device& device) { return sustained_bandwidth_share(device, rule); });
    return with < clearly_better * middles.deviation();
}

/// Of calls that do so little that their kernel is mostly latency.
bool is_better_by_clock(std::span<const Roofed> rows) {
    const auto middles = [&](const SustainedRule& rule) {
        return Middles(rows, [&](const Roofed& row) -> std::optional<double> {
            const PooledSample& sample = *row.sample;
            const double roof_s = seconds(row.roof);
            if (roof_s > sample.device->kernel_latency_s) return std::nullopt;
            return sample.log_kernel - std::log(roof_s + latency_s(*sample.device, rule));
        });
    };
    SustainedRule rule;
    rule.by_clock = true;
    const Middles without = middles({});
    return without.are_enough() && middles(rule).deviation() < clearly_better * without.deviation();
}

}  // namespace

SustainedRule choose_rule(std::span<const PooledSample* const> samples) {
    std::vector<Roofed> rows;
    rows.reserve(samples.size());
    // The rules are those of float32, whose kernels come from few libraries. Serving engines' own kernels differ more
    // than memories do.
    for (const PooledSample* sample : samples) {
        if (compute_dtype(sample->operation.operation) != Dtype::f32) continue;
        rows.push_back({sample, roofline(sample->operation.operation, *sample->device, sample->math)});
    }
    return {choose_watts(rows), is_better_by_memory(rows), is_better_by_clock(rows)};
}

}  // namespace joulecast
