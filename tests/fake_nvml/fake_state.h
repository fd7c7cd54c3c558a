#pragma once

#include <cstdint>

#include <pthread.h>

namespace joulecast::testing {

/// Functions that answer "not found" when their bit is set in FakeGpu::missing, as a library newer than its driver
/// does. (fake_nvml_old, the second library, really has no such symbols.)
enum FakeMissing : std::uint32_t {
    missing_energy_counter = 1U << 0,
    missing_field_values = 1U << 1,
    missing_power_usage = 1U << 2,
    missing_locks = 1U << 3,
    missing_memory_lock = 1U << 4,
    missing_clocks = 1U << 5,
    missing_supported_clocks = 1U << 6,
    missing_throttle_reasons = 1U << 7,
    missing_power_limits = 1U << 8,
    missing_temperature = 1U << 9,
    missing_performance_state = 1U << 10,
};

/// One card of the fake. What a test writes here holds from the next call on, in every process.
struct FakeGpu {
    char name[64];
    char uuid[64];
    std::uint32_t pci_bus;

    // Behaviour.
    bool may_change;               ///< false: locks and limits answer "no permission"
    bool lost;                     ///< every call answers "GPU is lost"
    std::uint64_t lost_at_call;    ///< becomes lost at this call of all that were made to the card; 0: never
    std::uint32_t missing;         ///< FakeMissing
    std::uint64_t kill_at_change;  ///< this change of all (1: the next) takes effect and kills its process; 0: never
    double settle_s;               ///< after a lock the clock walks to its target for so long

    // Clocks and limits.
    std::uint32_t lowest_graphics_mhz, highest_graphics_mhz, graphics_step_mhz;
    std::uint32_t memory_clocks_mhz[2];  ///< descending
    std::uint32_t free_graphics_mhz;     ///< while nothing is locked
    std::uint32_t locked_graphics_mhz;   ///< 0: not locked
    std::uint32_t locked_memory_mhz;     ///< 0: not locked
    std::uint32_t power_limit_mw, default_power_limit_mw, lowest_power_limit_mw, highest_power_limit_mw;

    // Power: idle_w + load * dynamic_w * (clock / highest clock)^3; above the limit the clock gives way.
    double idle_w, dynamic_w, load;
    double temperature_c;
    std::uint64_t extra_throttle_reasons;  ///< beside the power cap and idle bits, which follow from load and limit

    // The energy counter renews itself every tick_s, each time up to jitter_s late, in steps of quantum_mj.
    double tick_s, jitter_s, quantum_mj;

    // What happened.
    std::uint64_t calls, locks, resets, limit_changes;

    // The fake's own.
    double energy_j, integrated_until_s, shown_energy_j, power_capped_s;
    double lock_moment_s, clock_before_lock_mhz;
};

inline constexpr std::uint32_t most_fake_gpus = 4;

/// All that the fake knows, in a file that test and every process under test map: it outlives their deaths.
struct FakeState {
    std::uint64_t magic;
    pthread_mutex_t guard;   ///< shared and robust: a process may be killed inside a call
    std::int32_t init_code;  ///< what nvmlInit answers
    bool manual_time;        ///< time is now_s, which the test moves; otherwise CLOCK_MONOTONIC
    double now_s;
    double call_s;  ///< each call to a card moves manual time on by this much
    std::uint32_t gpu_count;
    FakeGpu gpus[most_fake_gpus];
};

inline constexpr std::uint64_t fake_magic = 0x6a63666e766d6c31;

}  // namespace joulecast::testing
