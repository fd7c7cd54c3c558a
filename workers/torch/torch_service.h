#pragma once

#include "joulecast/worker/serve.h"
#include "workers/torch/issuer.h"
#include "workers/torch/torch_device.h"

namespace joulecast::torch_worker {

/// Answers the protocol with LibTorch on this machine's devices, the calls issued by `issuer`, which must live as long.
/// Holds what lasts between requests (who we are, where).
protocol::Service torch_service(const Issuer& issuer = cpp_issuer());

/// The two that do the work; they never throw for a trial that fails, but say so in the outcome. They throw Error for a
/// device that is not there, or cannot be had at the point that is asked for.
Measurement measure_operation(const protocol::Measure& request, const TorchDevices& devices,
                              const Issuer& issuer = cpp_issuer());
NetworkMeasurement measure_network(const protocol::MeasureGraph& request, const TorchDevices& devices,
                                   const Issuer& issuer = cpp_issuer());

}  // namespace joulecast::torch_worker
