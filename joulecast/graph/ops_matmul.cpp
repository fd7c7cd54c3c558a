#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include "joulecast/graph/copied_operands.h"
#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

/// A product as torch.matmul sees it: batches x rows x inner times batches x inner x columns; vectors have one row.
struct Product {
    const TensorType& left;
    const TensorType& right;
    /// Added to the product: bias of linear, self of addmm.
    const TensorType* added;
    Sizes output;
    std::int64_t inner;
};

Sizes matmul_sizes(const Operation& operation, Sizes left, Sizes right) {
    if (left.empty() || right.empty()) refuse(operation, "a scalar cannot be multiplied as a matrix");
    const bool left_vector = left.size() == 1;
    const bool right_vector = right.size() == 1;
    if (left_vector) left.insert(left.begin(), 1);
    if (right_vector) right.push_back(1);
    if (left.back() != right[right.size() - 2]) refuse(operation, "inner sizes differ");
    Sizes output = broadcast(operation, Sizes(left.begin(), left.end() - 2), Sizes(right.begin(), right.end() - 2));
    if (!left_vector) output.push_back(left[left.size() - 2]);
    if (!right_vector) output.push_back(right.back());
    return output;
}

Product read_linear(const Operation& operation) {
    const TensorType& input = tensor(operation, "input");
    const TensorType& weight = tensor(operation, "weight");
    Sizes turned = weight.sizes;
    if (turned.size() == 2) std::swap(turned[0], turned[1]);
    if (turned.empty() || turned.size() > 2) refuse(operation, "the weight is not a matrix");
    Sizes output = matmul_sizes(operation, input.sizes, turned);
    return {input, weight, optional_tensor(operation, "bias"), std::move(output), input.sizes.back()};
}

/// What the operands are called in the schema.
struct Names {
    std::string_view left;
    std::string_view right;
    std::string_view added;
};

Names operand_names(std::string_view target) {
    if (target.starts_with("aten::addmm")) return {"mat1", "mat2", "self"};
    if (target.starts_with("aten::baddbmm") || target.starts_with("aten::addbmm")) return {"batch1", "batch2", "self"};
    if (target == "aten::addmv") return {"mat", "vec", "self"};
    if (target == "aten::dot") return {"self", "tensor", {}};
    if (target == "aten::mv") return {"self", "vec", {}};
    if (target == "aten::matmul" || target == "aten::linalg_matmul") return {"self", "other", {}};
    return {"self", "mat2", {}};
}

/// Operands of eight bits with their scales: one for all, or one for each row and column. Torch's kernel takes rows of
/// the first and columns of the second, in steps of 16.
Product read_scaled(const Operation& operation) {
    const TensorType& left = tensor(operation, "self");
    const TensorType& right = tensor(operation, "mat2");
    const auto is_narrow = [](const TensorType& type) {
        return type.dtype == Dtype::f8e4m3fn || type.dtype == Dtype::f8e5m2;
    };
    if (!is_narrow(left) || !is_narrow(right)) refuse(operation, "the operands are not of eight bits");
    if (rank(left) != 2 || rank(right) != 2) refuse(operation, "the operands are not matrices");
    Sizes output = matmul_sizes(operation, left.sizes, right.sizes);
    if (right.sizes[0] % 16 != 0 || right.sizes[1] % 16 != 0)
        refuse(operation, "the sizes of mat2 are not multiples of 16");
    if (!output.empty() && product(operation, output) > 0 && right.sizes[0] > 0) {
        if (strides_of(left)[1] != 1) refuse(operation, "self does not lie row by row");
        if (strides_of(right)[0] != 1) refuse(operation, "mat2 does not lie column by column");
    }
    const auto is_scale = [&](const TensorType& scale, std::size_t dimension) {
        Sizes lines{1, 1};
        lines[dimension] = output[dimension];
        return scale.dtype == Dtype::f32 && scale.sizes == lines;
    };
    const TensorType& left_scale = tensor(operation, "scale_a");
    const TensorType& right_scale = tensor(operation, "scale_b");
    const bool is_one = left_scale.dtype == Dtype::f32 && right_scale.dtype == Dtype::f32 &&
                        element_count(left_scale) == 1 && element_count(right_scale) == 1;
    if (!is_one && !(is_scale(left_scale, 0) && is_scale(right_scale, 1)))
        refuse(operation, "the scales are neither single numbers nor one for each row and column");
    return {left, right, optional_tensor(operation, "bias"), std::move(output), left.sizes[1]};
}

/// The products of all batches are summed.
Product read_summed(const Operation& operation) {
    const TensorType& left = tensor(operation, "batch1");
    const TensorType& right = tensor(operation, "batch2");
    if (rank(left) != 3 || rank(right) != 3) refuse(operation, "the operands are not batches of matrices");
    Sizes output = matmul_sizes(operation, left.sizes, right.sizes);
    output.erase(output.begin());
    return {left, right, &tensor(operation, "self"), std::move(output),
            checked(operation, left.sizes[0], left.sizes.back())};
}

/// Groups of rows, columns or inner places each with their own matrix; `offs` says where a group ends. All work is that
/// of one product: groups of inner places (two plain matrices) give a result each, but share the places.
Product read_grouped(const Operation& operation) {
    const auto parameters = find_record(operation.target)->parameters;
    const TensorType& left = tensor(operation, parameters[0].name);
    const TensorType& right = tensor(operation, parameters[1].name);
    if (rank(left) < 2 || rank(left) > 3 || rank(right) < 2 || rank(right) > 3)
        refuse(operation, "no groups of matrices");
    const std::int64_t inner = left.sizes.back();
    if (inner != right.sizes[rank(right) - 2]) refuse(operation, "inner sizes differ");
    Sizes output{left.sizes[rank(left) - 2], right.sizes.back()};
    if (rank(left) == 3 && rank(right) == 3) {
        if (left.sizes[0] != right.sizes[0]) refuse(operation, "the numbers of groups differ");
        output.insert(output.begin(), left.sizes[0]);
    } else if (rank(left) == 2 && rank(right) == 2) {
        const std::int64_t groups = element_count(tensor(operation, "offs"));
        output.insert(output.begin(), groups);
        return {left, right, nullptr, std::move(output), groups == 0 ? 0 : inner / groups};
    }
    return {left, right, nullptr, std::move(output), inner};
}

Product read(const Operation& operation) {
    if (operation.target == "aten::linear") return read_linear(operation);
    if (operation.target == "aten::_scaled_mm") return read_scaled(operation);
    if (operation.target.find("grouped_mm") != std::string::npos) return read_grouped(operation);
    if (operation.target.starts_with("aten::addbmm")) return read_summed(operation);
    const Names names = operand_names(operation.target);
    const TensorType& left = tensor(operation, names.left);
    const TensorType& right = tensor(operation, names.right);
    const TensorType* added = names.added.empty() ? nullptr : &tensor(operation, names.added);
    return {left, right, added, matmul_sizes(operation, left.sizes, right.sizes), left.sizes.back()};
}

/// Products of low precision come out in another one.
Dtype output_dtype(const Operation& operation, const Product& call) {
    if (operation.target == "aten::_int_mm") return Dtype::i32;
    if (!has_parameter(operation, "out_dtype")) return call.left.dtype;
    return optional_dtype(operation, "out_dtype").value_or(call.left.dtype);
}

Types outputs(const Operation& operation) {
    Product call = read(operation);
    return {make(output_dtype(operation, call), std::move(call.output))};
}

/// mm_flop and bmm_flop of torch.utils.flop_counter: 2 per multiply-add.
std::int64_t flop(const Operation& operation, const Product& call) {
    return checked(operation, checked(operation, 2, call.inner), product(operation, call.output));
}

Counts forward(const Operation& operation) {
    const Product call = read(operation);
    const Types output = outputs(operation);
    return {flop(operation, call), call.added != nullptr ? elements(output) : 0, input_bytes(operation), bytes(output)};
}

/// As torch runs it: a plain matrix on the right takes all rows of all batches at once.
MatrixProduct as_product(const Operation& operation) {
    const Product call = read(operation);
    const bool right_is_vector = rank(call.right) == 1;
    const std::int64_t columns = right_is_vector ? 1 : call.output.back();
    Sizes others = call.output;
    if (!right_is_vector) others.pop_back();
    std::int64_t rows = rank(call.left) == 1 || others.empty() ? 1 : others.back();
    if (rank(call.left) > 1 && !others.empty()) others.pop_back();
    std::int64_t batch = product(operation, others);
    if (rank(call.right) <= 2 && rank(call.left) > 2) rows = checked(operation, rows, std::exchange(batch, 1));
    return {batch, rows, columns, call.inner};
}

/// Both gradients are products with as many multiply-adds; where an operand was broadcast, its gradient is summed.
Counts backward(const Operation& operation) {
    const Product call = read(operation);
    const Types output = outputs(operation);
    Counts counts;
    counts.bytes_read = bytes(output);
    counts.bytes_written = gradient_bytes(operation);
    if (call.left.requires_grad) {
        counts.flop += flop(operation, call);
        counts.bytes_read += byte_count(call.right);
    }
    if (call.right.requires_grad) {
        counts.flop += flop(operation, call);
        counts.bytes_read += byte_count(call.left);
    }
    if (call.added == nullptr || !call.added->requires_grad) return counts;
    if (call.added->sizes == call.output) {
        counts.bytes_written -= byte_count(*call.added);  // the output's gradient itself
    } else {
        counts.other_flop += elements(output);
    }
    return counts;
}

/// The operand as matmul hands it to its kernel, where that is a copy: more than two dimensions are brought to two, or
/// with those of the other operand to one batch and two, by a view if the strides allow one. Absent without a copy.
std::optional<TensorType> copied(const Operation& operation, const Product& call, const TensorType& operand) {
    const bool reshapes = operation.target.ends_with("matmul") || operation.target == "aten::linear";
    const std::size_t dimensions = rank(operand);
    if (!reshapes || dimensions < 3 || element_count(operand) == 0) return std::nullopt;
    const TensorType& other = &operand == &call.left ? call.right : call.left;
    if (rank(other) <= 2) {
        std::vector<std::size_t> order(dimensions);
        std::iota(order.begin(), order.end(), std::size_t{0});
        if (&operand == &call.right) std::swap(order[dimensions - 1], order[dimensions - 2]);
        const TensorType turned = permuted(operand, order);
        const std::int64_t last = turned.sizes.back();
        return view_of(turned, {element_count(turned) / last, last}) ? std::nullopt
                                                                     : std::optional(make(operand.dtype, turned.sizes));
    }
    Sizes sizes(call.output.begin(), call.output.end() - 2);
    const std::int64_t batch = product(operation, sizes);
    sizes.insert(sizes.end(), operand.sizes.end() - 2, operand.sizes.end());
    Strides strides = strides_of(operand);
    strides.insert(strides.begin(), sizes.size() - dimensions, 0);
    for (std::size_t i = 0; i < dimensions; ++i) {
        std::int64_t& stride = strides[strides.size() - 1 - i];
        if (operand.sizes[dimensions - 1 - i] != sizes[sizes.size() - 1 - i]) stride = 0;
    }
    const TensorType expanded = strided(operand.dtype, make(operand.dtype, sizes).sizes, strides);
    const std::size_t count = sizes.size();
    if (view_of(expanded, {batch, sizes[count - 2], sizes[count - 1]})) return std::nullopt;
    return make(operand.dtype, std::move(sizes));
}

bool is_kept(const Product& call, const TensorType* operand) {
    return (operand == &call.left && call.right.requires_grad) || (operand == &call.right && call.left.requires_grad);
}

/// Each operand is kept for the other's gradient, unless its copy is.
Indices saved(const Operation& operation) {
    const Product call = read(operation);
    const auto inputs = tensors(operation);
    Indices kept;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (is_kept(call, inputs[i]) && !copied(operation, call, *inputs[i]))
            kept.push_back(static_cast<std::int32_t>(i));
    }
    return kept;
}

std::int64_t kept_copies(const Operation& operation) {
    const Product call = read(operation);
    std::int64_t count = 0;
    for (const TensorType* operand : {&call.left, &call.right}) {
        if (!is_kept(call, operand)) continue;
        if (const auto copy = copied(operation, call, *operand)) count = added(count, byte_count(*copy));
    }
    return count;
}

constexpr Row matmul(std::string_view schema) {
    return {schema, Family::matmul, &outputs, &forward, &backward, &saved, &kept_copies, &as_product};
}

constexpr std::array rows{
    Row{"aten::_scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? bias=None, Tensor? "
        "scale_result=None, ScalarType? out_dtype=None, bool use_fast_accum=False) -> Tensor",
        Family::matmul, &outputs, &forward, nullptr, nullptr, nullptr, &as_product},
    cast(lowered, matmul("aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor")),
    cast(lowered, matmul("aten::mm(Tensor self, Tensor mat2) -> Tensor")),
    cast(lowered, matmul("aten::bmm(Tensor self, Tensor mat2) -> Tensor")),
    cast(lowered, matmul("aten::matmul(Tensor self, Tensor other) -> Tensor")),
    matmul("aten::linalg_matmul(Tensor self, Tensor other) -> Tensor"),
    cast(lowered,
         matmul("aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor")),
    cast(
        lowered,
        matmul("aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor")),
    cast(lowered_on_gpu, matmul("aten::mv(Tensor self, Tensor vec) -> Tensor")),
    cast(lowered_on_gpu,
         matmul("aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor")),
    cast(promoted_on_gpu, matmul("aten::dot(Tensor self, Tensor tensor) -> Tensor")),
    matmul("aten::addmm_(Tensor(a!) self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)"),
    matmul("aten::baddbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> "
           "Tensor(a!)"),
    cast(lowered,
         matmul("aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor")),
    matmul(
        "aten::addbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)"),
    matmul("aten::_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? "
           "out_dtype=None) -> Tensor"),
    matmul("aten::_int_mm(Tensor self, Tensor mat2) -> Tensor"),
    // What Hugging Face's mixtures of experts are exported with where torch's own takes bf16 only.
    matmul("transformers::grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor"),
};

}  // namespace

std::span<const Row> matmul_rows() {
    return rows;
}

}  // namespace joulecast::records

namespace joulecast {

std::vector<CopiedOperand> copied_operands(const Operation& product) {
    const records::Product call = records::read(product);
    std::vector<CopiedOperand> found;
    for (const TensorType* operand : {&call.left, &call.right}) {
        if (auto copy = records::copied(product, call, *operand)) found.push_back({operand, *std::move(copy)});
    }
    return found;
}

}  // namespace joulecast
