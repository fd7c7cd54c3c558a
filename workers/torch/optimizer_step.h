#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <ATen/ATen.h>

#include "joulecast/measure/measurement.h"

namespace joulecast::torch_worker {

/// How the update is issued. Python's torch.optim takes the loop on a CPU and foreach kernels (one launch for a list of
/// tensors) on a GPU unless told otherwise; we do what people run.
enum class UpdateStyle { loop, foreach };

/// Updates parameters from their gradients with the very calls of torch.optim's Python code and its default
/// hyper-parameters (momentum 0.9; Adam: betas 0.9 and 0.999, eps 1e-8; AdamW also decays by 0.01). LibTorch's own C++
/// optimizers are another, older sequence of calls. Parameters without a gradient are left alone, as there.
class OptimizerStep {
  public:
    OptimizerStep(Optimizer kind, std::vector<at::Tensor> parameters, UpdateStyle style, double learning_rate);

    /// The first step allocates the state.
    void step();
    /// Momentum buffers, moments.
    std::int64_t state_bytes() const;

  private:
    struct State {
        at::Tensor momentum;  ///< of SGD
        at::Tensor average;   ///< first and second moment of Adam
        at::Tensor square;
        at::Tensor steps;  ///< on the CPU, as torch.optim keeps it
    };
    /// Parameters of one type that have a gradient, with what belongs to each.
    struct Batch {
        std::vector<at::Tensor> parameters;
        std::vector<at::Tensor> gradients;
        std::vector<State*> states;
    };
    std::map<at::ScalarType, Batch> batches();
    void sgd_loop(const Batch& batch);
    void sgd_foreach(const Batch& batch);
    void adam_loop(const Batch& batch);
    void adam_foreach(const Batch& batch);

    Optimizer kind_;
    UpdateStyle style_;
    double learning_rate_;
    std::vector<at::Tensor> parameters_;
    std::vector<State> states_;
};

}  // namespace joulecast::torch_worker
