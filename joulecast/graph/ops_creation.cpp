#include <algorithm>
#include <array>
#include <cmath>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

Types sized(const Operation& operation) {
    Sizes sizes = integers(operation, "size");
    product(operation, sizes);
    return {make(optional_dtype(operation, "dtype").value_or(Dtype::f32), std::move(sizes))};
}

/// full: the dtype of the number.
Types filled(const Operation& operation) {
    Sizes sizes = integers(operation, "size");
    product(operation, sizes);
    const auto dtype = optional_dtype(operation, "dtype");
    return {make(dtype ? *dtype : promoted(operation, {"fill_value"}), std::move(sizes))};
}

Types like_first(const Operation& operation) {
    const TensorType& self = first(operation);
    return {in_memory_format(operation, optional_dtype(operation, "dtype").value_or(self.dtype))};
}

Types new_sized(const Operation& operation) {
    const TensorType& self = first(operation);
    Sizes sizes = integers(operation, "size");
    product(operation, sizes);
    return {make(optional_dtype(operation, "dtype").value_or(self.dtype), std::move(sizes))};
}

Types scalar(const Operation& operation) {
    return {make(optional_dtype(operation, "dtype").value_or(Dtype::f32), {})};
}

/// start (0), end, step (1): integers where all are, else floats.
Types arange_outputs(const Operation& operation) {
    const double start = has_parameter(operation, "start") ? argument_or_default<double>(operation, "start") : 0.0;
    const double step = has_parameter(operation, "step") ? argument_or_default<double>(operation, "step") : 1.0;
    const double count = std::ceil((argument_or_default<double>(operation, "end") - start) / step);
    constexpr double largest = 1e15;
    // Also false for NaN.
    if (!(count >= 0.0 && count <= largest)) refuse(operation, "the number of elements is out of range");
    bool integral = true;
    for (const std::string_view name : {"start", "end", "step"}) {
        const Value* given = find_argument(operation, name);
        integral = integral && (given == nullptr || std::holds_alternative<std::int64_t>(*given));
    }
    const Dtype dtype = optional_dtype(operation, "dtype").value_or(integral ? Dtype::i64 : Dtype::f32);
    return {make(dtype, {static_cast<std::int64_t>(count)})};
}

Types linspace_outputs(const Operation& operation) {
    const Sizes sizes{integer(operation, "steps")};
    product(operation, sizes);
    return {make(optional_dtype(operation, "dtype").value_or(Dtype::f32), sizes)};
}

Types eye_outputs(const Operation& operation) {
    const std::int64_t n = integer(operation, "n");
    const Sizes sizes{n, has_parameter(operation, "m") ? integer(operation, "m") : n};
    product(operation, sizes);
    return {make(optional_dtype(operation, "dtype").value_or(Dtype::f32), sizes)};
}

/// A constant for self's gradient: zeros.
Counts fill_backward(const Operation& operation) {
    return {0, 0, 0, gradient_bytes(operation)};
}

template <auto Outputs>
constexpr Row creation(std::string_view schema) {
    return {schema, Family::creation, Outputs, &written<Outputs>};
}
template <auto Outputs>
constexpr Row unwritten(std::string_view schema) {
    return {schema, Family::creation, Outputs, &free_of_charge};
}
/// The value may be a tensor; what was there before is not read.
Counts fill_forward(const Operation& operation) {
    const TensorType& self = first(operation);
    return {0, 0, input_bytes(operation) - distinct_bytes(self), byte_count(self)};
}

constexpr Row fill(std::string_view schema) {
    return {schema, Family::creation, &first_itself, &fill_forward, &fill_backward};
}

constexpr std::array rows{
    creation<&sized>("aten::zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
                     "bool? pin_memory=None) -> Tensor"),
    creation<&sized>("aten::ones(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
                     "bool? pin_memory=None) -> Tensor"),
    creation<&sized>("aten::rand(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
                     "bool? pin_memory=None) -> Tensor"),
    creation<&sized>("aten::randn(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
                     "bool? pin_memory=None) -> Tensor"),
    unwritten<&sized>("aten::empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
                      "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"),
    creation<&filled>("aten::full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, "
                      "Device? device=None, bool? pin_memory=None) -> Tensor"),
    creation<&like_first>("aten::zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
                          "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"),
    creation<&like_first>("aten::ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
                          "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"),
    creation<&like_first>(
        "aten::full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? "
        "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"),
    creation<&like_first>("aten::rand_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
                          "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"),
    creation<&like_first>("aten::randn_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
                          "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"),
    unwritten<&like_first>("aten::empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
                           "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"),
    creation<&new_sized>("aten::new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
                         "Device? device=None, bool? pin_memory=None) -> Tensor"),
    creation<&new_sized>("aten::new_ones(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
                         "Device? device=None, bool? pin_memory=None) -> Tensor"),
    creation<&new_sized>("aten::new_full(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, "
                         "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    unwritten<&new_sized>("aten::new_empty(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
                          "Device? device=None, bool? pin_memory=None) -> Tensor"),
    creation<&scalar>("aten::scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? "
                      "device=None, bool? pin_memory=None) -> Tensor"),
    creation<&arange_outputs>("aten::arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? "
                              "device=None, bool? pin_memory=None) -> Tensor"),
    creation<&arange_outputs>("aten::arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? "
                              "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    creation<&arange_outputs>("aten::arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? "
                              "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    creation<&linspace_outputs>("aten::linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, "
                                "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    creation<&eye_outputs>("aten::eye(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
                           "bool? pin_memory=None) -> Tensor"),
    creation<&eye_outputs>("aten::eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, Device? "
                           "device=None, bool? pin_memory=None) -> Tensor"),
    fill("aten::fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)"),
    fill("aten::fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)"),
    fill("aten::zero_(Tensor(a!) self) -> Tensor(a!)"),
};

}  // namespace

std::span<const Row> creation_rows() {
    return rows;
}

}  // namespace joulecast::records
