#pragma once

#include "joulecast/worker/serve.h"

namespace joulecast::torch_worker {

/// Answers the protocol with LibTorch on this machine's CPU. Holds what lasts between requests (who we are, where).
protocol::Service torch_service();

/// The two that do the work; they never throw for a trial that fails, but say so in the outcome.
Measurement measure_operation(const protocol::Measure& request, const Device& device);
NetworkMeasurement measure_network(const protocol::MeasureGraph& request, const Device& device);

}  // namespace joulecast::torch_worker
