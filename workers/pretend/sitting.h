#pragma once

#include <cstdint>
#include <random>

#include "joulecast/measure/block_timer.h"
#include "joulecast/measure/workload.h"
#include "joulecast/meter/device_state.h"
#include "joulecast/meter/meter.h"
#include "workers/pretend/card.h"

namespace joulecast::pretend {

/// How calls of something go by, back to back.
struct Pace {
    bool apart = true;       ///< the device goes on while the host does: no CPU
    double host_s = 0;       ///< to issue one
    double lead_s = 0;       ///< from the first issue to the first kernel
    double span_s = 0;       ///< from one to the next on the device, its own gaps included
    double power_w = 0;      ///< mean over the span
    double idle_w = 0;       ///< at the same clock
    DeviceState state = {};  ///< meanwhile
};

/// A device and its host in pretended time, which goes on only when something is done: nobody waits for it. The energy
/// that the device draws is counted along, and shown as a counter would.
class Sitting final : public Clock {
  public:
    struct Noise {
        double block = 0;  ///< of a block's time, relative
        double tick = 0;   ///< of the energy between two ticks, relative
    };
    Sitting(const Card& card, Noise noise, std::uint64_t seed);

    double now_s() override { return now_s_; }
    void sleep(double seconds) override { advance(seconds); }
    void advance(double seconds);

    /// The host queues calls and goes on; on a CPU they are done when it goes on.
    void issue(const Pace& pace, std::int64_t calls);
    /// Until the queue is empty.
    void wait();
    /// Seconds that the device still needs. Looking takes a tenth of that, between 2 us and 1 ms.
    double look_at_queue();
    /// From the first to the last of the calls issued last, as events on the device tell it.
    double last_block_s() const { return last_block_s_; }
    const DeviceState& state() const { return state_; }

    /// As the counter shows it now: renewed each period and rounded. Without noise what was truly drawn.
    double counted_j() const;

  private:
    double power_w() const { return now_s_ < queue_end_s_ ? busy_w_ : idle_w_; }
    void draw(double seconds);

    const Card& card_;
    Noise noise_;
    std::mt19937_64 random_;
    double now_s_ = 0;
    double queue_end_s_ = 0;
    double busy_w_ = 0;
    double idle_w_ = 0;
    double last_block_s_ = 0;
    double drawn_j_ = 0;
    double next_tick_s_;
    double drawn_at_tick_j_ = 0;
    double shown_j_ = 0;
    DeviceState state_;
};

/// The counter of a sitting.
class PretendedMeter final : public Meter {
  public:
    PretendedMeter(Sitting& sitting, const Card& card);
    const MeterFacts& facts() const override { return facts_; }
    MeterReading read() override;
    /// A CPU's reading costs nothing: what it draws between its calls would blur the truth.
    static double read_cost_s(const Card& card);

  private:
    Sitting& sitting_;
    double read_cost_s_;
    MeterFacts facts_;
};

class PretendedProbe final : public DeviceStateProbe {
  public:
    explicit PretendedProbe(const Sitting& sitting) : sitting_(sitting) {}
    DeviceState read() override { return sitting_.state(); }

  private:
    const Sitting& sitting_;
};

/// Calls of one thing in a sitting, over rotating tensors or hot ones.
class PretendedWorkload final : public Workload {
  public:
    PretendedWorkload(Sitting& sitting, const Pace& rotating, const Pace& hot, std::int64_t rotation)
        : sitting_(sitting), rotating_(rotating), hot_(hot), rotation_(rotation) {}

    void run(std::int64_t calls, bool hot) override;
    std::int64_t rotation() const override { return rotation_; }
    bool runs_apart() const override { return rotating_.apart; }
    void issue(std::int64_t calls, bool hot) override { sitting_.issue(hot ? hot_ : rotating_, calls); }
    std::int64_t pending() override;
    void wait() override { sitting_.wait(); }

  private:
    Sitting& sitting_;
    Pace rotating_;
    Pace hot_;
    std::int64_t rotation_;
};

/// Events on the pretended device.
class PretendedTimer final : public BlockTimer {
  public:
    explicit PretendedTimer(Sitting& sitting) : sitting_(sitting) {}
    double run(Workload& workload, std::int64_t calls, bool hot) override;

  private:
    Sitting& sitting_;
};

}  // namespace joulecast::pretend
