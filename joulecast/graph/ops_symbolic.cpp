#include <array>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

/// Arithmetic on sizes and checks: no tensor comes out, nothing runs on the device.
constexpr Row symbolic(std::string_view schema) {
    return {schema, Family::symbolic, &no_outputs, &free_of_charge};
}

Types token_outputs(const Operation& operation) {
    const TensorType& old = tensor(operation, "dep_token");
    return {make(old.dtype, old.sizes)};
}

constexpr Row token(std::string_view schema) {
    return {schema, Family::symbolic, &token_outputs, &free_of_charge};
}

constexpr Row read_back(std::string_view schema) {
    return {schema, Family::copy, &no_outputs, &reduced<&no_outputs, 0>};
}

constexpr std::array rows{
    symbolic("aten::sym_size.int(Tensor self, int dim) -> SymInt"),
    symbolic("aten::sym_stride.int(Tensor self, int dim) -> SymInt"),
    symbolic("aten::sym_numel(Tensor self) -> SymInt"),
    symbolic("aten::sym_storage_offset(Tensor self) -> SymInt"),
    symbolic("aten::sym_constrain_range(Scalar size, *, int? min=None, int? max=None) -> ()"),
    symbolic("aten::sym_constrain_range_for_size(Scalar size, *, int? min=None, int? max=None) -> ()"),
    symbolic("aten::_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, ScalarType? "
             "dtype=None, *, Device? device=None, Layout? layout=None) -> ()"),
    symbolic("aten::_assert_scalar(Scalar self, str assert_msg) -> ()"),
    symbolic("aten::_assert_async(Tensor self) -> ()"),
    symbolic("aten::_assert_async.msg(Tensor self, str assert_msg) -> ()"),
    symbolic("aten::sym_size(Tensor self) -> SymInt[]"),
    symbolic("aten::sym_stride(Tensor self) -> SymInt[]"),
    // Tokens that keep assertions in order; empty tensors.
    token("aten::_functional_assert_async.msg(Tensor self, str assert_msg, Tensor dep_token) -> Tensor"),
    token("aten::_functional_assert_scalar(Scalar self, str assert_msg, Tensor dep_token) -> Tensor"),
    token("aten::_functional_sym_constrain_range(Scalar size, int? min, int? max, Tensor dep_token) -> Tensor"),
    token(
        "aten::_functional_sym_constrain_range_for_size(Scalar size, int? min, int? max, Tensor dep_token) -> Tensor"),
    // A number comes to the host, which waits for the device.
    waiting(read_back("aten::item(Tensor self) -> Scalar")),
    waiting(read_back("aten::is_nonzero(Tensor self) -> bool")),
    waiting(read_back("aten::_local_scalar_dense(Tensor self) -> Scalar")),
    // Python's own operators on symbolic integers; they have no ATen schema.
    symbolic("operator::add(Scalar a, Scalar b) -> SymInt"),
    symbolic("operator::sub(Scalar a, Scalar b) -> SymInt"),
    symbolic("operator::mul(Scalar a, Scalar b) -> SymInt"),
    symbolic("operator::floordiv(Scalar a, Scalar b) -> SymInt"),
    symbolic("operator::truediv(Scalar a, Scalar b) -> SymFloat"),
    symbolic("operator::mod(Scalar a, Scalar b) -> SymInt"),
    symbolic("operator::neg(Scalar a) -> SymInt"),
    symbolic("operator::pow(Scalar a, Scalar b) -> SymInt"),
    symbolic("operator::eq(Scalar a, Scalar b) -> SymBool"),
    symbolic("operator::ne(Scalar a, Scalar b) -> SymBool"),
    symbolic("operator::lt(Scalar a, Scalar b) -> SymBool"),
    symbolic("operator::le(Scalar a, Scalar b) -> SymBool"),
    symbolic("operator::gt(Scalar a, Scalar b) -> SymBool"),
    symbolic("operator::ge(Scalar a, Scalar b) -> SymBool"),
    symbolic("operator::and_(Scalar a, Scalar b) -> SymBool"),
    symbolic("operator::or_(Scalar a, Scalar b) -> SymBool"),
    symbolic("operator::xor(Scalar a, Scalar b) -> SymBool"),
    symbolic("operator::not_(Scalar a) -> SymBool"),
    symbolic("operator::lshift(Scalar a, Scalar b) -> SymInt"),
    symbolic("operator::rshift(Scalar a, Scalar b) -> SymInt"),
    symbolic("operator::pos(Scalar a) -> SymInt"),
    symbolic("operator::abs(Scalar a) -> SymInt"),
    symbolic("math::trunc(Scalar x) -> SymInt"),
    symbolic("math::floor(Scalar x) -> SymInt"),
    symbolic("math::ceil(Scalar x) -> SymInt"),
    symbolic("torch::sym_float(Scalar a) -> SymFloat"),
    symbolic("torch::sym_int(Scalar a) -> SymInt"),
    symbolic("torch::sym_ite(Scalar b, Scalar t, Scalar f) -> SymInt"),
    symbolic("torch::sym_max(Scalar a, Scalar b) -> SymInt"),
    symbolic("torch::sym_min(Scalar a, Scalar b) -> SymInt"),
    symbolic("torch::sym_not(Scalar a) -> SymBool"),
    symbolic("torch::_sym_sqrt(Scalar a) -> SymFloat"),
};

}  // namespace

std::span<const Row> symbolic_rows() {
    return rows;
}

}  // namespace joulecast::records
