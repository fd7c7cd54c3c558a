#include "lab/published/energaizer_kernel.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <string_view>

#include "joulecast/graph/record.h"
#include "joulecast/units/printable.h"
#include "lab/published/table_operation.h"

namespace joulecast {
namespace {

Dtype dtype_of(const TableReader& row) {
    const std::string& text = row.text("precision");
    if (text == "bf16") return Dtype::bf16;
    if (text == "fp16") return Dtype::f16;
    if (text == "fp32") return Dtype::f32;
    row.fail("precision is '" + printable(text, 20) + "', expected bf16, fp16 or fp32");
}

/// A single product is a linear layer: m outputs, n tokens, k inputs (that is
/// how the lists have 4096 x 2048 x 1024 in a network with 2048 tokens). A
/// batch of them multiplies m x k by k x n.
Operation gemm(const TableReader& row) {
    const Dtype dtype = dtype_of(row);
    const std::int64_t batch = row.whole("batch");
    const std::int64_t m = row.whole("m");
    const std::int64_t n = row.whole("n");
    const std::int64_t k = row.whole("k");
    if (batch == 1)
        return {"aten::linear", {{"input", TensorType{dtype, {n, k}}}, {"weight", TensorType{dtype, {m, k}}}}};
    return {"aten::bmm", {{"self", TensorType{dtype, {batch, m, k}}}, {"mat2", TensorType{dtype, {batch, k, n}}}}};
}

/// {"b": 8, "c": 3, "hw": 256, "m": 16, "padding": 1, "rs": 3, "stride": 2}:
/// names and whole numbers, nothing else.
std::map<std::string, std::int64_t> numbers_of(const TableReader& row) {
    const std::string& text = row.text("other");
    std::map<std::string, std::int64_t> numbers;
    const auto wrong = [&] { row.fail("other '" + printable(text, 40) + "' is no list of names and whole numbers"); };
    std::string_view rest = text;
    const auto skip = [&rest](std::string_view characters) {
        rest.remove_prefix(std::min(rest.find_first_not_of(characters), rest.size()));
    };
    skip(" {");
    while (!rest.empty() && rest[0] != '}') {
        const std::size_t end = rest[0] == '"' ? rest.find('"', 1) : std::string_view::npos;
        if (end == std::string_view::npos) wrong();
        const std::string key(rest.substr(1, end - 1));
        rest.remove_prefix(end + 1);
        skip(" :");
        std::int64_t value = 0;
        const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), value);
        if (parsed.ec != std::errc() || value < 0 || value > (std::int64_t{1} << 40)) wrong();
        if (!numbers.emplace(key, value).second) wrong();
        rest.remove_prefix(static_cast<std::size_t>(parsed.ptr - rest.data()));
        skip(" ,");
    }
    if (rest != "}") wrong();
    return numbers;
}

Operation convolution(const TableReader& row) {
    const auto numbers = numbers_of(row);
    const auto number = [&](const char* name) {
        const auto found = numbers.find(name);
        if (found == numbers.end()) row.fail(std::string("other lacks ") + name);
        return found->second;
    };
    const Dtype dtype = dtype_of(row);
    const std::int64_t side = number("hw");
    const std::int64_t kernel = number("rs");
    const std::int64_t channels = number("c");
    const Sizes stride(2, number("stride"));
    const Sizes padding(2, number("padding"));
    return {"aten::conv2d",
            {{"input", TensorType{dtype, {number("b"), channels, side, side}}},
             {"weight", TensorType{dtype, {number("m"), channels, kernel, kernel}}},
             {"stride", stride},
             {"padding", padding}}};
}

Operation softmax(const TableReader& row) {
    return {"aten::softmax.int",
            {{"self", TensorType{dtype_of(row), {row.whole("batch"), row.whole("dim")}}}, {"dim", std::int64_t{-1}}}};
}

Operation layer_norm(const TableReader& row) {
    const Dtype dtype = dtype_of(row);
    const std::int64_t dim = row.whole("dim");
    const TensorType scale{dtype, {dim}};
    return {"aten::layer_norm",
            {{"input", TensorType{dtype, {row.whole("batch"), dim}}},
             {"normalized_shape", Integers{dim}},
             {"weight", scale},
             {"bias", scale}}};
}

/// What the lists call an element-wise kernel, and what computes so in ATen.
/// The others of the lists have one tensor.
struct Elementwise {
    std::string_view op;
    const char* target;
    enum class Second { none, tensor, number, f32, bf16 } second = Second::none;
};

using Second = Elementwise::Second;

constexpr std::array elementwise_kernels{
    Elementwise{"pointwise_add", "aten::add.Tensor", Second::tensor},
    Elementwise{"pointwise_mul", "aten::mul.Tensor", Second::tensor},
    Elementwise{"unspecified_tensor", "aten::add.Tensor", Second::tensor},
    Elementwise{"scalar_add", "aten::add.Scalar", Second::number},
    Elementwise{"scalar_mul", "aten::mul.Scalar", Second::number},
    Elementwise{"unspecified_scalar", "aten::mul.Scalar", Second::number},
    Elementwise{"typecast_to_fp32", "aten::_to_copy", Second::f32},
    Elementwise{"typecast_to_bf16", "aten::_to_copy", Second::bf16},
    Elementwise{"relu", "aten::relu"},
    Elementwise{"gelu", "aten::gelu"},
    Elementwise{"silu", "aten::silu"},
    Elementwise{"tanh", "aten::tanh"},
};

std::optional<Operation> elementwise(const TableReader& row) {
    for (const Elementwise& kernel : elementwise_kernels) {
        if (kernel.op != row.text("op")) continue;
        const TensorType self{dtype_of(row), {row.whole("dim")}};
        Operation operation{kernel.target, {{"self", self}}};
        if (kernel.second == Second::tensor) operation.arguments.push_back({"other", self});
        if (kernel.second == Second::number) operation.arguments.push_back({"other", 2.0});
        if (kernel.second == Second::f32) operation.arguments.push_back({"dtype", Dtype::f32});
        if (kernel.second == Second::bf16) operation.arguments.push_back({"dtype", Dtype::bf16});
        return operation;
    }
    return {};
}

std::optional<Operation> as_listed(const TableReader& row) {
    const std::string& kind = row.text("kind");
    if (kind == "gemm") return gemm(row);
    if (kind == "conv2d") return convolution(row);
    if (kind == "softmax") return softmax(row);
    if (kind == "layernorm") return layer_norm(row);
    if (kind == "elementwise") return elementwise(row);
    return {};
}

void require_product(const TableReader& row, const Operation& operation) {
    const Sizes sizes = find_record(operation.target)->outputs(operation).at(0).sizes;
    const Sizes& weight = std::get<TensorType>(*find_argument(operation, "weight")).sizes;
    const bool fits = sizes[0] * sizes[2] * sizes[3] == row.whole("m") && sizes[1] == row.whole("n") &&
                      weight[1] * weight[2] * weight[3] == row.whole("k") && row.whole("batch") == 1;
    if (!fits) row.fail("batch, m, n and k are not those of the convolution in other");
}

}  // namespace

std::optional<Operation> energaizer_kernel(const TableReader& row) {
    const auto listed = as_listed(row);
    if (!listed) return {};
    Operation operation = operation_of(row, [&] { return *listed; });
    // Of convolutions the list has both the layer and the product it becomes.
    if (row.text("kind") == "conv2d") require_product(row, operation);
    return operation;
}

}  // namespace joulecast
