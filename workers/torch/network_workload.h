#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "joulecast/graph/graph.h"
#include "joulecast/measure/workload.h"
#include "workers/torch/call.h"
#include "workers/torch/optimizer_step.h"
#include "workers/torch/tensors.h"

namespace joulecast::torch_worker {

/// False for what Python computes on integers, or not at all outside of torch.export.
bool runs_on_device(const Node& node);

/// What is made for an input of a graph: parameters require a gradient in either mode, all else none.
TensorType made_type(const GraphInput& input);

/// A whole graph, node by node as eager PyTorch issues it: each tensor is released after its last use, views go
/// through the dispatcher too, checks that torch.export added (_assert_*) and symbolic arithmetic do not run.
class Network {
  public:
    /// Throws Unsupported naming the node that torch does not know.
    Network(const Graph& graph, TensorMaker& maker);

    /// One forward pass; the graph's outputs, those that are None left out.
    std::vector<at::Tensor> forward();
    const std::vector<at::Tensor>& inputs() const { return inputs_; }
    /// Inputs that gradients flow to.
    std::vector<at::Tensor> parameters() const;
    void clear_gradients() const;  ///< zero_grad(set_to_none=True)
    /// Bytes of parameters, buffers and inputs.
    std::int64_t resident_bytes() const;

  private:
    struct Step {
        Call call;
        std::string name;
        std::vector<std::size_t> arguments;  ///< into values_
        std::size_t first_result = 0;
        std::size_t results = 0;
        std::vector<std::size_t> last_used;  ///< values to release once this step is done
    };

    void add_step(const Graph& graph, std::size_t node);
    void plan_releases();
    std::size_t slot(const ValueRef& ref) const;
    void run(const Step& step);

    at::Device place_;
    std::vector<at::Tensor> inputs_;
    std::vector<std::size_t> first_value_;  ///< of each node
    std::vector<at::Tensor> values_;        ///< inputs, then the results of all nodes
    std::vector<Step> steps_;
    std::vector<std::size_t> outputs_;
    std::vector<at::Tensor> arguments_;  ///< scratch of run()
    std::vector<at::Tensor> results_;
};

/// Forward without gradients, under InferenceMode.
class NetworkInference final : public Workload {
  public:
    explicit NetworkInference(Network& network) : network_(network) {}
    void run(std::int64_t calls, bool hot) override;
    std::int64_t rotation() const override { return 1; }

  private:
    Network& network_;
};

/// Training step: forward in grad mode, the sum of all floating outputs as loss, backward into .grad, which each step
/// starts without (zero_grad(set_to_none)), and the optimizer's update, if there is one. Or forward alone.
class NetworkTraining final : public Workload {
  public:
    NetworkTraining(Network& network, bool backward, OptimizerStep* update = nullptr)
        : network_(network), backward_(backward), update_(update) {}
    void run(std::int64_t calls, bool hot) override;
    std::int64_t rotation() const override { return 1; }

  private:
    Network& network_;
    bool backward_;
    OptimizerStep* update_;
};

}  // namespace joulecast::torch_worker
