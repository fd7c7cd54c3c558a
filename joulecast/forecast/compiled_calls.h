#pragma once

#include <span>
#include <string>
#include <vector>

#include "joulecast/forecast/forecast.h"
#include "joulecast/forecast/issue_order.h"
#include "joulecast/graph/graph.h"
#include "joulecast/model/predictor.h"

namespace joulecast {

// Networks under torch.compile on a GPU that was never measured, by rule (docs/decisions/0035): which calls share a
// kernel is known of Inductor (inductor_kernels.h), and what that takes of the bytes that it moves. Each call has a
// role, as under an engine that told its kernels (fused_calls.h):
//   "triton"                       first of a kernel of generated code, and stands for it
//   "triton+relu"                  a relu in such a kernel
//   "convolution/channels_last"    of a library; as without torch.compile where nothing more is said
//   "not run"                      a view

inline constexpr const char* compiled_engine = "torch-compile";
/// Whether the host that is asked for issues the engine's calls; other engines issue theirs as measured.
bool is_issued_by_torch(const std::string& engine);

/// Of the GPUs among the models that were never measured, those of the same cards under torch.compile: of NVIDIA from
/// Volta on, which Triton compiles for.
std::vector<DeviceModel> compiled_by_rule(std::span<const DeviceModel> models);
bool is_compiled_by_rule(const DeviceModel& device);

/// The order as torch.compile makes it: kinds of calls split by their role, with what a kernel of generated code takes.
/// A kernel costs the host what the first of its calls does. Throws Error for training and for lists of calls without
/// edges.
IssueOrder as_compiled(const IssueOrder& order, const Graph& graph, const DeviceModel& device);

/// What was fused, for reports: learnt from no network.
FusedCalls compiled_calls(const IssueOrder& order);

}  // namespace joulecast
