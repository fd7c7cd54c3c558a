#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>

#include "joulecast/measure/workload.h"
#include "joulecast/meter/meter.h"

namespace joulecast {

/// A device, its host and its power sensor in simulated time: nothing waits. Power is `busy_w` while calls run and
/// `idle_w` else; the sensor publishes the energy used so far, and the mean power since the last time, every period_s.
class SimulatedBench final : public Clock {
  public:
    double idle_w = 50.0;
    /// Power under load at that time; tests put noise, drift or phases of a call here.
    std::function<double(double)> busy_w = [](double) { return 250.0; };
    double period_s = 0.1;
    double jitter_s = 0.0;  ///< of the period, uniform, either way
    double duty = 1.0;      ///< the sensor sees the last share of each period and takes it for the whole
    double step_s = 1e-3;   ///< busy_w is taken as constant for so long

    double now_s() override {
        advance(1e-7);  // reading a clock takes time: whoever polls it gets on
        return now_;
    }
    void sleep(double seconds) override {
        slept_s += seconds;
        advance(seconds);
    }

    double time() const { return now_; }
    double next_tick() const { return next_tick_; }
    double energy_j() const { return energy_; }
    double published_energy_j() const { return published_energy_; }
    double published_power_w() const { return published_power_; }

    /// The host does something else; the device runs on with what it has.
    void advance(double seconds) {
        const double end = now_ + seconds;
        while (now_ < end) step(std::min({end, next_tick_, grid_end()}));
    }
    /// A device in step with its host: busy for that long.
    void work(double seconds) {
        busy_until_ = now_ + seconds;
        advance(seconds);
    }
    /// A device apart: that much more at the end of its queue.
    double queue(double seconds) {
        if (now_ > busy_until_) gaps_s += running_ ? now_ - busy_until_ : 0.0;
        running_ = true;
        busy_until_ = std::max(busy_until_, now_) + seconds;
        return busy_until_;
    }
    double busy_until() const { return busy_until_; }
    void drained() { running_ = false; }

    double gaps_s = 0.0;  ///< the queue ran dry for so long, between a first issue and a wait
    double slept_s = 0.0;

  private:
    double grid_end() const { return (std::floor(now_ / step_s + 1e-9) + 1.0) * step_s; }
    void step(double to) {
        if (busy_until_ > now_) to = std::min(to, busy_until_);
        const bool busy = busy_until_ > now_;
        const double power = busy ? busy_w(now_) : idle_w;
        const double joules = power * (to - now_);
        energy_ += joules;
        if (to > next_tick_ - duty * period_s) {
            const double seen = to - std::max(now_, next_tick_ - duty * period_s);
            seen_j_ += power * seen;
            seen_s_ += seen;
        }
        now_ = to;
        if (now_ >= next_tick_) publish();
    }
    void publish() {
        const double mean = seen_s_ > 0.0 ? seen_j_ / seen_s_ : published_power_;
        published_energy_ += duty < 1.0 ? mean * (now_ - last_tick_) : energy_ - energy_at_tick_;
        published_power_ = mean;
        energy_at_tick_ = energy_;
        seen_j_ = seen_s_ = 0.0;
        last_tick_ = now_;
        next_tick_ = now_ + period_s + jitter_s * uniform_(random_);
    }

    std::mt19937_64 random_{11};
    std::uniform_real_distribution<double> uniform_{-1.0, 1.0};
    double now_ = 100.0;
    double busy_until_ = 0.0;
    bool running_ = false;
    double energy_ = 1000.0;
    double next_tick_ = 100.037;
    double last_tick_ = 99.937;
    double energy_at_tick_ = 1000.0;
    double published_energy_ = 1000.0;
    double published_power_ = 50.0;
    double seen_j_ = 0.0;
    double seen_s_ = 0.0;
};

/// Calls of `call_s` each, on a device in step with its host or, with issue_s, apart from it.
class SimulatedCalls final : public Workload {
  public:
    SimulatedCalls(SimulatedBench& bench, double call_s) : bench_(bench), call_s_(call_s) {}

    void run(std::int64_t calls, bool hot) override {
        issue(calls, hot);
        wait();
    }
    std::int64_t rotation() const override { return 4; }
    std::int64_t run_multiple() const override { return multiple; }
    bool runs_apart() const override { return issue_s >= 0.0; }
    void issue(std::int64_t calls, bool hot) override {
        done += calls;
        hot_calls += hot ? calls : 0;
        uneven += calls % multiple;
        if (!runs_apart()) return bench_.work(static_cast<double>(calls) * call_s_);
        for (std::int64_t call = 0; call < calls; call += multiple) {
            bench_.advance(issue_s);
            queue_.emplace_back(bench_.queue(static_cast<double>(multiple) * call_s_), multiple);
        }
    }
    std::int64_t pending() override {
        bench_.advance(pending_cost_s);
        while (!queue_.empty() && queue_.front().first <= bench_.time()) queue_.pop_front();
        std::int64_t calls = 0;
        for (const auto& entry : queue_) calls += entry.second;
        most_pending = std::max(most_pending, calls);
        return calls;
    }
    void wait() override {
        if (!runs_apart()) return;
        bench_.advance(std::max(0.0, bench_.busy_until() - bench_.time()) + 1e-6);
        queue_.clear();
        bench_.drained();
    }

    double issue_s = -1.0;  ///< host time of one issue (of run_multiple calls); negative: in step with the host
    double pending_cost_s = 5e-6;
    std::int64_t multiple = 1;
    std::int64_t done = 0;
    std::int64_t hot_calls = 0;
    std::int64_t uneven = 0;
    std::int64_t most_pending = 0;

  private:
    SimulatedBench& bench_;
    double call_s_;
    std::deque<std::pair<double, std::int64_t>> queue_;
};

/// Reads what the bench's sensor last published.
class SimulatedMeter final : public Meter {
  public:
    SimulatedMeter(SimulatedBench& bench, bool counts_energy) : bench_(bench) {
        facts_ = {
            counts_energy ? "simulated-counter" : "simulated-power", "the bench", counts_energy, 0.1, 0.05, bench.duty};
    }
    const MeterFacts& facts() const override { return facts_; }
    MeterReading read() override {
        bench_.advance(read_cost_s / 2);
        if (bench_.time() >= lost_at_s) throw MeterLost("the simulated meter fell off the bus");
        MeterReading reading;
        reading.time_s = bench_.time();
        double value = gain * (facts_.counts_energy ? bench_.published_energy_j() : bench_.published_power_w());
        if (quantum > 0.0) value = std::floor(value / quantum) * quantum;
        (facts_.counts_energy ? reading.energy_j : reading.power_w) = value;
        if (stuck) reading.energy_j = 1.0;
        bench_.advance(read_cost_s / 2);
        ++reads;
        return reading;
    }

    double read_cost_s = 100e-6;
    double gain = 1.0;
    double quantum = 0.0;  ///< values are told in multiples of it
    double lost_at_s = std::numeric_limits<double>::infinity();
    bool stuck = false;
    std::int64_t reads = 0;

  private:
    SimulatedBench& bench_;
    MeterFacts facts_;
};

}  // namespace joulecast
