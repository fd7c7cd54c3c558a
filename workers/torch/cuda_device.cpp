#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include "joulecast/error.h"
#include "joulecast/meter/clock_guard.h"
#include "joulecast/meter/nvml.h"
#include "joulecast/meter/nvml_state.h"
#include "joulecast/units/printable.h"
#include "workers/torch/cuda_timing.h"
#include "workers/torch/gpu_facts.h"
#include "workers/torch/math_mode.h"
#include "workers/torch/threads.h"
#include "workers/torch/torch_device.h"

namespace joulecast::torch_worker {

namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

int attribute(cudaDeviceAttr which, int index) {
    int value = 0;
    if (cudaDeviceGetAttribute(&value, which, index) == cudaSuccess) return value;
    cudaGetLastError();
    return 0;
}

CudaProperties properties_of(int index) {
    const cudaDeviceProp* told = at::cuda::getDeviceProperties(static_cast<c10::DeviceIndex>(index));
    CudaProperties properties;
    properties.name = told->name;
    properties.major = told->major;
    properties.minor = told->minor;
    properties.multiprocessors = told->multiProcessorCount;
    // CUDA 13 took both clocks out of the struct.
    properties.clock_khz = attribute(cudaDevAttrClockRate, index);
    properties.memory_clock_khz = attribute(cudaDevAttrMemoryClockRate, index);
    properties.memory_bus_bits = told->memoryBusWidth;
    properties.l2_bytes = told->l2CacheSize;
    properties.memory_bytes = static_cast<double>(told->totalGlobalMem);
    return properties;
}

/// "0000:65:00.0"
std::string pci_address(int index) {
    std::array<char, 32> text{};
    if (cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), index) == cudaSuccess) return text.data();
    cudaGetLastError();
    return "";
}

MeterRequest gpu_meter(int index) {
    MeterRequest request;
    request.for_gpu = true;
    if (const std::string address = pci_address(index); !address.empty()) request.gpu = address;
    return request;
}

class CudaDevice final : public TorchDevice {
  public:
    explicit CudaDevice(int index);

    const Device& facts() const override { return facts_; }
    const std::string& name() const override { return name_; }
    at::Device place() const override { return {at::kCUDA, index_}; }
    std::vector<Dtype> dtypes() const override;
    UpdateStyle update_style() const override { return UpdateStyle::foreach; }

    OperatingPoint prepare(const OperatingPoint& asked, int threads) override;
    void clean_up() override;
    double available_memory_bytes() const override;
    MemoryUse memory_of(const std::function<void()>& work) override;
    std::unique_ptr<Workload> apart(Workload& issued) override { return std::make_unique<CudaWorkload>(issued); }
    BlockTimer& timer() override { return *timer_; }
    Replayed replay(Workload& issued, bool hot) override;
    CalibrationKey calibration_key() const override;
    DeviceStateProbe* probe() override { return probe_ ? &*probe_ : nullptr; }
    Metering& metering() override { return metering_; }
    ClockAbilities clocks() override;

  private:
    bool at_least(int major, int minor) const {
        return properties_.major > major || (properties_.major == major && properties_.minor >= minor);
    }
    double allocated_bytes() const;
    void hold_clocks(const OperatingPoint& asked);

    c10::DeviceIndex index_;
    CudaProperties properties_;
    Device facts_;
    std::string name_;
    std::optional<NvmlGpu> gpu_;
    std::optional<NvmlStateProbe> probe_;
    std::unique_ptr<ClockGuard> guard_;
    Metering metering_;
    std::unique_ptr<CudaBlockTimer> timer_;  ///< made when the GPU is first prepared, since it needs its context
    std::string held_clock_ = "current";
    std::string no_nvml_;  ///< why gpu_ is not there
};

CudaDevice::CudaDevice(int index)
    : index_(static_cast<c10::DeviceIndex>(index)),
      properties_(properties_of(index)),
      facts_(gpu_facts(properties_)),
      name_("cuda:" + std::to_string(index)),
      metering_(gpu_meter(index)) {
    if (const auto nvml = Nvml::open(default_nvml_library(), no_nvml_)) {
        gpu_ = nvml->gpu(pci_address(index));
        if (!gpu_) no_nvml_ = "NVML does not know the card at " + pci_address(index);
    }
    if (!gpu_) return;
    probe_.emplace(*gpu_);
    guard_ = std::make_unique<ClockGuard>(*gpu_);
    if (const NvmlReading limit = gpu_->default_power_limit_w(); limit.known()) facts_.tdp_w = limit.value;
}

std::vector<Dtype> CudaDevice::dtypes() const {
    std::vector<Dtype> result = {Dtype::f32, Dtype::f16, Dtype::f64};
    if (at_least(8, 0)) result.push_back(Dtype::bf16);
    if (at_least(8, 9)) result.insert(result.end(), {Dtype::f8e4m3fn, Dtype::f8e5m2});
    return result;
}

OperatingPoint CudaDevice::prepare(const OperatingPoint& asked, int threads) {
    if (asked.math == Math::tf32 && !at_least(8, 0)) {
        throw Error("cannot measure with tf32 on " + name_ + " (" + facts_.display_name +
                    "): cards have it from compute capability 8.0 on. Ask for ieee.");
    }
    hold_clocks(asked);
    held_clock_ = std::isnan(asked.sm_clock_mhz) ? "current" : std::to_string(std::lround(asked.sm_clock_mhz)) + " MHz";
    // Else the allocator, asked how much is taken before the first tensor is made, knows no device at all.
    at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
    c10::cuda::set_device(index_);
    // Graphs cannot be captured on the default stream; all that we issue goes to one stream of its own.
    if (c10::cuda::getCurrentCUDAStream(index_) == c10::cuda::getDefaultCUDAStream(index_)) {
        c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromPool(false, index_));
    }
    if (!timer_) timer_ = std::make_unique<CudaBlockTimer>(properties_.clock_khz * 1e3, false);
    set_math(asked.math);
    at::globalContext().setBenchmarkCuDNN(true);  // its trials happen in the checked call and the warm-up
    OperatingPoint point;
    point.device = facts_.id;
    point.host_cpu = this_cpu().id;
    point.host = asked.host == Host::graph ? Host::graph : Host::cpp;
    point.math = math_now();
    point.threads = pin_threads(threads > 0 ? threads : asked.threads);
    return point;
}

void CudaDevice::hold_clocks(const OperatingPoint& asked) {
    if (guard_) {
        guard_->hold(asked);  // a point that asks for none gives back what the last one held
    } else if (!clock_request(asked).asks_nothing()) {
        throw Error("cannot measure at a given clock or power limit on " + name_ + ": " + no_nvml_ +
                    ". Ask for the current clock.");
    }
}

ClockAbilities CudaDevice::clocks() {
    ClockAbilities abilities;
    if (!guard_) {
        abilities.missing_reason = no_nvml_;
        return abilities;
    }
    abilities.missing_reason = guard_->why_not();
    abilities.locks = abilities.missing_reason.empty();
    const std::vector<unsigned> memory_clocks = gpu_->memory_clocks_mhz();
    if (!memory_clocks.empty()) {
        for (const unsigned mhz : gpu_->graphics_clocks_mhz(memory_clocks.front())) {
            abilities.sm_clocks_mhz.push_back(mhz);
        }
    }
    const NvmlRange limits = gpu_->power_limits_w();
    abilities.power_limit_low_w = limits.lowest;
    abilities.power_limit_high_w = limits.highest;
    return abilities;
}

CalibrationKey CudaDevice::calibration_key() const {
    CalibrationKey key{facts_.id, "unknown", held_clock_, ""};
    if (gpu_) {
        key.device = gpu_->facts().uuid;
        key.driver = gpu_->facts().driver;
    }
    return key;
}

void CudaDevice::clean_up() {
    at::cuda::clearCublasWorkspaces();
    allocator::emptyCache();
    if (cudaDeviceSynchronize() == cudaSuccess) return;
    // An illegal address or a failed assertion on the device outlives every call of this process: only a new one can
    // measure on. Whoever started us records what was asked last as crashed, and starts it.
    write_error_line("joulecast-torch", name_ + " is lost to this process: " + cudaGetErrorString(cudaGetLastError()));
    std::_Exit(1);
}

double CudaDevice::allocated_bytes() const {
    constexpr auto aggregate = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    return static_cast<double>(allocator::getDeviceStats(index_).allocated_bytes[aggregate].current);
}

double CudaDevice::available_memory_bytes() const {
    constexpr auto aggregate = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    const c10::cuda::CUDAGuard guard(index_);
    std::size_t free = 0;
    std::size_t total = 0;
    C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
    const double reserved = static_cast<double>(allocator::getDeviceStats(index_).reserved_bytes[aggregate].current);
    return static_cast<double>(free) + reserved - allocated_bytes();
}

MemoryUse CudaDevice::memory_of(const std::function<void()>& work) {
    constexpr auto aggregate = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    cudaDeviceSynchronize();
    const double before = allocated_bytes();
    allocator::resetPeakStats(index_);
    work();
    C10_CUDA_CHECK(cudaDeviceSynchronize());
    MemoryUse use;
    use.peak_bytes = static_cast<double>(allocator::getDeviceStats(index_).allocated_bytes[aggregate].peak) - before;
    const double with_workspaces = allocated_bytes();
    at::cuda::clearCublasWorkspaces();
    use.workspace_bytes = with_workspaces - allocated_bytes();
    return use;
}

Replayed CudaDevice::replay(Workload& issued, bool hot) {
    const double clock_hz = properties_.clock_khz * 1e3;
    CudaWorkload eager(issued);
    issued.prepare(1, false);
    const double call_s = timer_->run(eager, 1, false);
    try {
        return {std::make_unique<CudaReplay>(issued, hot, call_s), nullptr, "graph", ""};
    } catch (const NotCapturable& error) {
        return {std::make_unique<CudaWorkload>(issued), std::make_unique<CudaBlockTimer>(clock_hz, true), "spin",
                error.what()};
    }
}

}  // namespace

CudaDevices open_cuda_devices() {
    CudaDevices found;
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess) {
        cudaGetLastError();
        found.missing_reason = std::string("CUDA finds no GPU: ") + cudaGetErrorString(status);
        return found;
    }
    for (int index = 0; index < count; ++index) found.devices.push_back(std::make_unique<CudaDevice>(index));
    if (found.devices.empty()) found.missing_reason = "CUDA finds no GPU";
    return found;
}

}  // namespace joulecast::torch_worker
