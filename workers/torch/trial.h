#pragma once

#include "joulecast/worker/protocol.h"
#include "workers/torch/issuer.h"
#include "workers/torch/torch_device.h"

namespace joulecast::torch_worker {

/// Makes the operation's tensors on the device and measures it there. The device is prepared. Throws what LibTorch
/// throws, Unsupported, Error.
void try_operation(const protocol::Measure& request, TorchDevice& device, const Issuer& issuer,
                   Measurement& measurement);
/// Keeps the device busy with matrix products: until its temperature rises by less than 1 C in 10 s, a minute at most,
/// and while the meter is calibrated. Where there is no temperature and no meter, nothing is run.
void prepare_point(const protocol::Prepare& request, TorchDevice& device, protocol::Prepared& prepared);
/// How long each of these numbers of calls takes, for the worker's time_runs.
void try_runs(const protocol::TimeRuns& request, TorchDevice& device, const Issuer& issuer, protocol::TimedRuns& timed);
void try_network(const protocol::MeasureGraph& request, TorchDevice& device, const Issuer& issuer,
                 NetworkMeasurement& measurement);

}  // namespace joulecast::torch_worker
