#pragma once

#include "joulecast/worker/serve.h"
#include "workers/pretend/options.h"

namespace joulecast::pretend {

/// A worker on the cards of the options: noise, drift and mishaps around what trial.h answers.
protocol::Service service(Options options);

}  // namespace joulecast::pretend
