#include <algorithm>
#include <array>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

Dtype asked_dtype(const Operation& operation) {
    if (has_parameter(operation, "other")) return tensor(operation, "other").dtype;
    return dtype_or(operation, first(operation).dtype);
}

bool is_preserved(const Operation& operation) {
    const Value format = argument_or_default<Value>(operation, "memory_format");
    const auto* text = std::get_if<std::string>(&format);
    return text == nullptr || text->ends_with("preserve_format");
}

/// contiguous() copies what is not exactly in the format; to() what does not suggest it.
bool makes_new(const Operation& operation, Dtype dtype) {
    const TensorType& self = first(operation);
    const bool is_to = operation.target.starts_with("aten::to.") || operation.target == "aten::type_as";
    if (!is_to && operation.target != "aten::contiguous") return true;
    if (dtype != self.dtype || (has_parameter(operation, "copy") && flag(operation, "copy"))) return true;
    if (!has_parameter(operation, "memory_format") || is_preserved(operation)) return false;
    const TensorType wanted = in_memory_format(operation, dtype);
    if (is_to) return is_contiguous(wanted) ? suggests_channels_last(self) : !suggests_channels_last(self);
    return wanted.strides != self.strides;
}

Types converted_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const Dtype dtype = asked_dtype(operation);
    // A tensor that already is what is asked for is handed on, gaps and all.
    if (!makes_new(operation, dtype)) return {unmarked(self)};
    if (!has_parameter(operation, "memory_format")) return {like(self, dtype)};
    return {in_memory_format(operation, dtype)};
}

/// to and contiguous hand their input on when nothing changes.
Counts forward_if_changed(const Operation& operation) {
    const TensorType& self = first(operation);
    if (!makes_new(operation, asked_dtype(operation))) return {};
    return {0, 0, distinct_bytes(self), bytes(converted_outputs(operation))};
}

/// The gradient is converted back; a mere change of order hands it on.
Counts conversion_backward(const Operation& operation) {
    const TensorType& self = first(operation);
    const Types output = converted_outputs(operation);
    if (output.front().dtype == self.dtype) return {};
    return {0, 0, bytes(output), gradient_bytes(operation)};
}

Counts copy_into_self(const Operation& operation) {
    return {0, 0, byte_count(tensor(operation, "src")), byte_count(tensor(operation, "self"))};
}

Counts copy_into_self_backward(const Operation& operation) {
    return {0, 0, byte_count(tensor(operation, "self")), gradient_bytes(operation)};
}

Types cat_outputs(const Operation& operation) {
    const auto parts = tensor_list(operation, "tensors");
    const auto is_skipped = [](const TensorType& part) { return part.sizes == Sizes{0}; };
    const auto shaped = std::find_if(parts.begin(), parts.end(), [&](const auto* part) { return !is_skipped(*part); });
    if (parts.empty()) refuse(operation, "there is no tensor");
    const TensorType& model = shaped == parts.end() ? *parts.front() : **shaped;
    const std::size_t dim = dimension_argument(operation, model);
    Sizes sizes = model.sizes;
    sizes[dim] = 0;
    const auto fits = [&](const Sizes& part) {
        if (part.size() != sizes.size()) return false;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            if (i != dim && part[i] != sizes[i]) return false;
        }
        return true;
    };
    bool all_suggest = true;
    for (const TensorType* part : parts) {
        all_suggest = all_suggest && suggests_channels_last(*part);
        if (is_skipped(*part)) continue;
        if (!fits(part->sizes)) refuse(operation, "the tensors do not fit");
        if (__builtin_add_overflow(sizes[dim], part->sizes[dim], &sizes[dim])) refuse(operation, "the sizes overflow");
    }
    return {formatted(promoted(operation, {"tensors"}), std::move(sizes), all_suggest)};
}

Types stack_outputs(const Operation& operation) {
    const auto parts = tensor_list(operation, "tensors");
    if (parts.empty()) refuse(operation, "there is no tensor");
    for (const TensorType* part : parts) {
        if (part->sizes != parts.front()->sizes) refuse(operation, "the tensors do not fit");
    }
    Sizes sizes = parts.front()->sizes;
    const std::size_t dim = dimension(operation, integer(operation, "dim"), sizes.size(), 1);
    sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(dim), 1);
    // It is a cat of the tensors with one more dimension each.
    const bool all_suggest = std::all_of(parts.begin(), parts.end(), [&](const TensorType* part) {
        return suggests_channels_last(viewed(operation, *part, sizes));
    });
    sizes[dim] = static_cast<std::int64_t>(parts.size());
    return {formatted(promoted(operation, {"tensors"}), std::move(sizes), all_suggest)};
}

/// Pairs (before, after) from the last dimension on; negative ones cut off.
Types pad_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const Sizes pad = integers(operation, find_record(operation.target)->parameters[1].name);
    Sizes sizes = self.sizes;
    if (pad.size() % 2 != 0 || pad.size() / 2 > sizes.size()) refuse(operation, "the paddings do not fit");
    for (std::size_t i = 0; i < pad.size(); ++i) {
        std::int64_t& size = sizes[sizes.size() - 1 - i / 2];
        if (__builtin_add_overflow(size, pad[i], &size)) refuse(operation, "the sizes overflow");
    }
    if (std::any_of(sizes.begin(), sizes.end(), [](auto size) { return size < 0; })) {
        refuse(operation, "the paddings cut off more than there is");
    }
    return {formatted(self.dtype, std::move(sizes), suggests_channels_last(self))};
}

Types contiguous_as_first(const Operation& operation) {
    const TensorType& self = first(operation);
    return {make(self.dtype, self.sizes)};
}

Types repeat_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const Sizes repeats = integers(operation, find_record(operation.target)->parameters[1].name);
    Sizes sizes = self.sizes;
    Sizes factors = repeats;
    const bool tiles = operation.target == "aten::tile";
    if (factors.size() < sizes.size() && !tiles) refuse(operation, "there are too few repeats");
    const std::size_t count = std::max(factors.size(), sizes.size());
    factors.insert(factors.begin(), count - factors.size(), 1);
    sizes.insert(sizes.begin(), count - sizes.size(), 1);
    for (std::size_t i = 0; i < count; ++i) {
        if (factors[i] < 0) refuse(operation, "a repeat is negative");
        sizes[i] = checked(operation, sizes[i], factors[i]);
    }
    return {make(self.dtype, std::move(sizes))};
}

Types repeat_interleave_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const auto dim = optional_integer(operation, "dim");
    Sizes sizes = dim ? self.sizes : Sizes{element_count(self)};
    std::int64_t& size = sizes[dim ? dimension_argument(operation, self) : 0];
    const std::int64_t repeats = integer(operation, "repeats");
    if (repeats < 0) refuse(operation, "a repeat is negative");
    size = checked(operation, size, repeats);
    return {make(self.dtype, std::move(sizes))};
}

template <auto Outputs>
constexpr Row copy(std::string_view schema) {
    return {schema, Family::copy, Outputs, &streamed<Outputs>, &gradient_streamed<Outputs>};
}
/// A new tensor with the same values: its gradient is the input's.
constexpr Row duplicate(std::string_view schema) {
    return {schema, Family::copy, &converted_outputs, &streamed<&converted_outputs>, &conversion_backward};
}
constexpr Row conversion(std::string_view schema) {
    return {schema, Family::copy, &converted_outputs, &forward_if_changed, &conversion_backward};
}

constexpr Row into_self(std::string_view schema) {
    return {schema, Family::copy, &first_itself, &copy_into_self, &copy_into_self_backward};
}

constexpr std::array rows{
    conversion("aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)"),
    conversion("aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, "
               "MemoryFormat? memory_format=None) -> Tensor(a)"),
    conversion("aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
               "device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? "
               "memory_format=None) -> Tensor(a)"),
    conversion("aten::to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool "
               "copy=False, MemoryFormat? memory_format=None) -> Tensor(a)"),
    conversion("aten::to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, MemoryFormat? "
               "memory_format=None) -> Tensor(a)"),
    conversion("aten::type_as(Tensor self, Tensor other) -> Tensor"),
    duplicate("aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor"),
    duplicate("aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
              "pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor"),
    duplicate("aten::lift_fresh_copy(Tensor self) -> Tensor"),
    cast(promoted_on_cpu, copy<&cat_outputs>("aten::cat(Tensor[] tensors, int dim=0) -> Tensor")),
    copy<&cat_outputs>("aten::concat(Tensor[] tensors, int dim=0) -> Tensor"),
    cast(promoted_on_cpu, copy<&stack_outputs>("aten::stack(Tensor[] tensors, int dim=0) -> Tensor")),
    copy<&pad_outputs>("aten::pad(Tensor self, SymInt[] pad, str mode=\"constant\", float? value=None) -> Tensor"),
    copy<&pad_outputs>("aten::constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor"),
    cast(f32_on_cpu, copy<&pad_outputs>("aten::reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor")),
    cast(f32_on_cpu, copy<&pad_outputs>("aten::reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor")),
    cast(f32_on_cpu, copy<&pad_outputs>("aten::replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor")),
    cast(f32_on_cpu, copy<&pad_outputs>("aten::replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor")),
    copy<&contiguous_as_first>("aten::roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor"),
    copy<&same_as_first>("aten::flip(Tensor self, int[] dims) -> Tensor"),
    copy<&repeat_outputs>("aten::repeat(Tensor self, SymInt[] repeats) -> Tensor"),
    copy<&repeat_outputs>("aten::tile(Tensor self, SymInt[] dims) -> Tensor"),
    copy<&repeat_interleave_outputs>("aten::repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, "
                                     "SymInt? output_size=None) -> Tensor"),
    into_self("aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)"),
};

}  // namespace

std::span<const Row> copy_rows() {
    return rows;
}

}  // namespace joulecast::records
