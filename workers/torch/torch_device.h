#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "joulecast/measure/block_timer.h"
#include "joulecast/measure/measurement.h"
#include "joulecast/measure/workload.h"
#include "joulecast/meter/device_state.h"
#include "workers/torch/metering.h"
#include "workers/torch/optimizer_step.h"

namespace joulecast::torch_worker {

/// Which clocks and power limits can be set, or why none.
struct ClockAbilities {
    bool locks = false;
    std::string missing_reason;
    std::vector<double> sm_clocks_mhz;
    double power_limit_low_w = std::numeric_limits<double>::quiet_NaN();
    double power_limit_high_w = std::numeric_limits<double>::quiet_NaN();
};

struct MemoryUse {
    double peak_bytes = std::numeric_limits<double>::quiet_NaN();
    /// What cuBLAS and its like hold between calls; NaN: not known.
    double workspace_bytes = std::numeric_limits<double>::quiet_NaN();
};

/// Calls run without the host issuing each, or so that the device does not wait for it.
struct Replayed {
    std::unique_ptr<Workload> workload;
    std::unique_ptr<BlockTimer> timer;  ///< null: the device's
    std::string device_time_by;         ///< "graph", "spin"
    std::string missing_reason;         ///< why not as a graph
};

/// A processor that LibTorch computes on, as a trial sees it.
class TorchDevice {
  public:
    virtual ~TorchDevice() = default;

    virtual const Device& facts() const = 0;
    virtual const std::string& name() const = 0;  ///< what requests call it: "cpu", "cuda:0"
    virtual at::Device place() const = 0;
    virtual std::vector<Dtype> dtypes() const = 0;
    virtual UpdateStyle update_style() const = 0;

    /// Makes ready for a trial at this point with so many CPU threads (0: the point's, or its own choice) and returns
    /// the point as it is. Clocks and power limit are held until another point is asked for. Throws Error with the
    /// reason if the device cannot be had so.
    virtual OperatingPoint prepare(const OperatingPoint& asked, int threads) = 0;
    /// After a trial: gives back what is free, so that the next one finds it.
    virtual void clean_up() = 0;
    virtual double available_memory_bytes() const = 0;

    /// The most that was allocated at once while `work` ran, above what was allocated before.
    virtual MemoryUse memory_of(const std::function<void()>& work) = 0;
    /// How blocks are timed, once it is prepared.
    virtual BlockTimer& timer() = 0;
    /// The same calls as a device runs them that works apart from its host; null where issuing a call is executing it.
    virtual std::unique_ptr<Workload> apart(Workload& issued) = 0;
    /// The same without the host's share. Its workload is null where there is no other way to run them, and why.
    virtual Replayed replay(Workload& issued, bool hot) = 0;
    /// Who it is and under which driver, for what was found out about its meter.
    virtual CalibrationKey calibration_key() const = 0;
    virtual DeviceStateProbe* probe() = 0;  ///< null: it tells nothing of its state
    virtual Metering& metering() = 0;
    virtual ClockAbilities clocks() = 0;
};

std::unique_ptr<TorchDevice> open_cpu();

/// All CUDA GPUs that LibTorch sees; none, and why, without a driver, or where the wheel was built without CUDA.
struct CudaDevices {
    std::vector<std::unique_ptr<TorchDevice>> devices;
    std::string missing_reason;
};
CudaDevices open_cuda_devices();

/// What this machine has: its GPUs, then the CPU.
class TorchDevices {
  public:
    TorchDevices();
    /// What a worker speaks of when it is not told otherwise by choose(): the first GPU, or else the CPU.
    TorchDevice& chosen() const { return *devices_[chosen_]; }
    void choose(const std::string& asked);
    /// By name, or by device id (the chosen one, if several have it); "" is the chosen one. Throws Error naming those
    /// that there are.
    TorchDevice& find(const std::string& asked) const;
    const std::vector<std::unique_ptr<TorchDevice>>& all() const { return devices_; }

  private:
    std::vector<std::unique_ptr<TorchDevice>> devices_;
    std::string cuda_missing_reason_;
    std::size_t chosen_ = 0;
};

}  // namespace joulecast::torch_worker
