#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/graph/operation.h"

namespace joulecast {

/// Operations that share a law and a learner. `view` and `symbolic` cost nothing on the device.
enum class Family {
    convolution,
    matmul,
    attention,
    normalization,
    softmax,
    elementwise,
    pooling,
    reduction,
    copy,
    indexing,
    creation,
    loss,
    view,
    symbolic,
    other
};

std::string_view name(Family family);
std::optional<Family> parse_family(std::string_view text);

/// Work of one pass. `flop` counts what torch.utils.flop_counter counts (matrix products, convolutions, attention;
/// 2 per multiply-add); `other_flop` the arithmetic it does not see, one per element and elementary operation.
/// Bytes: every tensor the kernel must touch, each once, cold cache.
struct Counts {
    std::int64_t flop = 0;
    std::int64_t other_flop = 0;
    std::int64_t bytes_read = 0;
    std::int64_t bytes_written = 0;

    friend bool operator==(const Counts&, const Counts&) = default;
};
Counts operator+(const Counts& a, const Counts& b);

/// A schema parameter, so that left-out arguments have their value. No default: required.
struct Parameter {
    std::string_view name;
    std::optional<Value> default_value;
};

/// Matrix products of one size: `batch` times [rows x depth] times [depth x columns].
struct MatrixProduct {
    std::int64_t batch = 1;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t depth = 0;
};

/// What autograd keeps of a call, as Record::saved and Record::hidden_bytes say it.
struct KeptTensors {
    std::vector<std::int32_t> saved;
    double hidden_bytes = 0;
};

/// What torch.autocast does to the floating tensors of a call; float64 it never touches.
enum class AutocastPolicy {
    lower,      ///< all cast to the lower type
    f32,        ///< all cast to f32
    f32_dtype,  ///< the call is asked for f32 by its dtype argument; nothing is cast
    promote     ///< all cast to f32 if one of them is f32, else left as they are
};

/// By device, of torch 2.13: absent where autocast leaves the operation alone.
struct AutocastPolicies {
    std::optional<AutocastPolicy> cpu;
    std::optional<AutocastPolicy> cuda;
};

/// All joulecast knows of one ATen target. One record per target, in ops_<family>.cpp.
struct Record {
    std::string_view target;
    Family family = Family::other;
    std::span<const Parameter> parameters;
    /// Output types; throws FormatError when the arguments cannot be right.
    std::vector<TensorType> (*outputs)(const Operation&) = nullptr;
    Counts (*forward)(const Operation&) = nullptr;
    /// Backward for the tensors that require a gradient, saved tensors read and gradients written.
    /// nullptr: no gradient flows through.
    Counts (*backward)(const Operation&) = nullptr;
    /// Bytes that autograd keeps from forward to backward, beyond inputs that live anyway: indices into
    /// tensors(operation) followed by outputs (index tensors.size()+k). Used by the memory planner.
    std::vector<std::int32_t> (*saved)(const Operation&) = nullptr;
    /// Bytes of further tensors that autograd keeps and no graph shows: dropout's mask, max pooling's indices.
    std::int64_t (*hidden_bytes)(const Operation&) = nullptr;
    /// The products that the forward pass computes (of attention the first: queries times keys). nullptr: none.
    MatrixProduct (*product)(const Operation&) = nullptr;
    /// Whether the host must wait for the device, since the result decides a size or a number there. nullptr: never.
    bool (*waits)(const Operation&) = nullptr;
    /// What kernels of a CPU keep in place of `saved` and `hidden_bytes`, which are those of CUDA. nullptr, absent: the
    /// same.
    std::optional<KeptTensors> (*kept_on_cpu)(const Operation&) = nullptr;
    /// The kernels that torch registers under AutocastCPU and AutocastCUDA (aten/src/ATen/autocast_mode.{h,cpp}); also
    /// of calls without one that do nothing but call such an operation.
    AutocastPolicies autocast = {};
};

/// The record of a target, or nullptr: then the operation is costed by the bytes of its tensors and named as such.
const Record* find_record(std::string_view target);

/// The operation with its arguments in schema order and those equal to their default left out, as are devices and
/// other arguments that decide no cost; [2] is written as [2,2] where the schema does. Unchanged without a record.
/// Throws FormatError for an argument that the schema does not have.
Operation canonical(Operation operation);

/// Every record, sorted by target: for documentation and tests.
std::vector<const Record*> all_records();

/// By the operation's record. Throws FormatError when the arguments cannot be right.
std::optional<MatrixProduct> matrix_product(const Operation& operation);
bool waits_for_device(const Operation& operation);
/// In training.
std::optional<KeptTensors> kept_on_cpu(const Operation& operation);

/// Family of the operation's record; Family::other without one. An operation of copy or view that touches no bytes
/// (reshape of a contiguous tensor, dropout that is switched off) is a view, a view whose backward does is a copy.
Family family(const Operation& operation);

/// Counts of the forward pass; without a record, the bytes of the input tensors (`outputs` unknown).
Counts forward_counts(const Operation& operation);
/// Counts of the backward pass; all zero in inference mode.
Counts backward_counts(const Operation& operation);
/// forward, plus backward for training-mode operations.
Counts total_counts(const Operation& operation);

/// The argument's value, or the schema's default; throws FormatError if there is neither or its kind differs.
/// T is an alternative of Value (integers are accepted as double), or Value itself.
template <class T>
T argument_or_default(const Operation& operation, std::string_view name);

}  // namespace joulecast
