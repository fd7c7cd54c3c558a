#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include <ATen/ATen.h>

#include "joulecast/measure/workload.h"
#include "workers/torch/call.h"
#include "workers/torch/tensors.h"

namespace joulecast::torch_worker {

/// The tensors of an operation, `rotation` times over, each in storage of its own.
class OperationSets {
  public:
    OperationSets(const Operation& operation, std::int64_t rotation, TensorMaker& maker);

    const Call& call() const { return call_; }
    const std::vector<std::vector<at::Tensor>>& sets() const { return sets_; }
    bool mutates() const { return mutates_; }
    /// Puts the first contents back into the tensors that the operation writes to.
    void restore(std::size_t set) const;
    /// The set's tensors, with new non-leaf copies of those that the operation writes to: autograd forbids writing to
    /// a leaf that requires a gradient, and a network never does.
    std::vector<at::Tensor> writable_copy(std::size_t set) const;

  private:
    Call call_;
    std::vector<std::vector<at::Tensor>> sets_;
    std::vector<at::Tensor> pristine_;  ///< by tensor; undefined where it is not written to
    bool mutates_ = false;
};

/// Calls without gradients, under InferenceMode.
class InferenceWorkload final : public Workload {
  public:
    explicit InferenceWorkload(const OperationSets& sets);

    void run(std::int64_t calls, bool hot) override;
    std::int64_t rotation() const override { return static_cast<std::int64_t>(stacks_.size()); }
    void prepare(std::int64_t calls, bool hot) override;
    std::int64_t longest_run(bool hot) const override;

  private:
    const OperationSets& sets_;
    std::vector<Stack> stacks_;
    std::size_t next_ = 0;
};

/// Calls in grad mode: forward alone, or forward and then torch::autograd::grad to all marked tensors. Small calls are
/// backed through in groups of up to 16 different sets, since starting the autograd engine (5 to 10 us) is paid once
/// for a network and not once for each of its operations.
class TrainingWorkload final : public Workload {
  public:
    TrainingWorkload(const OperationSets& sets, bool backward, TensorMaker& maker);

    void run(std::int64_t calls, bool hot) override;
    std::int64_t rotation() const override { return static_cast<std::int64_t>(sets_.sets().size()); }
    void prepare(std::int64_t calls, bool hot) override;
    std::int64_t longest_run(bool hot) const override;
    /// False when no output depends on a marked tensor differentiably: then there is no backward pass to time.
    bool has_backward() const { return !gradients_.empty(); }

  private:
    struct Ready {
        Stack stack;
        std::vector<at::Tensor> marked;  ///< leaves that gradients are asked for
    };
    Ready ready(std::size_t set, const std::vector<at::Tensor>& tensors) const;
    void run_group(const std::vector<Ready>& from, std::size_t first, std::int64_t size, bool hot);
    void keep(std::vector<at::Tensor> results);
    void fill_kept();
    void probe(TensorMaker& maker);

    const OperationSets& sets_;
    bool backward_;
    std::int64_t group_ = 1;
    std::vector<Ready> rotating_;
    std::vector<Ready> hot_;                ///< aliases of the first set, each a leaf of its own
    std::vector<Ready> copies_;             ///< made by prepare() for operations that write to their inputs
    std::vector<std::size_t> gradient_of_;  ///< which results get a gradient
    std::vector<at::Tensor> gradients_;
    std::size_t next_ = 0;
    /// Outputs and gradients of the last calls, as many bytes as the sets have: a network in training keeps both, so
    /// each call writes to memory that has left the cache. (Freed at once, they are written to the same hot lines
    /// again: sums of operations then fall 10 % short of a ResNet-18's training step.)
    std::deque<std::vector<at::Tensor>> kept_;
    std::int64_t kept_bytes_ = 0;
    std::int64_t keep_bytes_ = 0;
};

}  // namespace joulecast::torch_worker
