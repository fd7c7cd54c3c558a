#include "joulecast/measure/energy_window.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "joulecast/measure/load.h"
#include "joulecast/units/normal.h"
#include "joulecast/units/statistics.h"

namespace joulecast {

namespace {

/// Calls this long can fall into step with a sensor that looks away for most of its period.
constexpr double long_call_s = 0.02;
/// Intervals shorter than this are put together: judging each renewal of a meter that renews every millisecond would
/// cost more reads than calls.
constexpr double shortest_interval_s = 0.01;
/// A counter that does not move for so long (or four periods) is lost.
constexpr double stuck_after_s = 1.0;
constexpr std::int64_t fewest_intervals = 3;

double square(double x) {
    return x * x;
}

/// A renewal of the meter's value.
struct Tick {
    double time_s = 0.0;
    double energy_j = 0.0;
    double paused_s = 0.0;  ///< random pauses until then
    double edge_s = 0.0;    ///< the renewal happened within this long before time_s
    double busy_s = 0.0;    ///< calls ran for so long until then
};

/// Follows a meter: joules as it counts them, or the integral of its watts.
class Follower {
  public:
    Follower(Meter& meter, Clock& clock, double period_s) : meter_(meter), clock_(clock), period_s_(period_s) {
        poll();
        renewed_at_s_ = time_s_;
    }

    /// Reads once; true when the value is a new one. A power that stays the same counts as renewed once a period.
    bool poll() {
        const MeterReading reading = meter_.read();
        const double time_s = std::isfinite(reading.time_s) ? reading.time_s : clock_.now_s();
        const bool renewed = meter_.facts().counts_energy ? count(reading) : integrate(reading, time_s);
        gap_s_ = time_s - time_s_;
        time_s_ = time_s;
        if (renewed) renewed_at_s_ = time_s;
        return renewed;
    }

    double time_s() const { return time_s_; }
    /// The renewal that poll() has just seen. An integral of power is as long as its window wherever that ends: only a
    /// counter's joules are of a moment before they are read.
    Tick tick() const {
        const double edge_s = meter_.facts().counts_energy ? std::clamp(gap_s_, 0.0, period_s_) : 0.0;
        return {time_s_, energy_j_, 0.0, edge_s, 0.0};
    }

  private:
    bool count(const MeterReading& reading) {
        if (!std::isfinite(reading.energy_j)) throw MeterLost(lost("reports no energy"));
        const bool renewed = reading.energy_j != energy_j_;
        if (started_ && reading.energy_j < energy_j_) throw MeterLost(lost("counts backwards"));
        started_ = true;
        energy_j_ = reading.energy_j;
        return renewed;
    }
    bool integrate(const MeterReading& reading, double time_s) {
        if (!std::isfinite(reading.power_w)) throw MeterLost(lost("reports no power"));
        if (started_) energy_j_ += 0.5 * (reading.power_w + power_w_) * std::max(0.0, time_s - time_s_);
        const bool renewed = reading.power_w != power_w_ || time_s - renewed_at_s_ >= period_s_;
        started_ = true;
        power_w_ = reading.power_w;
        return renewed;
    }
    std::string lost(const std::string& what) const { return "the meter " + meter_.facts().name + " " + what; }

    Meter& meter_;
    Clock& clock_;
    double period_s_;
    bool started_ = false;
    double time_s_ = 0.0;
    double gap_s_ = 0.0;
    double renewed_at_s_ = 0.0;
    double energy_j_ = 0.0;
    double power_w_ = 0.0;
};

/// One window over one workload.
class Window {
  public:
    Window(Workload& workload, Meter& meter, Clock& clock, const EnergyRule& rule, const MeterTraits& traits)
        : workload_(workload),
          meter_(meter),
          clock_(clock),
          rule_(rule),
          traits_(traits),
          load_(workload, clock, rule.call_s),
          random_(rule.seed),
          shifts_(traits.duty < 1.0 && rule.call_s >= long_call_s && std::isfinite(traits.idle_power_w)) {
        // Coarse enough that reading takes a fifth at most, fine enough that an edge is known to 2 % of a period. A
        // device apart needs a queue that outlasts a read.
        chunk_s_ = std::max({traits.period_s / 50.0, 4.0 * traits.read_cost_s, workload.runs_apart() ? 1e-3 : 0.0});
        if (!meter.facts().counts_energy) chunk_s_ = std::min(std::max(chunk_s_, 1e-3), traits.period_s / 2.0);
    }

    EnergySummary take() {
        const double settle_s = std::max(traits_.settle_s - rule_.load_on_s, 0.0);
        load_.keep_on_for(settle_s, std::max(chunk_s_, 1e-3));
        Follower follower(meter_, clock_, traits_.period_s);
        // A window of six periods must not take a seventh because one came a little early.
        const double window_s = window_length(rule_, traits_) - 0.2 * traits_.period_s;
        std::vector<Tick> ticks = {next_tick(follower, follower.time_s())};
        shifted_at_s_ = ticks.front().time_s;
        const double interval_s = std::max(traits_.period_s, shortest_interval_s);
        while (true) {
            shift_phase();
            ticks.push_back(next_tick(follower, ticks.back().time_s + interval_s - traits_.period_s / 2.0));
            const double span_s = ticks.back().time_s - ticks.front().time_s - ticks.back().paused_s;
            const auto intervals = static_cast<std::int64_t>(ticks.size()) - 1;
            if (span_s >= window_s && (intervals >= fewest_intervals || span_s >= rule_.longest_s)) break;
        }
        load_.drain();
        return summary(ticks);
    }

  private:
    /// The first renewal seen at or after that time, the load on meanwhile.
    Tick next_tick(Follower& follower, double not_before_s) {
        // Nothing to see for a while: run on without reading.
        const double look_from_s = not_before_s - traits_.period_s / 2.0;
        while (clock_.now_s() < look_from_s) load_.keep_on(std::min(1e-3, traits_.period_s / 4.0));
        if (follower.time_s() < look_from_s) follower.poll();
        const double stuck_s = clock_.now_s() + std::max(stuck_after_s, 4.0 * traits_.period_s) + 2.0 * rule_.call_s;
        while (true) {
            const double next_poll_s = clock_.now_s() + poll_every_s();
            do load_.keep_on(chunk_s_);
            while (clock_.now_s() < next_poll_s);
            if (follower.poll() && follower.time_s() >= not_before_s) {
                Tick tick = follower.tick();
                tick.paused_s = paused_s_;
                tick.busy_s = load_.busy_s();
                return tick;
            }
            if (clock_.now_s() > stuck_s) {
                throw MeterLost("the meter " + meter_.facts().name + " did not move under load");
            }
        }
    }

    /// Power is polled at half its period; a counter as often as there is time.
    double poll_every_s() const { return meter_.facts().counts_energy ? 0.0 : traits_.period_s / 2.0; }

    /// A sensor that sees a quarter of each period, and calls that repeat in step with it: what it sees is not the
    /// mean. A random pause every two periods moves the calls against the sensor.
    void shift_phase() {
        if (!shifts_ || clock_.now_s() - shifted_at_s_ < 2.0 * traits_.period_s) return;
        load_.drain();
        std::uniform_real_distribution<double> pause(0.0, traits_.period_s / 2.0);
        const double start_s = clock_.now_s();
        clock_.sleep(pause(random_));
        shifted_at_s_ = clock_.now_s();
        paused_s_ += shifted_at_s_ - start_s;
    }

    /// Mean power between two ticks, without what the device drew in pauses.
    double power(const Tick& from, const Tick& to) const {
        const double paused_s = to.paused_s - from.paused_s;
        const double idle_j = paused_s > 0.0 ? paused_s * traits_.idle_power_w : 0.0;
        return (to.energy_j - from.energy_j - idle_j) / (to.time_s - from.time_s - paused_s);
    }

    EnergySummary summary(const std::vector<Tick>& ticks) const {
        const Tick& first = ticks.front();
        const Tick& last = ticks.back();
        std::vector<double> powers;
        std::vector<double> times;
        for (std::size_t i = 1; i < ticks.size(); ++i) {
            powers.push_back(power(ticks[i - 1], ticks[i]));
            times.push_back(0.5 * (ticks[i - 1].time_s + ticks[i].time_s));
        }
        const Gaps gaps = gaps_between(first, last);
        EnergySummary result;
        result.power_w = power(first, last) * gaps.factor;
        result.idle_power_w = traits_.idle_power_w;
        result.window_s = last.time_s - first.time_s;
        result.ticks = static_cast<std::int64_t>(powers.size());
        result.calls = load_.calls();
        result.drift_per_s = relative_slope(times, powers);
        result.gain_error = meter_.facts().gain_error;
        result.meter = meter_.facts().name;
        result.suspect = traits_.suspect;
        set_energy(result);
        const double edge =
            normal_95 * std::sqrt((square(first.edge_s) + square(last.edge_s)) / 12.0) / result.window_s;
        const double time = rule_.call_s > 0.0 ? rule_.time_half_width_s / rule_.call_s : 0.0;
        result.half_width_j = result.energy_j * std::sqrt(square(relative_half_width(powers)) + square(edge) +
                                                          square(time) + square(gaps.half_width));
        return result;
    }

    void set_energy(EnergySummary& result) const {
        const double per_call_s = load_.busy_s() / static_cast<double>(load_.calls());
        result.dynamic_energy_j = (result.power_w - traits_.idle_power_w) * per_call_s;
        result.energy_j = rule_.waits_between_calls ? result.dynamic_energy_j + traits_.idle_power_w * rule_.call_s
                                                    : result.power_w * per_call_s;
    }

    /// On a device in step with its host, reads and preparations stand between the calls. Their power lies somewhere
    /// between idle and the calls': the middle is taken, and half of the difference is error.
    struct Gaps {
        double factor = 1.0;      ///< power of the calls / mean power of the window
        double half_width = 0.0;  ///< relative
    };
    Gaps gaps_between(const Tick& first, const Tick& last) const {
        if (workload_.runs_apart()) return {};
        const double all_s = last.time_s - first.time_s - (last.paused_s - first.paused_s);
        const double busy = std::clamp((last.busy_s - first.busy_s) / all_s, 0.1, 1.0);
        if (!std::isfinite(traits_.idle_power_w)) return {1.0, 0.5 * (1.0 / busy - 1.0)};
        const double idle = std::clamp(traits_.idle_power_w / power(first, last), 0.0, 1.0);
        const double highest = (1.0 - (1.0 - busy) * idle) / busy;
        return {0.5 * (1.0 + highest), 0.5 * (highest - 1.0)};
    }

    /// 95 %, of the mean of the intervals' powers.
    static double relative_half_width(const std::vector<double>& powers) {
        if (powers.size() < 2) return std::numeric_limits<double>::quiet_NaN();
        const double effective = std::max(2.0, effective_samples(powers));
        return student_t_quantile(0.975, effective - 1.0) * standard_deviation(powers) / std::sqrt(effective) /
               mean(powers);
    }

    static double relative_slope(const std::vector<double>& times, const std::vector<double>& powers) {
        if (powers.size() < 3) return std::numeric_limits<double>::quiet_NaN();
        const double mean_time = mean(times);
        const double mean_power = mean(powers);
        double covariance = 0.0;
        double variance = 0.0;
        for (std::size_t i = 0; i < powers.size(); ++i) {
            covariance += (times[i] - mean_time) * (powers[i] - mean_power);
            variance += square(times[i] - mean_time);
        }
        return covariance / variance / mean_power;
    }

    Workload& workload_;
    Meter& meter_;
    Clock& clock_;
    const EnergyRule& rule_;
    const MeterTraits& traits_;
    Load load_;
    std::mt19937_64 random_;
    bool shifts_;
    double chunk_s_ = 0.0;
    double paused_s_ = 0.0;
    double shifted_at_s_ = 0.0;
};

}  // namespace

double window_length(const EnergyRule& rule, const MeterTraits& traits) {
    const bool looks_away = traits.duty < 1.0 && rule.call_s >= long_call_s;
    if (looks_away) return rule.longest_s;
    return std::min(std::max(rule.window_s, 6.0 * traits.period_s), rule.longest_s);
}

EnergyResult measure_energy(Workload& workload, Meter& meter, Clock& clock, const EnergyRule& rule,
                            const MeterTraits& traits) {
    if (rule.waits_between_calls && !std::isfinite(traits.idle_power_w)) {
        return {std::nullopt,
                "the calls are launch-bound, cannot be replayed as a graph, and the power of the idle "
                "device is not known: the window would measure it waiting"};
    }
    try {
        Window window(workload, meter, clock, rule, traits);
        return {window.take(), ""};
    } catch (const MeterLost& lost) {
        // What is still queued must not run into whatever is measured next.
        workload.wait();
        return {std::nullopt, lost.what()};
    }
}

}  // namespace joulecast
