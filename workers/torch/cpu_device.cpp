#include <cmath>
#include <limits>

#include <sys/utsname.h>

#include "joulecast/error.h"
#include "joulecast/measure/recipe.h"
#include "joulecast/meter/cpu_state.h"
#include "workers/torch/peak_memory.h"
#include "workers/torch/system_memory.h"
#include "workers/torch/threads.h"
#include "workers/torch/torch_device.h"

namespace joulecast::torch_worker {

namespace {

constexpr const char* clocks_reason =
    "the operating system sets a CPU's clocks. Choose a governor (cpupower frequency-set) and ask for the current "
    "clock";

class CpuDevice final : public TorchDevice {
  public:
    const Device& facts() const override { return facts_; }
    const std::string& name() const override { return name_; }
    at::Device place() const override { return at::kCPU; }
    std::vector<Dtype> dtypes() const override { return {Dtype::f32, Dtype::bf16, Dtype::f16, Dtype::f64}; }
    UpdateStyle update_style() const override { return UpdateStyle::loop; }

    OperatingPoint prepare(const OperatingPoint& asked, int threads) override;
    void clean_up() override { return_freed_memory(); }
    double available_memory_bytes() const override { return torch_worker::available_memory_bytes(); }

    MemoryUse memory_of(const std::function<void()>& work) override {
        return {static_cast<double>(peak_memory(work)), std::numeric_limits<double>::quiet_NaN()};
    }
    BlockTimer& timer() override { return timer_; }
    std::unique_ptr<Workload> apart(Workload& /*issued*/) override { return nullptr; }
    Replayed replay(Workload& /*issued*/, bool /*hot*/) override {
        return {nullptr, nullptr, "", "graphs are captured on CUDA GPUs only"};
    }
    CalibrationKey calibration_key() const override {
        utsname system{};
        uname(&system);
        return {facts_.id, system.release, "current", ""};
    }
    DeviceStateProbe* probe() override { return &probe_; }
    Metering& metering() override { return metering_; }
    ClockAbilities clocks() override {
        ClockAbilities none;
        none.missing_reason = clocks_reason;
        return none;
    }

  private:
    Device facts_ = this_cpu();
    std::string name_ = "cpu";
    SteadyClock clock_;
    ClockBlockTimer timer_{clock_};
    CpuStateProbe probe_;
    Metering metering_{MeterRequest{}};
};

[[noreturn]] void refuse(const std::string& what, const std::string& why) {
    throw Error("cannot measure " + what + " on cpu: " + why + ".");
}

OperatingPoint CpuDevice::prepare(const OperatingPoint& asked, int threads) {
    if (!std::isnan(asked.sm_clock_mhz) || !std::isnan(asked.memory_clock_mhz) || !std::isnan(asked.power_limit_w)) {
        refuse("at a given clock or power limit", clocks_reason);
    }
    if (asked.math == Math::tf32) refuse("with tf32", "only GPUs have it. Ask for ieee");
    if (asked.host == Host::graph) refuse("with host graph", "graphs are captured on CUDA GPUs only. Ask for cpp");
    OperatingPoint point;
    point.device = facts_.id;
    point.host_cpu = facts_.id;
    point.host = Host::cpp;
    point.threads = pin_threads(threads > 0 ? threads : asked.threads);
    limit_memory_growth();
    return point;
}

}  // namespace

std::unique_ptr<TorchDevice> open_cpu() {
    return std::make_unique<CpuDevice>();
}

}  // namespace joulecast::torch_worker
