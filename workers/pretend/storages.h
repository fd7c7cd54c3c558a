#pragma once

#include <cstddef>
#include <vector>

#include "joulecast/graph/graph.h"

namespace joulecast::pretend {

/// Which memory each value of a graph lies in: a view and what an operation in place returns lie in that of their first
/// tensor.
class Storages {
  public:
    /// Throws FormatError where an edge leads to a later node or to none.
    explicit Storages(const Graph& graph);

    std::size_t of(ValueRef value) const;
    std::size_t count() const { return bytes_.size(); }
    double bytes(std::size_t storage) const { return bytes_[storage]; }
    /// Those of the graph's inputs come first.
    bool is_input(std::size_t storage) const { return storage < inputs_; }
    /// Storages that the node's results are the first to lie in.
    const std::vector<std::size_t>& made_by(std::size_t node) const { return made_[node]; }

  private:
    std::size_t inputs_ = 0;
    std::vector<std::size_t> first_result_;  ///< of each node, in storages_
    std::vector<std::size_t> storages_;      ///< of each value
    std::vector<double> bytes_;
    std::vector<std::vector<std::size_t>> made_;
};

/// Writes into its first tensor: the base name ends with an underscore ("aten::relu_").
bool writes_in_place(const Operation& operation);

/// What a convolution or product takes beside its results, in bytes.
double scratch_bytes(const Operation& operation);

/// Most bytes at once during one call of the operation, beyond its tensors; allocated in blocks of 512 bytes.
double peak_bytes(const Operation& operation);
/// Of one run of the network, beyond its inputs: results live to their last reader; in training what autograd keeps to
/// its backward call, and gradients; `state_copies` of the trained parameters besides.
double peak_bytes(const Graph& graph, double state_copies);

/// Inputs, parameters and buffers.
double resident_bytes(const Graph& graph);
/// Parameters that get a gradient.
double trained_bytes(const Graph& graph);

}  // namespace joulecast::pretend
