// The fake libnvidia-ml.so.1 itself: fake_nvml.h says how to use it. Names, numbers and layouts are NVML's; they are
// written down here a second time, so that a slip in joulecast/meter/nvml.cpp does not meet its twin.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fake_nvml/fake_state.h"

namespace {

using namespace joulecast::testing;

enum Code { ok = 0, uninitialized = 1, invalid = 2, unsupported = 3, no_permission = 4, no_function = 13, lost = 15 };

FakeState* state = nullptr;

struct Device {
    unsigned index;
};
Device devices[most_fake_gpus] = {{0}, {1}, {2}, {3}};

int open_state() {
    const char* path = std::getenv("FAKE_NVML_STATE");
    const int file = path != nullptr ? ::open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return 9;  // NVML_ERROR_DRIVER_NOT_LOADED
    void* memory = ::mmap(nullptr, sizeof(FakeState), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (memory == MAP_FAILED) return 999;
    if (state != nullptr) ::munmap(state, sizeof(FakeState));
    state = static_cast<FakeState*>(memory);
    return state->magic == fake_magic ? state->init_code : 999;
}

class Locked {
  public:
    Locked() {
        if (::pthread_mutex_lock(&state->guard) == EOWNERDEAD) ::pthread_mutex_consistent(&state->guard);
    }
    ~Locked() { ::pthread_mutex_unlock(&state->guard); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;
};

double now_s() {
    if (state->manual_time) return state->now_s;
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double power_at(const FakeGpu& gpu, double clock_mhz) {
    return gpu.idle_w + gpu.load * gpu.dynamic_w * std::pow(clock_mhz / gpu.highest_graphics_mhz, 3);
}

/// What the card would run at without a power limit: on its way from before the last lock to its target.
double wanted_clock(const FakeGpu& gpu) {
    const double target = gpu.locked_graphics_mhz != 0 ? gpu.locked_graphics_mhz : gpu.free_graphics_mhz;
    const double way = gpu.settle_s > 0 ? (now_s() - gpu.lock_moment_s) / gpu.settle_s : 1;
    if (way >= 1 || gpu.lock_moment_s == 0) return target;
    return gpu.clock_before_lock_mhz + std::max(0.0, way) * (target - gpu.clock_before_lock_mhz);
}

double real_clock(const FakeGpu& gpu) {
    double clock = wanted_clock(gpu);
    while (clock > gpu.lowest_graphics_mhz && power_at(gpu, clock) * 1e3 > gpu.power_limit_mw) clock -= 15;
    return std::max<double>(clock, gpu.lowest_graphics_mhz);
}

bool is_capped(const FakeGpu& gpu) {
    return power_at(gpu, wanted_clock(gpu)) * 1e3 > gpu.power_limit_mw;
}

/// Between 0 and 1, the same for the same tick: the jitter of the counter.
double noise(std::int64_t tick) {
    std::uint64_t bits = static_cast<std::uint64_t>(tick) * 0x9e3779b97f4a7c15ULL;
    bits ^= bits >> 29;
    bits *= 0xbf58476d1ce4e5b9ULL;
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

/// Lets the card have run until now; the counter shows what there was at its last renewal.
void run_until_now(FakeGpu& gpu) {
    const double now = now_s();
    if (gpu.integrated_until_s < 0) gpu.integrated_until_s = now;
    const double power = power_at(gpu, real_clock(gpu));
    const auto last = static_cast<std::int64_t>(now / gpu.tick_s);
    for (std::int64_t tick = last; tick >= last - 1; --tick) {
        const double moment = static_cast<double>(tick) * gpu.tick_s + gpu.jitter_s * noise(tick);
        if (moment > now) continue;
        if (moment > gpu.integrated_until_s) {
            const double energy_mj = 1e3 * (gpu.energy_j + power * (moment - gpu.integrated_until_s));
            gpu.shown_energy_j = 1e-3 * std::floor(energy_mj / gpu.quantum_mj) * gpu.quantum_mj;
        }
        break;
    }
    gpu.energy_j += power * (now - gpu.integrated_until_s);
    if (is_capped(gpu)) gpu.power_capped_s += now - gpu.integrated_until_s;
    gpu.integrated_until_s = now;
}

/// Every call to a card comes through here: alone, the card still there, time moved on.
template <class Answer>
int with(Device* device, std::uint32_t function, Answer answer) {
    if (state == nullptr) return uninitialized;
    if (device == nullptr) return invalid;
    const Locked locked;
    FakeGpu& gpu = state->gpus[device->index];
    ++gpu.calls;
    if (state->manual_time) state->now_s += state->call_s;
    if (gpu.lost_at_call != 0 && gpu.calls >= gpu.lost_at_call) gpu.lost = true;
    if (gpu.lost) return lost;
    if ((gpu.missing & function) != 0) return no_function;
    run_until_now(gpu);
    return answer(gpu);
}

/// A call that changes the card, and may be the last of its process.
template <class Answer>
int change(Device* device, std::uint32_t function, Answer answer) {
    return with(device, function, [&](FakeGpu& gpu) {
        if (!gpu.may_change) return int{no_permission};
        const int code = answer(gpu);
        if (code == ok && gpu.kill_at_change > 0 && --gpu.kill_at_change == 0) ::raise(SIGKILL);
        return code;
    });
}

int put_text(char* target, unsigned size, const char* text) {
    return std::snprintf(target, size, "%s", text) < static_cast<int>(size) ? int{ok} : 7;
}

int put_list(unsigned* count, unsigned* list, const unsigned* values, unsigned size) {
    const bool fits = *count >= size;
    *count = size;
    if (!fits || list == nullptr) return 7;  // NVML_ERROR_INSUFFICIENT_SIZE
    std::copy(values, values + size, list);
    return ok;
}

unsigned rounded(double clock_mhz) {
    return static_cast<unsigned>(std::lround(clock_mhz));
}

}  // namespace

#define NVML extern "C" __attribute__((visibility("default")))
#ifdef FAKE_NVML_OLD
#define NAMED(current, old) old
#else
#define NAMED(current, old) current
#endif

NVML int NAMED(nvmlInit_v2, nvmlInit)() {
    return open_state();
}
NVML int nvmlShutdown() {
    return ok;
}
NVML int nvmlSystemGetDriverVersion(char* text, unsigned size) {
    return put_text(text, size, NAMED("550.54.15", "361.93"));
}
NVML int NAMED(nvmlDeviceGetCount_v2, nvmlDeviceGetCount)(unsigned* count) {
    if (state == nullptr) return uninitialized;
    *count = state->gpu_count;
    return ok;
}
NVML int NAMED(nvmlDeviceGetHandleByIndex_v2, nvmlDeviceGetHandleByIndex)(unsigned index, Device** device) {
    if (state == nullptr || index >= state->gpu_count) return invalid;
    *device = &devices[index];
    return ok;
}
NVML int nvmlDeviceGetName(Device* device, char* text, unsigned size) {
    return with(device, 0, [&](FakeGpu& gpu) { return put_text(text, size, gpu.name); });
}
NVML int nvmlDeviceGetUUID(Device* device, char* text, unsigned size) {
    return with(device, 0, [&](FakeGpu& gpu) { return put_text(text, size, gpu.uuid); });
}

struct PciInfo {
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device_id;
#ifdef FAKE_NVML_OLD
    unsigned pci_subsystem_id, reserved0, reserved1, reserved2, reserved3;
#else
    unsigned pci_subsystem_id;
    char bus_id[32];
#endif
};
NVML int NAMED(nvmlDeviceGetPciInfo_v3, nvmlDeviceGetPciInfo)(Device* device, PciInfo* info) {
    return with(device, 0, [&](FakeGpu& gpu) {
        *info = PciInfo{};
        info->bus = gpu.pci_bus;
        return int{ok};
    });
}
NVML int nvmlDeviceGetMemoryInfo(Device* device, unsigned long long* total_free_used) {
    return with(device, 0, [&](FakeGpu&) {
        total_free_used[0] = 24ULL << 30;
        total_free_used[1] = 20ULL << 30;
        total_free_used[2] = 4ULL << 30;
        return int{ok};
    });
}
NVML int nvmlDeviceGetPowerUsage(Device* device, unsigned* milliwatts) {
    return with(device, missing_power_usage, [&](FakeGpu& gpu) {
        *milliwatts = rounded(1e3 * power_at(gpu, real_clock(gpu)));
        return int{ok};
    });
}
NVML int nvmlDeviceGetClockInfo(Device* device, unsigned type, unsigned* mhz) {
    return with(device, missing_clocks, [&](FakeGpu& gpu) {
        const unsigned memory = gpu.locked_memory_mhz != 0 ? gpu.locked_memory_mhz : gpu.memory_clocks_mhz[0];
        *mhz = type == 2 ? memory : rounded(real_clock(gpu));
        return type > 3 ? int{invalid} : int{ok};
    });
}
NVML int nvmlDeviceGetMaxClockInfo(Device* device, unsigned type, unsigned* mhz) {
    return with(device, missing_clocks, [&](FakeGpu& gpu) {
        *mhz = type == 2 ? gpu.memory_clocks_mhz[0] : gpu.highest_graphics_mhz;
        return int{ok};
    });
}
NVML int nvmlDeviceGetSupportedMemoryClocks(Device* device, unsigned* count, unsigned* list) {
    return with(device, missing_supported_clocks, [&](FakeGpu& gpu) {
        return put_list(count, list, gpu.memory_clocks_mhz, gpu.memory_clocks_mhz[1] != 0 ? 2 : 1);
    });
}
NVML int nvmlDeviceGetSupportedGraphicsClocks(Device* device, unsigned memory, unsigned* count, unsigned* list) {
    return with(device, missing_supported_clocks, [&](FakeGpu& gpu) {
        if (memory == 0 || (memory != gpu.memory_clocks_mhz[0] && memory != gpu.memory_clocks_mhz[1])) return 6;
        unsigned values[512];
        unsigned size = 0;
        for (unsigned mhz = gpu.highest_graphics_mhz; mhz >= gpu.lowest_graphics_mhz && size < 512;
             mhz -= gpu.graphics_step_mhz) {
            values[size++] = mhz;
        }
        return put_list(count, list, values, size);
    });
}
NVML int nvmlDeviceGetPowerManagementLimit(Device* device, unsigned* milliwatts) {
    return with(device, missing_power_limits, [&](FakeGpu& gpu) {
        *milliwatts = gpu.power_limit_mw;
        return int{ok};
    });
}
NVML int nvmlDeviceGetPowerManagementDefaultLimit(Device* device, unsigned* milliwatts) {
    return with(device, missing_power_limits, [&](FakeGpu& gpu) {
        *milliwatts = gpu.default_power_limit_mw;
        return int{ok};
    });
}
NVML int nvmlDeviceGetPowerManagementLimitConstraints(Device* device, unsigned* lowest, unsigned* highest) {
    return with(device, missing_power_limits, [&](FakeGpu& gpu) {
        *lowest = gpu.lowest_power_limit_mw;
        *highest = gpu.highest_power_limit_mw;
        return int{ok};
    });
}
NVML int nvmlDeviceSetPowerManagementLimit(Device* device, unsigned milliwatts) {
    return change(device, missing_power_limits, [&](FakeGpu& gpu) {
        if (milliwatts < gpu.lowest_power_limit_mw || milliwatts > gpu.highest_power_limit_mw) return int{invalid};
        gpu.power_limit_mw = milliwatts;
        ++gpu.limit_changes;
        return int{ok};
    });
}
NVML int nvmlDeviceGetTemperature(Device* device, unsigned sensor, unsigned* celsius) {
    return with(device, missing_temperature, [&](FakeGpu& gpu) {
        *celsius = rounded(gpu.temperature_c);
        return sensor != 0 ? int{invalid} : int{ok};
    });
}
NVML int nvmlDeviceGetPerformanceState(Device* device, unsigned* number) {
    return with(device, missing_performance_state, [&](FakeGpu&) {
        *number = 0;
        return int{ok};
    });
}
NVML int NAMED(nvmlDeviceGetCurrentClocksEventReasons,
               nvmlDeviceGetCurrentClocksThrottleReasons)(Device* device, unsigned long long* bits) {
    return with(device, missing_throttle_reasons, [&](FakeGpu& gpu) {
        *bits = gpu.extra_throttle_reasons | (gpu.load > 0 ? 0x0U : 0x1U) | (is_capped(gpu) ? 0x4U : 0x0U);
        return int{ok};
    });
}

#ifndef FAKE_NVML_OLD
NVML int nvmlDeviceGetTotalEnergyConsumption(Device* device, unsigned long long* millijoules) {
    return with(device, missing_energy_counter, [&](FakeGpu& gpu) {
        *millijoules = static_cast<unsigned long long>(std::llround(1e3 * gpu.shown_energy_j));
        return int{ok};
    });
}

struct FieldValue {
    unsigned id, scope;
    long long timestamp, latency;
    unsigned type;
    int code;
    union {
        double as_double;
        unsigned as_unsigned;
        unsigned long long as_unsigned_long_long;
    } value;
};
NVML int nvmlDeviceGetFieldValues(Device* device, int count, FieldValue* fields) {
    return with(device, missing_field_values, [&](FakeGpu& gpu) {
        for (FieldValue* field = fields; field != fields + count; ++field) {
            field->code = ok;
            if (field->id == 185 || field->id == 186) {
                field->type = 1;  // NVML_VALUE_TYPE_UNSIGNED_INT
                field->value.as_unsigned = rounded(1e3 * power_at(gpu, real_clock(gpu)));
            } else if (field->id == 74 || field->id == 75 || field->id == 79) {
                field->type = 3;  // NVML_VALUE_TYPE_UNSIGNED_LONG_LONG
                const double seconds = field->id == 74 ? gpu.power_capped_s : 0;
                field->value.as_unsigned_long_long = static_cast<unsigned long long>(1e9 * seconds);
            } else {
                field->code = unsupported;
            }
        }
        return int{ok};
    });
}

namespace {

void begin_walk(FakeGpu& gpu) {
    gpu.clock_before_lock_mhz = real_clock(gpu);
    gpu.lock_moment_s = now_s();
}

}  // namespace

NVML int nvmlDeviceSetGpuLockedClocks(Device* device, unsigned lowest, unsigned highest) {
    return change(device, missing_locks, [&](FakeGpu& gpu) {
        if (lowest > highest || highest > gpu.highest_graphics_mhz) return int{invalid};
        begin_walk(gpu);
        gpu.locked_graphics_mhz = highest;
        ++gpu.locks;
        return int{ok};
    });
}
NVML int nvmlDeviceResetGpuLockedClocks(Device* device) {
    return change(device, missing_locks, [&](FakeGpu& gpu) {
        begin_walk(gpu);
        gpu.locked_graphics_mhz = 0;
        ++gpu.resets;
        return int{ok};
    });
}
NVML int nvmlDeviceSetMemoryLockedClocks(Device* device, unsigned lowest, unsigned highest) {
    return change(device, missing_locks | missing_memory_lock, [&](FakeGpu& gpu) {
        if (lowest > highest || highest > gpu.memory_clocks_mhz[0]) return int{invalid};
        gpu.locked_memory_mhz = highest;
        ++gpu.locks;
        return int{ok};
    });
}
NVML int nvmlDeviceResetMemoryLockedClocks(Device* device) {
    return change(device, missing_locks | missing_memory_lock, [&](FakeGpu& gpu) {
        gpu.locked_memory_mhz = 0;
        ++gpu.resets;
        return int{ok};
    });
}
#endif
