#include "joulecast/meter/nvml_meter.h"

#include <utility>

#include "joulecast/meter/nvidia_sensor.h"

namespace joulecast {

namespace {

using Source = NvmlReading (*)(const NvmlGpu&);

NvmlReading counter(const NvmlGpu& gpu) {
    return gpu.total_energy_j();
}
NvmlReading instant_power(const NvmlGpu& gpu) {
    return gpu.field(NvmlField::instant_power_w);
}
NvmlReading power_usage(const NvmlGpu& gpu) {
    return gpu.power_usage_w();
}

class NvmlMeter final : public Meter {
  public:
    NvmlMeter(NvmlGpu gpu, Source source, MeterFacts facts, TimeSource now_s)
        : gpu_(std::move(gpu)), source_(source), facts_(std::move(facts)), now_s_(std::move(now_s)) {}

    const MeterFacts& facts() const override { return facts_; }

    MeterReading read() override {
        const double before = now_s_();
        const NvmlReading reading = source_(gpu_);
        const double after = now_s_();
        if (!reading.known()) {
            throw MeterLost("the energy meter " + facts_.name + " of " + gpu_.label() +
                            " stopped answering: " + describe(reading.code));
        }
        MeterReading result;
        result.time_s = before + (after - before) / 2;
        (facts_.counts_energy ? result.energy_j : result.power_w) = reading.value;
        return result;
    }

  private:
    NvmlGpu gpu_;
    Source source_;
    MeterFacts facts_;
    TimeSource now_s_;
};

FoundMeter made(const NvmlGpu& gpu, Source source, const std::string& name, TimeSource now_s) {
    MeterFacts facts{name,
                     "the whole card",
                     source == counter,
                     nvidia_sensor_period_s,
                     nvidia_sensor_gain_error,
                     sensor_duty(gpu.facts().name)};
    if (!now_s) now_s = steady_seconds;
    return {std::make_unique<NvmlMeter>(gpu, source, std::move(facts), std::move(now_s)), ""};
}

}  // namespace

double sensor_duty(std::string_view card) {
    for (const std::string_view part_time : {"A100", "H100", "H200"}) {
        if (card.find(part_time) != std::string_view::npos) return 0.25;
    }
    return 1.0;
}

FoundMeter open_nvml_counter(const NvmlGpu& gpu, TimeSource now_s) {
    const NvmlReading first = gpu.total_energy_j();
    // A card has used energy by the time it answers: a counter at zero is one that does not count.
    if (first.known() && first.value > 0) return made(gpu, counter, "nvml-counter", std::move(now_s));
    return {nullptr, gpu.label() + " has no energy counter: " +
                         (first.known() ? std::string("it stays at zero") : describe(first.code))};
}

FoundMeter open_nvml_power(const NvmlGpu& gpu, TimeSource now_s) {
    const NvmlReading instant = gpu.field(NvmlField::instant_power_w);
    if (instant.known() && instant.value > 0) return made(gpu, instant_power, "nvml-instant-power", std::move(now_s));
    const NvmlReading usage = gpu.power_usage_w();
    if (usage.known() && usage.value > 0) return made(gpu, power_usage, "nvml-power-usage", std::move(now_s));
    return {nullptr, gpu.label() + " does not report its power: " +
                         (usage.known() ? std::string("it stays at zero") : describe(usage.code))};
}

FoundMeter open_nvml_meter(const NvmlGpu& gpu, TimeSource now_s) {
    FoundMeter energy = open_nvml_counter(gpu, now_s);
    if (energy.meter) return energy;
    FoundMeter power = open_nvml_power(gpu, std::move(now_s));
    if (power.meter) return power;
    return {nullptr, energy.missing_reason + "; " + power.missing_reason +
                         ". Time and memory are still measured; --meter names another source"};
}

}  // namespace joulecast
