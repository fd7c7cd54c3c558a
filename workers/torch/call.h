#pragma once

#include <span>
#include <string>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>

#include "joulecast/error.h"
#include "joulecast/graph/operation.h"

namespace joulecast::torch_worker {

using Stack = std::vector<c10::IValue>;

/// LibTorch knows no such operation, or not with these arguments.
class Unsupported : public Error {
  public:
    using Error::Error;
};

/// Any ATen operation by name: its schema, its arguments in schema order, defaults filled in, tensors left open.
class Call {
  public:
    /// Throws Unsupported when there is no such schema, an argument is unknown to it, missing or of another kind.
    /// Whatever device the operation names, or leaves open, becomes `place`.
    explicit Call(const Operation& operation, at::Device place = at::kCPU);

    /// Arguments with the tensors filled in, in the order of tensors(operation).
    Stack stack(std::span<const at::Tensor> tensors) const;
    /// Replaces the arguments on the stack by the results. One boxed dispatch: 20 ns above a direct call.
    void issue(Stack& stack) const { handle_.callBoxed(stack); }
    const c10::FunctionSchema& schema() const { return handle_.schema(); }
    /// Which of tensors(operation) the schema declares as written to.
    const std::vector<bool>& mutated() const { return mutated_; }

  private:
    struct Slot {
        std::size_t argument = 0;
        bool list = false;
        bool optional_items = false;
        std::size_t first = 0;      ///< index into the tensors
        std::vector<bool> present;  ///< lists: which items are tensors, which are holes
    };

    void fill_in(const c10::Argument& formal, std::size_t index, const Value& value);

    c10::OperatorHandle handle_;
    at::Device place_;
    Stack template_;
    std::vector<Slot> slots_;
    std::vector<bool> mutated_;
};

/// Results on the stack, lists taken apart; an undefined tensor stands for None.
void flatten(const Stack& results, std::vector<at::Tensor>& tensors);

}  // namespace joulecast::torch_worker
