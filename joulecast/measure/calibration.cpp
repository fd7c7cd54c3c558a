#include "joulecast/measure/calibration.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "joulecast/measure/load.h"
#include "joulecast/measure/power_samples.h"
#include "joulecast/units/statistics.h"

namespace joulecast {

namespace {

constexpr int reads_for_cost = 21;
constexpr double idle_look_s = 2e-3;
/// Values are told in multiples of a thousandth of their unit at the finest (mW, mJ), RAPL in microjoules.
constexpr double micro = 1e6;

/// What a meter said over a while.
struct Log {
    std::vector<double> renewed_at_s;
    std::vector<double> values;  ///< at those times: J or W
    double first_s = 0.0;
    double last_s = 0.0;
    double integral_j = 0.0;  ///< of power
};

/// Follows a meter's value from renewal to renewal.
class ValueLog {
  public:
    explicit ValueLog(Meter& meter) : meter_(meter) {}

    void look(Clock& clock) {
        const MeterReading reading = meter_.read();
        const double time_s = std::isfinite(reading.time_s) ? reading.time_s : clock.now_s();
        const double value = meter_.facts().counts_energy ? reading.energy_j : reading.power_w;
        if (!started_) log_.first_s = time_s;
        if (started_ && !meter_.facts().counts_energy)
            log_.integral_j += 0.5 * (value + last_) * (time_s - log_.last_s);
        if (started_ && value != last_) {
            log_.renewed_at_s.push_back(time_s);
            log_.values.push_back(value);
        }
        started_ = true;
        last_ = value;
        log_.last_s = time_s;
    }
    const Log& log() const { return log_; }
    double last() const { return last_; }

  private:
    Meter& meter_;
    bool started_ = false;
    double last_ = 0.0;
    Log log_;
};

double read_cost(Meter& meter, Clock& clock) {
    std::vector<double> costs;
    for (int i = 0; i < reads_for_cost; ++i) {
        const double before_s = clock.now_s();
        meter.read();
        costs.push_back(clock.now_s() - before_s);
    }
    return median(costs);
}

double period(const Log& log) {
    std::vector<double> gaps;
    for (std::size_t i = 1; i < log.renewed_at_s.size(); ++i) {
        gaps.push_back(log.renewed_at_s[i] - log.renewed_at_s[i - 1]);
    }
    return median(gaps);
}

double quantum(const Log& log) {
    std::int64_t divisor = 0;
    for (std::size_t i = 1; i < log.values.size(); ++i) {
        const double step = std::abs(log.values[i] - log.values[i - 1]) * micro;
        if (!(step < 1e15)) return std::numeric_limits<double>::quiet_NaN();
        divisor = std::gcd(divisor, static_cast<std::int64_t>(std::llround(step)));
    }
    return divisor > 0 ? static_cast<double>(divisor) / micro : std::numeric_limits<double>::quiet_NaN();
}

/// Of a counter from first to last renewal; of power over all of it.
double mean_power(const Log& log, bool counts_energy) {
    if (!counts_energy) return log.integral_j / (log.last_s - log.first_s);
    if (log.values.size() < 2) return std::numeric_limits<double>::quiet_NaN();
    return (log.values.back() - log.values.front()) / (log.renewed_at_s.back() - log.renewed_at_s.front());
}

/// Median power of a fifth of a counter's log: what wakes the device for a moment is not its idle power, and fifths are
/// long enough that their edges do not count.
double median_stretch(const Log& log) {
    constexpr std::size_t stretches = 5;
    const std::size_t length = log.values.size() / stretches;
    if (length == 0) return mean_power(log, true);
    std::vector<double> watts;
    for (std::size_t from = 0; from + length < log.values.size(); from += length) {
        watts.push_back((log.values[from + length] - log.values[from]) /
                        (log.renewed_at_s[from + length] - log.renewed_at_s[from]));
    }
    return median(watts);
}

class Calibrator {
  public:
    Calibrator(const CalibrationBench& bench, const CalibrationRule& rule) : bench_(bench), rule_(rule) {
        result_.meter = bench.meter.facts().name;
        result_.duty = bench.meter.facts().duty;
    }

    Calibration run() {
        result_.read_cost_s = read_cost(bench_.meter, bench_.clock);
        look_cost_s_ = result_.read_cost_s;
        if (counts() && bench_.power != nullptr) look_cost_s_ += read_cost(*bench_.power, bench_.clock);
        compare_idle();
        compare_busy();
        follow_square_wave();
        return result_;
    }

  private:
    bool counts() const { return bench_.meter.facts().counts_energy; }
    Meter* power_meter() const { return counts() ? bench_.power : &bench_.meter; }

    /// `between` passes the time between two looks.
    template <class Between>
    void look_for(double seconds, ValueLog& meter, ValueLog* power, Between between) {
        const double end_s = bench_.clock.now_s() + seconds;
        while (bench_.clock.now_s() < end_s) {
            meter.look(bench_.clock);
            if (power != nullptr) power->look(bench_.clock);
            between();
        }
    }

    void compare_idle() {
        bench_.clock.sleep(rule_.settle_s);
        ValueLog meter(bench_.meter);
        ValueLog power(power_meter() != nullptr ? *power_meter() : bench_.meter);
        ValueLog* second = counts() && bench_.power != nullptr ? &power : nullptr;
        std::vector<double> watts;
        look_for(rule_.compare_s, meter, second, [&] {
            if (!counts()) watts.push_back(meter.last());
            bench_.clock.sleep(idle_look_s);
        });
        result_.idle_power_w = counts() ? median_stretch(meter.log()) : median(watts);
        if (second != nullptr) {
            result_.idle_disagreement = mean_power(meter.log(), true) / mean_power(power.log(), false) - 1.0;
        }
    }

    void compare_busy() {
        Load load(bench_.load, bench_.clock, bench_.call_s);
        const double chunk_s = this->chunk_s();
        load.keep_on_for(rule_.settle_s, chunk_s);
        ValueLog meter(bench_.meter);
        ValueLog power(power_meter() != nullptr ? *power_meter() : bench_.meter);
        ValueLog* second = counts() && bench_.power != nullptr ? &power : nullptr;
        look_for(rule_.compare_s, meter, second, [&] { load.keep_on(chunk_s); });
        load.drain();
        result_.period_s = period(meter.log());
        result_.quantum = quantum(meter.log());
        result_.busy_power_w = mean_power(meter.log(), counts());
        if (second != nullptr) {
            result_.busy_disagreement = result_.busy_power_w / mean_power(power.log(), false) - 1.0;
        }
    }

    /// Fine enough to see a meter that renews itself every millisecond, coarse against the cost of looking.
    double chunk_s() const { return std::max(1e-4, 4.0 * look_cost_s_); }

    void follow_square_wave() {
        Meter* const power = power_meter();
        if (power == nullptr) return;
        std::vector<double> lags;
        std::vector<double> rises;
        for (int wave = 0; wave < rule_.square_waves; ++wave) {
            bench_.clock.sleep(rule_.half_wave_s);
            const double low_w = power->read().power_w;
            const double on_s = bench_.clock.now_s();
            std::vector<PowerSample> samples;
            Load load(bench_.load, bench_.clock, bench_.call_s);
            while (bench_.clock.now_s() < on_s + rule_.half_wave_s) {
                load.keep_on(chunk_s());
                samples.push_back({bench_.clock.now_s(), power->read().power_w});
            }
            load.drain();
            const double step_w = samples.back().power_w - low_w;
            const auto reached = [&](double share) {
                return std::find_if(samples.begin(), samples.end(),
                                    [&](const PowerSample& sample) { return sample.power_w >= low_w + share * step_w; })
                           ->time_s -
                       on_s;
            };
            if (!(step_w > 0.0)) continue;
            lags.push_back(reached(0.1));
            rises.push_back(reached(0.9) - reached(0.1));
        }
        result_.lag_s = median(lags);
        result_.rise_s = median(rises);
    }

    const CalibrationBench& bench_;
    const CalibrationRule& rule_;
    Calibration result_;
    double look_cost_s_ = 0.0;  ///< of reading both meters
};

}  // namespace

bool is_suspect(const Calibration& calibration) {
    return std::abs(calibration.idle_disagreement) > suspect_disagreement ||
           std::abs(calibration.busy_disagreement) > suspect_disagreement;
}

MeterTraits traits_from(const Calibration& calibration, const MeterFacts& facts) {
    MeterTraits traits = traits_from(facts);
    if (calibration.period_s > 0.0) traits.period_s = calibration.period_s;
    if (calibration.read_cost_s >= 0.0) traits.read_cost_s = calibration.read_cost_s;
    if (calibration.lag_s >= 0.0 && calibration.rise_s >= 0.0) {
        // Twice the rise from a tenth to nine tenths is 4.4 time constants: 1 % is left.
        traits.settle_s = std::max(traits.settle_s, calibration.lag_s + 2.0 * calibration.rise_s);
    }
    traits.duty = calibration.duty;
    traits.idle_power_w = calibration.idle_power_w;
    traits.suspect = is_suspect(calibration);
    return traits;
}

Calibration calibrate(const CalibrationBench& bench, const CalibrationRule& rule) {
    return Calibrator(bench, rule).run();
}

}  // namespace joulecast
