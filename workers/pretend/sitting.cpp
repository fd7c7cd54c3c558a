#include "workers/pretend/sitting.h"

#include <algorithm>
#include <cmath>

namespace joulecast::pretend {
namespace {

/// A host's look at a queue or a counter.
constexpr double look_s = 2e-6;
constexpr double longest_look_s = 1e-3;
/// One block in a hundred is held up by something else.
constexpr double hold_up_chance = 0.01;
constexpr double hold_up = 4;  // standard deviations

}  // namespace

Sitting::Sitting(const Card& card, Noise noise, std::uint64_t seed)
    : card_(card), noise_(noise), random_(seed), next_tick_s_(card.meter_period_s) {}

void Sitting::advance(double seconds) {
    const double end_s = now_s_ + seconds;
    while (now_s_ < end_s) {
        double next_s = std::min(end_s, next_tick_s_);
        if (now_s_ < queue_end_s_) next_s = std::min(next_s, queue_end_s_);
        draw(next_s - now_s_);
        now_s_ = next_s;
        if (now_s_ < next_tick_s_) continue;
        next_tick_s_ += card_.meter_period_s;
        std::normal_distribution<double> error(1.0, noise_.tick);
        shown_j_ += (drawn_j_ - drawn_at_tick_j_) * (noise_.tick > 0 ? error(random_) : 1.0);
        drawn_at_tick_j_ = drawn_j_;
    }
}

void Sitting::draw(double seconds) {
    drawn_j_ += power_w() * seconds;
}

void Sitting::issue(const Pace& pace, std::int64_t calls) {
    const auto count = static_cast<double>(calls);
    double factor = 1.0;
    if (noise_.block > 0) {
        std::normal_distribution<double> spread(0.0, noise_.block);
        std::uniform_real_distribution<double> chance(0.0, 1.0);
        factor =
            std::max(0.5, 1.0 + spread(random_) + (chance(random_) < hold_up_chance ? hold_up * noise_.block : 0.0));
    }
    state_ = pace.state;
    idle_w_ = pace.idle_w;
    busy_w_ = pace.power_w;
    last_block_s_ = factor * count * pace.span_s;
    if (!pace.apart) {
        queue_end_s_ = now_s_ + last_block_s_;
        advance(last_block_s_);
        return;
    }
    queue_end_s_ = std::max(queue_end_s_, now_s_ + pace.lead_s) + last_block_s_;
    advance(count * pace.host_s);
}

void Sitting::wait() {
    advance(std::max(0.0, queue_end_s_ - now_s_));
}

double Sitting::look_at_queue() {
    const double left_s = std::max(0.0, queue_end_s_ - now_s_);
    advance(std::clamp(0.1 * left_s, look_s, longest_look_s));
    return std::max(0.0, queue_end_s_ - now_s_);
}

double Sitting::counted_j() const {
    if (!(noise_.tick > 0)) return drawn_j_;
    if (!(card_.meter_quantum_j > 0)) return shown_j_;
    return std::floor(shown_j_ / card_.meter_quantum_j) * card_.meter_quantum_j;
}

double PretendedMeter::read_cost_s(const Card& card) {
    return card.is_gpu() ? look_s : 0.0;
}

PretendedMeter::PretendedMeter(Sitting& sitting, const Card& card)
    : sitting_(sitting), read_cost_s_(read_cost_s(card)) {
    facts_.name = "pretended-counter";
    facts_.covers = card.is_gpu() ? "the whole pretended card" : "the pretended processor, with its memory";
    facts_.counts_energy = true;
    facts_.period_s = card.meter_period_s;
    facts_.gain_error = 0;
}

MeterReading PretendedMeter::read() {
    sitting_.advance(read_cost_s_);
    MeterReading reading;
    reading.time_s = sitting_.now_s();
    reading.energy_j = sitting_.counted_j();
    return reading;
}

void PretendedWorkload::run(std::int64_t calls, bool hot) {
    issue(calls, hot);
    wait();
}

std::int64_t PretendedWorkload::pending() {
    return static_cast<std::int64_t>(std::ceil(sitting_.look_at_queue() / std::max(rotating_.span_s, 1e-9)));
}

double PretendedTimer::run(Workload& workload, std::int64_t calls, bool hot) {
    sitting_.wait();
    workload.run(calls, hot);
    return sitting_.last_block_s();
}

}  // namespace joulecast::pretend
