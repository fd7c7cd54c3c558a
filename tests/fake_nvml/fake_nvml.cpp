#include "tests/fake_nvml/fake_nvml.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <sys/mman.h>
#include <unistd.h>

namespace joulecast::testing {

namespace {

/// Clocks and limits as an A30 has them; power and settling are made up.
FakeGpu an_a30(unsigned index) {
    FakeGpu gpu{};
    std::snprintf(gpu.name, sizeof gpu.name, "NVIDIA A30");
    std::snprintf(gpu.uuid, sizeof gpu.uuid, "GPU-0000000%u-fake-fake-fake-000000000000", index);
    gpu.pci_bus = 0x65 + index;
    gpu.may_change = true;
    gpu.lowest_graphics_mhz = 210;
    gpu.highest_graphics_mhz = 1440;
    gpu.graphics_step_mhz = 15;
    gpu.memory_clocks_mhz[0] = 1215;
    gpu.free_graphics_mhz = 1440;
    gpu.power_limit_mw = gpu.default_power_limit_mw = gpu.highest_power_limit_mw = 165000;
    gpu.lowest_power_limit_mw = 100000;
    gpu.idle_w = 30;
    gpu.dynamic_w = 130;
    gpu.temperature_c = 41;
    gpu.tick_s = 0.1;
    gpu.quantum_mj = 1;
    gpu.energy_j = gpu.shown_energy_j = 1000;
    gpu.integrated_until_s = -1;
    return gpu;
}

}  // namespace

FakeNvml::FakeNvml() {
    path_ = std::string(std::getenv("TMPDIR") != nullptr ? std::getenv("TMPDIR") : "/tmp") + "/fake-nvml-XXXXXX";
    const int file = ::mkstemp(path_.data());
    if (file < 0 || ::ftruncate(file, sizeof(FakeState)) != 0) throw std::runtime_error("no file for the fake NVML");
    void* memory = ::mmap(nullptr, sizeof(FakeState), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (memory == MAP_FAILED) throw std::runtime_error("no memory for the fake NVML");
    state_ = static_cast<FakeState*>(memory);
    pthread_mutexattr_t shared;
    ::pthread_mutexattr_init(&shared);
    ::pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    ::pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
    ::pthread_mutex_init(&state_->guard, &shared);
    ::pthread_mutexattr_destroy(&shared);
    state_->magic = fake_magic;
    add_gpu();
    ::setenv("FAKE_NVML_STATE", path_.c_str(), 1);
    ::setenv("JOULECAST_NVML", library().c_str(), 1);
}

FakeNvml::~FakeNvml() {
    ::unsetenv("FAKE_NVML_STATE");
    ::unsetenv("JOULECAST_NVML");
    ::munmap(state_, sizeof(FakeState));
    ::unlink(path_.c_str());
}

std::string FakeNvml::library() {
    return FAKE_NVML_LIBRARY;
}

std::string FakeNvml::old_library() {
    return FAKE_NVML_OLD_LIBRARY;
}

FakeGpu& FakeNvml::add_gpu() {
    const unsigned index = state_->gpu_count;
    if (index == most_fake_gpus) throw std::logic_error("the fake NVML has no room for another card");
    state_->gpus[index] = an_a30(index);
    state_->gpu_count = index + 1;
    return state_->gpus[index];
}

void FakeNvml::take_over_time(double call_s) {
    state_->now_s = 1000;
    state_->call_s = call_s;
    state_->manual_time = true;
}

void FakeNvml::reboot() {
    for (FakeGpu& gpu : state_->gpus) {
        gpu.locked_graphics_mhz = gpu.locked_memory_mhz = 0;
        gpu.power_limit_mw = gpu.default_power_limit_mw;
    }
}

}  // namespace joulecast::testing
