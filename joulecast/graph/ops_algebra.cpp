// Factorisations of square and tall matrices. Their work, of the order n^3, is not seen by torch's counter: it stands
// in other_flop, with the leading term of the textbook count (Golub and Van Loan) in multiplications and additions.

#include <algorithm>
#include <array>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

/// A batch of matrices.
struct Matrices {
    const TensorType& type;
    Sizes batch;
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t smaller;
};

Matrices read(const Operation& operation) {
    const TensorType& type = first(operation);
    if (rank(type) < 2) refuse(operation, "the tensor is not a matrix");
    const std::int64_t rows = type.sizes[rank(type) - 2];
    const std::int64_t columns = type.sizes.back();
    return {type, Sizes(type.sizes.begin(), type.sizes.end() - 2), rows, columns, std::min(rows, columns)};
}

Matrices square(const Operation& operation) {
    Matrices call = read(operation);
    if (call.rows != call.columns) refuse(operation, "the matrix is not square");
    return call;
}

Sizes with(Sizes batch, std::initializer_list<std::int64_t> last) {
    batch.insert(batch.end(), last);
    return batch;
}

Dtype real_of(Dtype dtype) {
    if (dtype == Dtype::c64) return Dtype::f32;
    return dtype == Dtype::c128 ? Dtype::f64 : dtype;
}

Dtype complex_of(Dtype dtype) {
    return dtype == Dtype::f64 || dtype == Dtype::c128 ? Dtype::c128 : Dtype::c64;
}

/// A number for each matrix.
Types number(const Operation& operation) {
    const Matrices call = square(operation);
    return {make(call.type.dtype, call.batch)};
}

Types sign_and_logarithm(const Operation& operation) {
    const Matrices call = square(operation);
    return {make(call.type.dtype, call.batch), make(real_of(call.type.dtype), call.batch)};
}

Types square_outputs(const Operation& operation) {
    const Matrices call = square(operation);
    return {make(call.type.dtype, call.type.sizes)};
}

Types square_with_status(const Operation& operation) {
    const Matrices call = square(operation);
    return {make(call.type.dtype, call.type.sizes), make(Dtype::i32, call.batch)};
}

/// Columns and rows change places.
Types turned_outputs(const Operation& operation) {
    const Matrices call = read(operation);
    return {make(call.type.dtype, with(call.batch, {call.columns, call.rows}))};
}

/// The unknowns: as the right-hand side, matrices or vectors.
Types solved_outputs(const Operation& operation) {
    square(operation);
    const TensorType& right = tensor(operation, "B");
    const Sizes& left = first(operation).sizes;
    const bool vectors = operation.target == "aten::linalg_solve" &&
                         (rank(right) == 1 || (rank(right) + 1 == left.size() &&
                                               std::equal(right.sizes.begin(), right.sizes.end(), left.begin())));
    if (vectors) return {make(right.dtype, right.sizes)};
    if (rank(right) < 2) refuse(operation, "the right-hand side is not a matrix");
    const Sizes batch =
        broadcast(operation, Sizes(left.begin(), left.end() - 2), Sizes(right.sizes.begin(), right.sizes.end() - 2));
    return {make(right.dtype, with(batch, {right.sizes[rank(right) - 2], right.sizes.back()}))};
}

/// Orthogonal columns and a triangle.
Types qr_outputs(const Operation& operation) {
    const Matrices call = read(operation);
    const auto mode = argument_or_default<std::string>(operation, "mode");
    const std::int64_t inner = mode == "complete" ? call.rows : call.smaller;
    const TensorType triangle =
        make(call.type.dtype, with(call.batch, {mode == "complete" ? call.rows : call.smaller, call.columns}));
    if (mode == "r") return {make(call.type.dtype, {0}), triangle};
    return {make(call.type.dtype, with(call.batch, {call.rows, inner})), triangle};
}

Types svd_outputs(const Operation& operation) {
    const Matrices call = read(operation);
    const bool full = flag(operation, "full_matrices");
    return {make(call.type.dtype, with(call.batch, {call.rows, full ? call.rows : call.smaller})),
            make(real_of(call.type.dtype), with(call.batch, {call.smaller})),
            make(call.type.dtype, with(call.batch, {full ? call.columns : call.smaller, call.columns}))};
}

Types singular_values(const Operation& operation) {
    const Matrices call = read(operation);
    return {make(real_of(call.type.dtype), with(call.batch, {call.smaller}))};
}

Types symmetric_eigen(const Operation& operation) {
    const Matrices call = square(operation);
    return {make(real_of(call.type.dtype), with(call.batch, {call.rows})), make(call.type.dtype, call.type.sizes)};
}

Types symmetric_eigenvalues(const Operation& operation) {
    const Matrices call = square(operation);
    return {make(real_of(call.type.dtype), with(call.batch, {call.rows}))};
}

Types eigen(const Operation& operation) {
    const Matrices call = square(operation);
    const Dtype dtype = complex_of(call.type.dtype);
    return {make(dtype, with(call.batch, {call.rows})), make(dtype, call.type.sizes)};
}

Types eigenvalues(const Operation& operation) {
    const Matrices call = square(operation);
    return {make(complex_of(call.type.dtype), with(call.batch, {call.rows}))};
}

/// `thirds` times rows x columns x smaller / 3 for each matrix.
template <auto Outputs, std::int64_t thirds>
Counts factored(const Operation& operation) {
    const Matrices call = read(operation);
    const std::int64_t cube = product(operation, with(call.batch, {call.rows, call.columns, call.smaller}));
    return {0, checked(operation, thirds, cube) / 3, input_bytes(operation), bytes(Outputs(operation))};
}

/// Triangles and right-hand sides: 2 n^2 for each unknown column, beside the factorisation.
template <std::int64_t thirds>
Counts solved(const Operation& operation) {
    Counts counts = factored<&solved_outputs, thirds>(operation);
    const std::int64_t unknowns = elements(solved_outputs(operation));
    counts.other_flop =
        added(counts.other_flop, checked(operation, checked(operation, 2, unknowns), read(operation).rows));
    return counts;
}

/// Formulas of a few products of the factors: about as much work again, twice.
template <auto Forward>
Counts factored_backward(const Operation& operation) {
    const Counts forward = Forward(operation);
    return {0, checked(operation, 2, forward.other_flop), added(forward.bytes_read, 2 * forward.bytes_written),
            gradient_bytes(operation)};
}

Indices saves_first_and_outputs(const Operation& operation) {
    const auto inputs = static_cast<std::int32_t>(tensors(operation).size());
    return {0, inputs};
}

template <auto Outputs, std::int64_t thirds>
constexpr Row factorisation(std::string_view schema) {
    return {schema,
            Family::other,
            Outputs,
            &factored<Outputs, thirds>,
            &factored_backward<&factored<Outputs, thirds>>,
            &saves_first_and_outputs};
}
template <std::int64_t thirds>
constexpr Row solution(std::string_view schema) {
    return {schema,
            Family::other,
            &solved_outputs,
            &solved<thirds>,
            &factored_backward<&solved<thirds>>,
            &saves_first_and_outputs};
}

/// The sum of the diagonal, and powers by repeated squaring.
Types trace_outputs(const Operation& operation) {
    const Matrices call = read(operation);
    if (!call.batch.empty()) refuse(operation, "trace takes one matrix");
    return {make(to_accumulator(call.type.dtype), {})};
}

Counts trace_forward(const Operation& operation) {
    const Types output = trace_outputs(operation);
    const std::int64_t size = read(operation).smaller;
    return {0, size, checked(operation, size, element_bytes(first(operation).dtype)), bytes(output)};
}

constexpr Row trace(std::string_view schema) {
    return {schema, Family::reduction, &trace_outputs, &trace_forward, &gradient_streamed<&trace_outputs>};
}

/// n is bounded; squares for each binary digit, and a product for each that is set.
Counts power_forward(const Operation& operation) {
    const Matrices call = square(operation);
    std::int64_t n = integer(operation, "n");
    if (n < -(std::int64_t{1} << 20) || n > (std::int64_t{1} << 20)) refuse(operation, "the power is out of range");
    std::int64_t products = 0;
    for (n = n < 0 ? -n : n; n > 1; n /= 2) products += 1 + n % 2;
    const std::int64_t inverse = product(operation, with(call.batch, {call.rows, call.rows, call.rows}));
    return {checked(operation, 2 * products, inverse), 0, input_bytes(operation), bytes(square_outputs(operation))};
}

Counts power_backward(const Operation& operation) {
    const Counts forward = power_forward(operation);
    return {checked(operation, 2, forward.flop), 0, added(forward.bytes_read, forward.bytes_written),
            gradient_bytes(operation)};
}

constexpr Row power(std::string_view schema) {
    return {schema, Family::matmul, &square_outputs, &power_forward, &power_backward, &saves_first};
}

constexpr std::array rows{
    cast(f32_on_cpu, factorisation<&square_outputs, 6>("aten::linalg_inv(Tensor A) -> Tensor")),
    cast(f32_on_cpu, factorisation<&square_outputs, 6>("aten::inverse(Tensor self) -> Tensor")),
    cast(f32_on_cpu, factorisation<&square_with_status, 6>(
                         "aten::linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)")),
    factorisation<&number, 2>("aten::linalg_det(Tensor A) -> Tensor"),
    factorisation<&number, 2>("aten::det(Tensor self) -> Tensor"),
    factorisation<&number, 2>("aten::logdet(Tensor self) -> Tensor"),
    factorisation<&sign_and_logarithm, 2>("aten::linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)"),
    factorisation<&sign_and_logarithm, 2>("aten::slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)"),
    cast(f32_on_cpu,
         factorisation<&square_outputs, 1>("aten::linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor")),
    cast(f32_on_cpu, factorisation<&square_outputs, 1>("aten::cholesky(Tensor self, bool upper=False) -> Tensor")),
    cast(f32_on_cpu,
         factorisation<&square_with_status, 1>("aten::linalg_cholesky_ex(Tensor self, *, bool upper=False, bool "
                                               "check_errors=False) -> (Tensor L, Tensor info)")),
    cast(f32_on_cpu,
         factorisation<&square_outputs, 2>("aten::cholesky_inverse(Tensor self, bool upper=False) -> Tensor")),
    factorisation<&square_outputs, 40>("aten::linalg_matrix_exp(Tensor self) -> Tensor"),
    factorisation<&square_outputs, 40>("aten::matrix_exp(Tensor self) -> Tensor"),
    factorisation<&turned_outputs, 70>("aten::linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor"),
    cast(f32_on_cpu, factorisation<&turned_outputs, 70>(
                         "aten::pinverse(Tensor self, float rcond=1.0000000000000001e-15) -> Tensor")),
    cast(f32_on_cpu,
         factorisation<&qr_outputs, 8>("aten::linalg_qr(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)")),
    cast(f32_on_cpu, factorisation<&svd_outputs, 66>("aten::linalg_svd(Tensor A, bool full_matrices=True, *, str? "
                                                     "driver=None) -> (Tensor U, Tensor S, Tensor Vh)")),
    cast(f32_on_cpu,
         factorisation<&singular_values, 8>("aten::linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor")),
    cast(f32_on_cpu,
         factorisation<&symmetric_eigen, 27>(
             "aten::linalg_eigh(Tensor self, str UPLO=\"L\") -> (Tensor eigenvalues, Tensor eigenvectors)")),
    cast(f32_on_cpu,
         factorisation<&symmetric_eigenvalues, 4>("aten::linalg_eigvalsh(Tensor self, str UPLO=\"L\") -> Tensor")),
    cast(f32_on_cpu,
         factorisation<&eigen, 75>("aten::linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)")),
    cast(f32_on_cpu, factorisation<&eigenvalues, 30>("aten::linalg_eigvals(Tensor self) -> Tensor")),
    cast(f32_on_cpu, solution<2>("aten::linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor")),
    solution<0>("aten::linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool "
                "unitriangular=False) -> Tensor"),
    cast(f32_on_cpu, trace("aten::trace(Tensor self) -> Tensor")),
    power("aten::matrix_power(Tensor self, int n) -> Tensor"),
    power("aten::linalg_matrix_power(Tensor self, int n) -> Tensor"),
};

}  // namespace

std::span<const Row> algebra_rows() {
    return rows;
}

}  // namespace joulecast::records
