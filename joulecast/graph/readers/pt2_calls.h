#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/graph/readers/pt2_program.h"

/// torch's higher-order calls: operations that are given graphs to run.
namespace joulecast::pt2 {

/// True for "torch.ops.higher_order.cond".
bool is_higher_order(const Node& node);

/// The sub-graph of a call that runs it once and unchanged (wrap_with_set_grad_enabled, hints_wrapper, ...), so that
/// its nodes can stand in the call's place; nullptr for every other call, and where operands or results do not match.
const Body* inlined_body(const Node& node);

/// The operands that an inlined call hands to its sub-graph, lists flattened, in the order of the sub-graph's inputs;
/// those that are no tensors (symbolic sizes) are absent.
std::vector<TensorName> operands_of(const Node& node);
/// Arguments as such a list.
std::vector<TensorName> flattened(const std::vector<Argument>& arguments);

/// The type that autocast computes in within the call; absent where the call switches it off or is another call.
std::optional<Dtype> autocast_dtype(const Node& node);
/// True for wrap_with_autocast.
bool sets_autocast(const Node& node);

/// Higher-order calls and Python functions name no arguments: the name of argument number `index` ("true_graph",
/// "arg2").
std::string argument_name(const Node& node, std::size_t index);

/// What a sub-graph runs, for a call that is named and not inlined: "sin: aten::sin, aten::mul.Tensor #91c0...", the
/// distinct operations and a fingerprint, which differs where operations, arguments or sizes do.
std::string description(const Subgraph& subgraph);

}  // namespace joulecast::pt2
