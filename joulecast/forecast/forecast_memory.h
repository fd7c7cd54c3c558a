#pragma once

#include <optional>
#include <span>

#include "joulecast/forecast/forecast_cache.h"
#include "joulecast/forecast/training_setup.h"
#include "joulecast/model/predictor.h"
#include "joulecast/physics/memory.h"

namespace joulecast {

/// Scratch memory of one call: its measured or forecast peak beyond what a plan holds for it anyway. Remembers what it
/// was asked; the device and the columns must outlive it.
Workspace workspace_of(const DeviceModel& device, std::span<const Feature* const> columns);

/// The same from forecasts that may have been made before. The cache must outlive it.
Workspace workspace_of(ForecastCache& known);

/// Scratch memory that can be computed (physics/convolution_scratch.h), and none of all other calls: no measurement is
/// in it. The device must outlive it.
Workspace computed_workspace(const DeviceModel& device);

/// What the optimizers of torch.optim keep of each parameter (SGD nothing, with momentum a buffer, Adam and AdamW two
/// moments) and take while they update: Adam's denominator, on a GPU of all parameters at once (foreach), on a CPU of
/// one after the other.
StepMemory step_memory(const TrainingSetup& training, Device::Kind kind);

/// GPUs: PyTorch's caching allocator, whose blocks are multiples of 512 bytes, and on NVIDIA's the workspace that
/// PyTorch gives cuBLAS: 32 MiB on Hopper and Blackwell, 8.125 MiB before (aten/src/ATen/cuda/CublasHandlePool.cpp; an
/// H100 held 34.6 MB beside weights and inputs). CPUs: the system's, exact (it aligns to 64 bytes and counts what was
/// asked for).
Allocation allocation_on(const Device& device);

/// All of that for a plan. Python holds what a module is called with (MemorySettings::python_holds).
MemorySettings memory_settings(const Device& device, Host host, Workspace workspace,
                               const TrainingSetup& training = {});

/// Peak memory above parameters and inputs, from the host that the device was measured with. Absent for a graph without
/// edges.
std::optional<MemoryPlan> plan_memory(const Graph& graph, const DeviceModel& device,
                                      std::span<const Feature* const> columns, const TrainingSetup& training = {});

}  // namespace joulecast
