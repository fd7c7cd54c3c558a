#pragma once

#include <cstdint>
#include <vector>

#include "joulecast/graph/graph.h"

namespace joulecast {

/// What Inductor, torch.compile's code generator, does with a call of a network on a GPU.
struct InductorCall {
    enum class Kind {
        nothing,  ///< a view or arithmetic on sizes: an index of whoever reads it
        library,  ///< a kernel of cuDNN, cuBLAS or torch, as without torch.compile
        code      ///< in a kernel of generated code (Triton)
    };
    Kind kind = Kind::nothing;
    std::int32_t kernel = -1;  ///< of code: the first node in the same kernel
    double bytes = 0;          ///< of that first node: what the kernel reads and writes, each tensor once
};

/// By rules that follow torch/_inductor/lowering.py and scheduler.py, in inference, for each node of a graph with
/// edges:
///
/// * Convolutions, matrix products, attention, sorting and Fourier transforms stay calls of a library; what has no
///   record does, too.
/// * All else is code. An element-wise call (batch norm, a cast, a copy, cat, padding) is computed where it is read. A
///   normalization, a softmax and a reduction take what they read along; what reads them joins where it is over the
///   same elements.
/// * An element-wise value of at most four tensors that several calls read, none of them a library, a window or the
///   caller, is not written: each kernel computes it again from those (mark_reuse() in ir.py).
/// * Any other value is written where a library, another kernel or the caller reads it. What a kernel reads counts
/// once.
/// * Pooling and resizing read written tensors.
std::vector<InductorCall> inductor_calls(const Graph& graph);

/// Whether Inductor computes the graph's convolutions with channels last: not where more than 0.36 of their FLOPs are
/// in groups of several channels, nor where a graph has 300 calls for each of them (torch/_inductor/graph.py,
/// decide_layout_opt).
bool takes_channels_last(const Graph& graph);

}  // namespace joulecast
