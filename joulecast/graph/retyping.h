#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "joulecast/graph/graph.h"

namespace joulecast {

// For graphs whose tensors become others: what calls are given then, and what they return.

/// The same but for a mark of training.
bool lies_alike(const TensorType& a, const TensorType& b);

/// What the call is given now: the tensor as it comes, or, where the call did not name it as it came, its type.
void arrive(TensorType& type, const TensorType& source, const TensorType& now);

/// Absent where no record tells, or the arguments cannot be right.
std::optional<std::vector<TensorType>> outputs_by_record(const Operation& operation);

/// A graph made anew call by call, with others put between: keeps where each of its values is now.
class RetypedGraph {
  public:
    /// Its inputs are those of the graph before, until they are changed.
    explicit RetypedGraph(const Graph& before);

    const Graph& before() const { return before_; }
    Graph& after() { return after_; }
    const Graph& after() const { return after_; }

    /// The call with its edges moved and its tensors as they come now. Throws FormatError where its edges are none.
    Node arriving(const Node& original) const;
    /// The next call of the graph before, without symbolic sizes.
    void add(Node node);
    /// A call that the graph before does not have; its first result.
    ValueRef insert(Node node);
    /// The whole graph, with its outputs moved.
    Graph take();

  private:
    ValueRef moved(ValueRef ref) const;

    const Graph& before_;
    Graph after_;
    std::vector<std::int32_t> moved_;  ///< by node: where it is now
};

}  // namespace joulecast
