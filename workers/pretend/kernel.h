#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "joulecast/graph/graph.h"
#include "joulecast/graph/record.h"

namespace joulecast::pretend {

/// What the laws need to know of a kernel.
struct Kernel {
    Family family = Family::other;
    Dtype dtype = Dtype::f32;
    bool strided = false;  ///< reads or writes another layout than contiguous
    double flop = 0;       ///< multiply-adds count two
    double other_flop = 0;
    double bytes_read = 0;
    double bytes_written = 0;
    /// A product's result: `batch` matrices of rows x columns; 0 rows: no product. Every element sums `depth` products.
    double batch = 1;
    double rows = 0;
    double columns = 0;
    double depth = 0;
    /// Share of the bytes read that the last cache holds. Filled in by whoever knows what ran before.
    double cached = 0;
};

/// One call that the host issues.
struct Step {
    std::vector<Kernel> kernels;  ///< none: a view, or arithmetic on sizes
    bool backward = false;        ///< issued by the autograd engine
    bool synchronises = false;    ///< the host waits for the device before it goes on (item, nonzero)
};
using Work = std::vector<Step>;

/// The calls of the operation's forward pass, with FLOPs and bytes of its record.
Step forward_step(const Operation& operation);
/// Those of its backward pass; no kernels where there is none.
Step backward_step(const Operation& operation);
/// The operation alone: forward, and in training backward where `whole`.
Work work_of(const Operation& operation, bool whole);

/// The optimizer's update of so many bytes of parameters.
Step update_step(double parameter_bytes, int passes);

/// Bytes of every tensor, each element that is different memory once.
double tensor_bytes(const Operation& operation);

/// "" where the worker can compute the operation; else why not.
std::string why_unsupported(const Operation& operation);

/// The host must know a result before it can go on.
bool waits_for_result(const Operation& operation);

}  // namespace joulecast::pretend
