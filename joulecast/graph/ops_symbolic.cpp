#include <array>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

/// Arithmetic on sizes and checks: no tensor comes out, nothing runs on the device.
constexpr Row symbolic(std::string_view schema) {
    return {schema, Family::symbolic, &no_outputs, &free_of_charge};
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
};

}  // namespace

std::span<const Row> symbolic_rows() {
    return rows;
}

}  // namespace joulecast::records
