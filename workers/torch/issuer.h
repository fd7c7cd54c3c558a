#pragma once

#include <functional>
#include <memory>
#include <string>

#include "joulecast/worker/protocol.h"
#include "workers/torch/operation_workload.h"
#include "workers/torch/optimizer_step.h"

namespace joulecast::torch_worker {

/// The calls of one trial as a host issues them.
struct Issued {
    std::shared_ptr<void> keeps = {};  ///< what the workloads run on
    std::unique_ptr<Workload> whole;
    std::unique_ptr<Workload> forward = {};  ///< training: the forward pass alone, in grad mode
    std::string remark = {};                 ///< for the measurement's message

    // Of a network:
    double resident_bytes = 0.0;  ///< parameters, buffers and inputs
    std::function<void()> clear_gradients = [] {};
    std::function<double()> state_bytes = [] { return 0.0; };  ///< of the optimizer
};

/// The host of a worker: all that differs between C++ and Python. Recipe, contents, memory and devices are the same.
class Issuer {
  public:
    virtual ~Issuer() = default;
    virtual Host host() const = 0;
    virtual std::string worker() const = 0;  ///< "joulecast-torch"
    /// Throw what LibTorch throws, Unsupported, Error. The sets must outlive what is issued.
    virtual Issued operation(const OperationSets& sets, TensorMaker& maker, Mode mode) const = 0;
    virtual Issued network(const protocol::MeasureGraph& request, TensorMaker& maker, UpdateStyle style) const = 0;
};

/// Through LibTorch's dispatcher, from C++.
const Issuer& cpp_issuer();

/// Steps this small leave the weights where they are: a thousand steps down the sum of the outputs would end in
/// infinities. The arithmetic is the same whatever the rate.
inline constexpr double steady_learning_rate = 1e-9;

}  // namespace joulecast::torch_worker
