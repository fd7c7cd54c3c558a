#pragma once

#include "joulecast/worker/protocol.h"
#include "workers/torch/torch_device.h"

namespace joulecast::torch_worker {

/// Makes the operation's tensors on the device and measures it there. The device is prepared. Throws what LibTorch
/// throws, Unsupported, Error.
void try_operation(const protocol::Measure& request, TorchDevice& device, Measurement& measurement);
void try_network(const protocol::MeasureGraph& request, TorchDevice& device, NetworkMeasurement& measurement);

}  // namespace joulecast::torch_worker
